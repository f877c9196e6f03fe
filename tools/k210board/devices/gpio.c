// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// GPIO (gpio.h). Nothing is wired: inputs read 1, outputs what was written.
#include "devices.h"

enum { OUTPUT = 0x00, DIRECTION = 0x04, INPUT = 0x50 };

static Registers registers[1];

static u64 read(int unit, u32 o, u64 stored) {
    u32 outputs = REG(registers[0], DIRECTION) & 0xff;
    return o == INPUT ? (~outputs & 0xff) | (outputs & REG(registers[0], OUTPUT)) : stored;
}

const Device gpio_device = {
    .name = "GPIO",
    .base = {0x50200000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .registers = registers,
};
