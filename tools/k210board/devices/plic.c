// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// PLIC: interrupts of the devices (plic.h; SiFive's: one machine context a hart, at every second
// place).
#include "devices.h"

enum { PENDING = 0x1000, ENABLES = 0x2000, CONTEXTS = 0x200000, CONTEXT = 0x2000, CLAIM = 4 };

static Registers registers[1];

static struct {
    u64 pending, level, serving; // a bit for each source
    u32 priority[128], enabled[HARTS][2], threshold[HARTS];
} plic;

void irq_set(int irq, bool level) {
    u64 bit = 1ull << irq;
    plic.level = level ? plic.level | bit : plic.level & ~bit;
    plic.pending |= plic.level & ~plic.serving;
    leave_loop = true;
}

u32 irq_wanted(int hart) {
    u32 best = 0, priority = plic.threshold[hart];
    u64 enabled = plic.enabled[hart][0] | (u64)plic.enabled[hart][1] << 32;
    for (u64 left = plic.pending & enabled; left; left &= left - 1) {
        u32 irq = (u32)__builtin_ctzll(left);
        if (plic.priority[irq] > priority) {
            best = irq;
            priority = plic.priority[irq];
        }
    }
    return best;
}

// Where a register that can be written is kept, or null.
static u32 *place(u32 o) {
    for (u32 hart = 0; hart < HARTS; hart++) {
        if (o - ENABLES - 0x100 * hart < 8)
            return &plic.enabled[hart][o / 4 % 2];
        if (o == CONTEXTS + CONTEXT * hart)
            return &plic.threshold[hart];
    }
    return o < PENDING ? &plic.priority[o / 4 % 128] : NULL;
}

// The hart that claims and completes at a register, or NOBODY.
static int claimant(u32 o) {
    for (u32 hart = 0; hart < HARTS; hart++)
        if (o == CONTEXTS + CONTEXT * hart + CLAIM)
            return (int)hart;
    return NOBODY;
}

static u64 read(int unit, u32 o, u64 stored) {
    if (o - PENDING < 8)
        return (u32)(plic.pending >> 8 * (o - PENDING));
    if (claimant(o) == NOBODY)
        return place(o) ? *place(o) : 0;
    u32 irq = irq_wanted(claimant(o));
    plic.pending &= ~(1ull << irq);
    plic.serving |= 1ull << irq;
    return irq;
}

static void write(int unit, u32 o, u64 value) {
    if (place(o))
        *place(o) = (u32)value;
    if (claimant(o) != NOBODY)
        plic.serving &= ~(1ull << (value & 63));
    irq_set(0, false); // sources that are still high become pending again
}

const Device plic_device = {
    .name = "PLIC",
    .base = {0x0c000000},
    .size = 0x4000000,
    .width = 4,
    .read = read,
    .write = write,
    .registers = registers,
    .state = &plic,
    .state_size = sizeof plic,
};
