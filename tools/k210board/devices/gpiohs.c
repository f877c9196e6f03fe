// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// GPIOHS (gpiohs.h). Nothing is wired: inputs read 1, outputs what was written.
#include "devices.h"

enum { INPUT = 0, OUTPUT_ENABLE = 8, OUTPUT = 12 };

static Registers registers[1];

u32 gpiohs_outputs(void) { return REG(registers[0], OUTPUT); }

static u64 read(int unit, u32 o, u64 stored) {
    u32 outputs = REG(registers[0], OUTPUT_ENABLE);
    return o == INPUT ? ~outputs | (outputs & gpiohs_outputs()) : stored;
}

const Device gpiohs_device = {
    .name = "GPIOHS",
    .base = {0x38001000},
    .size = 0x1000,
    .width = 4,
    .read = read,
    .registers = registers,
};
