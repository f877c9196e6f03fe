// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The display on SPI0: an ST7789 as far as pictures need it (its datasheet: CASET, RASET, RAMWR).
// Which pin tells commands from data is not known beforehand: it is the one output that was low
// when a lone 0x2C was sent and is high when its pixels follow.
#include "board.h"

enum { CASET = 0x2a, RASET = 0x2b, RAMWR = 0x2c, GPIOHS_OUT = 3 };

static void put_pixel(u16 v) {
    Lcd *l = &board.lcd;
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

static void data(u8 b) {
    Lcd *l = &board.lcd;
    int n = l->byte++;
    if ((l->command == CASET || l->command == RASET) && n < 4) {
        u16 *to = &l->box[(l->command == RASET ? 2 : 0) + n / 2];
        *to = (u16)(*to << 8 | b);
    } else if (l->command == RAMWR) {
        if (n & 1) put_pixel((u16)(l->half << 8 | b));
        l->half = b;
    }
}

static void command(u8 b) {
    Lcd *l = &board.lcd;
    l->command = b;
    l->byte = 0;
    if (b == RAMWR) {
        l->x = l->box[0];
        l->y = l->box[2];
    }
}

// A transfer of so many frames begins.
void lcd_transfer(u32 frames) {
    Lcd *l = &board.lcd;
    u32 outputs = board.gpiohs[GPIOHS_OUT], rose = outputs & ~l->outputs;
    if (!l->dc && l->was_write && frames && rose && !(rose & (rose - 1))) l->dc = rose;
    l->outputs = outputs;
    l->lone = frames == 1;
    l->was_write = false;
}

void lcd_frame(u32 value, int bits) {
    Lcd *l = &board.lcd;
    if (l->lone && bits == 8 && !(l->outputs & l->dc)) {
        command((u8)value);
        l->was_write = l->command == RAMWR;
        return;
    }
    for (int at = bits - 8; at >= 0; at -= 8) data((u8)(value >> at));
}

// As a PPM file; false when it cannot be written.
bool lcd_save(const char *path) {
    Lcd *l = &board.lcd;
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    fprintf(f, "P6\n%d %d\n255\n", l->right, l->bottom);
    for (int y = 0; y < l->bottom; y++)
        for (int x = 0; x < l->right; x++) {
            u16 v = l->pixel[y][x];
            const u8 rgb[3] = {(u8)((v >> 11) * 255 / 31), (u8)((v >> 5 & 63) * 255 / 63),
                               (u8)((v & 31) * 255 / 31)};
            fwrite(rgb, 1, 3, f);
        }
    return fclose(f) == 0;
}
