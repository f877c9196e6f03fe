// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The display on SPI0: an ST7789 as far as pictures need it (its datasheet: CASET, RASET, RAMWR).
// Which pin tells commands from data is not known beforehand: it is the one output that was low
// when a lone 0x2C was sent and is high when its pixels follow.
#include "devices.h"

enum { CASET = 0x2a, RASET = 0x2b, RAMWR = 0x2c };

enum { LEFT, RIGHT, TOP, BOTTOM }; // of the box, inclusive

static struct {
    u8 command;
    u8 half;        // of a pixel
    int byte;       // of its arguments
    u16 box[4];     // that is drawn into
    u16 x, y;       // place of the next pixel
    u32 dc;         // bit of the GPIOHS output that tells data from commands; 0: not known yet
    u32 outputs;    // as they were at the last transfer
    bool was_write; // the last transfer was RAMWR
    bool lone;      // this one is a single frame
    LcdDrawn drawn;
    u16 pixel[LCD_H][LCD_W];
} lcd;

LcdDrawn lcd_drawn(void) { return lcd.drawn; }

u16 *lcd_pixels(void) { return lcd.pixel[0]; }

static void put_pixel(u16 v) {
    if (lcd.x < LCD_W && lcd.y < LCD_H) {
        lcd.pixel[lcd.y][lcd.x] = v;
        if (lcd.x >= lcd.drawn.right)
            lcd.drawn.right = lcd.x + 1;
        if (lcd.y >= lcd.drawn.bottom)
            lcd.drawn.bottom = lcd.y + 1;
        lcd.drawn.pixels++;
    }
    if (lcd.x++ >= lcd.box[RIGHT]) {
        lcd.x = lcd.box[LEFT];
        lcd.y = lcd.y >= lcd.box[BOTTOM] ? lcd.box[TOP] : lcd.y + 1;
    }
}

static void data(u8 b) {
    int n = lcd.byte++;
    if ((lcd.command == CASET || lcd.command == RASET) && n < 4) {
        u16 *to = &lcd.box[(lcd.command == RASET ? TOP : LEFT) + n / 2];
        *to = (u16)(*to << 8 | b);
    } else if (lcd.command == RAMWR) {
        if (n & 1)
            put_pixel((u16)(lcd.half << 8 | b));
        lcd.half = b;
    }
}

static void command(u8 number) {
    lcd.command = number;
    lcd.byte = 0;
    lcd.was_write = number == RAMWR;
    if (lcd.was_write) {
        lcd.x = lcd.box[LEFT];
        lcd.y = lcd.box[TOP];
    }
}

// A transfer of so many frames begins.
void lcd_transfer(u32 frames) {
    u32 outputs = gpiohs_outputs(), rose = outputs & ~lcd.outputs;
    bool one_rose = rose && !(rose & (rose - 1));
    if (!lcd.dc && lcd.was_write && frames && one_rose)
        lcd.dc = rose;
    lcd.outputs = outputs;
    lcd.lone = frames == 1;
    lcd.was_write = false;
}

void lcd_frame(u32 value, int bits) {
    if (lcd.lone && bits == 8 && !(lcd.outputs & lcd.dc)) {
        command((u8)value);
        return;
    }
    for (int at = bits - 8; at >= 0; at -= 8)
        data((u8)(value >> at));
}

const Device lcd_device = {
    .name = "ST7789",
    .state = &lcd,
    .state_size = sizeof lcd,
};
