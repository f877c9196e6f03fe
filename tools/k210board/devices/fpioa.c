// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// FPIOA: which function is at which pin (fpioa.h).
#include "devices.h"

static Registers registers[1];

u32 fpioa_function(u32 pin) { return REG(registers[0], 4 * pin) & 0xff; }

const Device fpioa_device = {
    .name = "FPIOA",
    .base = {0x502b0000},
    .size = 0x10000,
    .width = 4,
    .registers = registers,
};
