// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// SYSCTL (sysctl.h): clocks and reset.
#include "devices.h"

enum { PLL0 = 0x08, SELECT = 0x20, SOFT_RESET = 0x30, THRESHOLD = 0x40, RESET_STATUS = 0x60 };

enum { CRYSTAL = 26000000, ALL_PLLS_LOCKED = 0x30303, BY_SOFTWARE = 8 };

static Registers registers[1];
bool reset_wanted;

static u64 pll0(void) {
    u32 s = REG(registers[0], PLL0);
    return (u64)CRYSTAL * ((s >> 4 & 63) + 1) / (((s & 15) + 1) * ((s >> 10 & 15) + 1));
}

u64 cpu_hertz(void) {
    u32 s = REG(registers[0], SELECT);
    return s & 1 ? pll0() / (2u << (s >> 1 & 3)) : CRYSTAL;
}

u64 timer_hertz(int timer) {
    u64 source = REG(registers[0], SELECT) >> (13 + timer) & 1 ? pll0() / 2 : CRYSTAL;
    return source / (((REG(registers[0], THRESHOLD) >> 8 * timer & 0xff) + 1) * 2);
}

static void write(int unit, u32 o, u64 v) {
    if (o == SOFT_RESET && v & 1) {
        reset_wanted = true;
        leave_loop = true;
    }
    if (o == RESET_STATUS && v & 1)
        REG(registers[0], RESET_STATUS) = 0; // cleared
}

// As the boot ROM leaves them: PLL0 near 793 MHz, the CPU at half of it.
static void reset(bool warm) {
    static const u32 FIRST[] = {
        0xa5a5a5a5,
        CRYSTAL,
        60 << 4 | 1 << 10,
        59 << 4 | 3 << 10,
        59 << 4 | 3 << 10,
        0,
        ALL_PLLS_LOCKED,
        0,
        1,
        0,
        0x3f,
        0x3fffffff,
    };
    for (u32 i = 0; i < sizeof FIRST / 4; i++)
        REG(registers[0], 4 * i) = FIRST[i];
    REG(registers[0], RESET_STATUS) = warm ? BY_SOFTWARE : 0;
}

const Device sysctl_device = {
    .name = "SYSCTL",
    .base = {0x50440000},
    .size = 0x10000,
    .width = 4,
    .write = write,
    .reset = reset,
    .registers = registers,
};
