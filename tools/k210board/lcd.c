// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The display on SPI0: an ST7789 as far as pictures need it (its datasheet: CASET, RASET, RAMWR).
// Which pin tells commands from data is not known beforehand: it is the one output that was low
// when a lone 0x2C was sent and is high when its pixels follow.
#include "board.h"

enum { CASET = 0x2a, RASET = 0x2b, RAMWR = 0x2c, GPIOHS_OUT = 12 };
static void put_pixel(Lcd *l, u16 v) {
    if (l->x < LCD_W && l->y < LCD_H) {
        l->pixel[l->y][l->x] = v;
        l->right = l->x >= l->right ? l->x + 1 : l->right;
        l->bottom = l->y >= l->bottom ? l->y + 1 : l->bottom;
        l->pixels++;
    }
    if (l->x++ >= l->box[1]) {
        l->x = l->box[0];
        l->y = l->y >= l->box[3] ? l->box[2] : l->y + 1;
    }
}

static void data(Lcd *l, u8 b) {
    int n = l->byte++;
    if ((l->command == CASET || l->command == RASET) && n < 4) {
        u16 *to = &l->box[(l->command == RASET ? 2 : 0) + n / 2];
        *to = (u16)(*to << 8 | b);
    } else if (l->command == RAMWR) {
        if (n & 1) put_pixel(l, (u16)(l->half << 8 | b));
        l->half = b;
    }
}

// A transfer of so many frames begins.
void lcd_transfer(u32 frames) {
    Lcd *l = &board.lcd;
    u32 outputs = REG(GPIOHS, GPIOHS_OUT), rose = outputs & ~l->outputs;
    if (!l->dc && l->was_write && frames && rose && !(rose & (rose - 1))) l->dc = rose;
    l->outputs = outputs;
    l->lone = frames == 1;
    l->was_write = false;
}

void lcd_frame(u32 value, int bits) {
    Lcd *l = &board.lcd;
    if (!l->lone || bits != 8 || l->outputs & l->dc) {
        for (int at = bits - 8; at >= 0; at -= 8) data(l, (u8)(value >> at));
        return;
    }
    l->command = (u8)value;
    l->byte = 0;
    l->was_write = l->command == RAMWR;
    if (l->was_write) {
        l->x = l->box[0];
        l->y = l->box[2];
    }
}

// Width, height and the pixels, 16 bits each; false when it cannot be written.
bool lcd_save(const char *path) {
    const Lcd *l = &board.lcd;
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    fwrite((u16[]){l->right, l->bottom}, 2, 2, f);
    for (int y = 0; y < l->bottom; y++) fwrite(l->pixel[y], 2, l->right, f);
    return fclose(f) == 0;
}
