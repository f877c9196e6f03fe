// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// GPIO, GPIOHS and FPIOA (gpio.h, gpiohs.h, fpioa.h). Nothing is wired: inputs read 1, outputs what
// was written.
#include "board.h"

enum { GPIO_OUT = 0, GPIO_DIRECTION = 1, GPIO_IN = 0x50 };
enum { GPIOHS_IN = 0, GPIOHS_OUTPUT_ENABLE = 2, GPIOHS_OUT = 3 };

u64 gpio_read(u32 o, int size) {
    (void)size;
    u32 out = board.gpio[GPIO_DIRECTION] & 0xff;
    if ((o & 0xff) == GPIO_IN) return (~out & 0xff) | (out & board.gpio[GPIO_OUT]);
    return board.gpio[(o & 0xff) / 4];
}

void gpio_write(u32 o, u64 v, int size) {
    (void)size;
    board.gpio[(o & 0xff) / 4] = (u32)v;
}

u64 gpiohs_read(u32 o, int size) {
    (void)size;
    u32 out = board.gpiohs[GPIOHS_OUTPUT_ENABLE];
    if (o / 4 == GPIOHS_IN) return ~out | (out & board.gpiohs[GPIOHS_OUT]);
    return o < 256 ? board.gpiohs[o / 4] : 0;
}

void gpiohs_write(u32 o, u64 v, int size) {
    (void)size;
    if (o < 256) board.gpiohs[o / 4] = (u32)v;
}

u64 fpioa_read(u32 o, int size) {
    (void)size;
    return board.fpioa[(o & 0x3ff) / 4];
}

void fpioa_write(u32 o, u64 v, int size) {
    (void)size;
    board.fpioa[(o & 0x3ff) / 4] = (u32)v;
}
