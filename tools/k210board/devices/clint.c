// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// CLINT: the harts' software and timer interrupts (clint.h).
#include "devices.h"

#define NEVER (1ull << 57) // no such time can be reached

enum { MSIP = 0, MTIMECMP = 0x4000, MTIME = 0xbff8 };

static Registers registers[1];

static struct {
    u32 msip[HARTS];
    u64 mtimecmp[HARTS];
} clint;

bool clint_software(int hart) { return clint.msip[hart] & 1; }

bool clint_timer(int hart) { return now() / CPU_PER_MTIME >= clint.mtimecmp[hart]; }

static u64 next(u64 before) {
    for (int i = 0; i < HARTS; i++) {
        u64 at = clint.mtimecmp[i] * CPU_PER_MTIME;
        bool set = clint.mtimecmp[i] < NEVER && at > cycles;
        if (set && at < before)
            before = at;
    }
    return before;
}

static void reset(bool warm) {
    for (int i = 0; i < HARTS; i++)
        clint.mtimecmp[i] = ~0ull >> 1;
}

static bool is_mtimecmp(u32 o) { return o >= MTIMECMP && o < MTIMECMP + 8 * HARTS; }

static u64 read(int unit, u32 o, u64 stored) {
    if (o == MSIP)
        return clint.msip[0] | (u64)clint.msip[1] << 32;
    if (is_mtimecmp(o))
        return clint.mtimecmp[(o - MTIMECMP) / 8];
    return o == MTIME ? now() / CPU_PER_MTIME : 0;
}

static void write(int unit, u32 o, u64 v) {
    for (int i = 0; i < HARTS && o == MSIP; i++)
        clint.msip[i] = v >> 32 * i & 1;
    if (is_mtimecmp(o))
        clint.mtimecmp[(o - MTIMECMP) / 8] = v;
    leave_loop = true;
}

const Device clint_device = {
    .name = "CLINT",
    .base = {0x02000000},
    .size = 0x10000,
    .width = 8,
    .read = read,
    .write = write,
    .reset = reset,
    .next = next,
    .registers = registers,
    .state = &clint,
    .state_size = sizeof clint,
};
