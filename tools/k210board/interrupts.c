// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// PLIC (plic.h; SiFive's PLIC: one machine context a hart, at every second place) and CLINT
// (clint.h).
#include "board.h"

enum { PENDING = 0x1000, ENABLES = 0x2000, CONTEXTS = 0x200000 };

void irq_set(int irq, bool level) {
    Plic *p = &board.plic;
    p->level = level ? p->level | 1ull << irq : p->level & ~(1ull << irq);
    p->pending |= p->level & ~p->serving;
    yield_harts();
}

// The most urgent source that the hart is asked to serve, or 0.
u32 irq_wanted(int hart) {
    const Plic *p = &board.plic;
    u32 best = 0, priority = p->threshold[hart];
    u64 enabled = p->enabled[hart][0] | (u64)p->enabled[hart][1] << 32;
    for (u64 left = p->pending & enabled; left; left &= left - 1) {
        u32 irq = (u32)__builtin_ctzll(left);
        best = p->priority[irq] > priority ? irq : best;
        priority = p->priority[best] > priority ? p->priority[best] : priority;
    }
    return best;
}

static u32 claim(int hart) {
    u32 irq = irq_wanted(hart);
    board.plic.pending &= ~(1ull << irq);
    board.plic.serving |= 1ull << irq;
    return irq;
}

// Where a register that can be written is kept, or null.
static u32 *place(u32 o) {
    for (u32 hart = 0; hart < HARTS; hart++) {
        if (o - ENABLES - 0x100 * hart < 8) return &board.plic.enabled[hart][o / 4 % 2];
        if (o == CONTEXTS + 0x2000 * hart) return &board.plic.threshold[hart];
    }
    return o < PENDING ? &board.plic.priority[o / 4 % 128] : NULL;
}

// The hart that claims and completes at a register, or -1.
static int claimant(u32 o) { return o == CONTEXTS + 4 ? 0 : o == CONTEXTS + 0x2004 ? 1 : -1; }

u64 plic_read(int device, u32 o, u64 stored) {
    if (o - PENDING < 8) return (u32)(board.plic.pending >> 8 * (o - PENDING));
    if (claimant(o) >= 0) return claim(claimant(o));
    return place(o) ? *place(o) : 0;
}

void plic_write(int device, u32 o, u64 value) {
    if (place(o)) *place(o) = (u32)value;
    if (claimant(o) >= 0) board.plic.serving &= ~(1ull << (value & 63));
    irq_set(0, false); // sources that are still high become pending again
}

enum { MTIMECMP = 0x4000, MTIME = 0xbff8 };

u64 clint_read(int device, u32 o, u64 stored) {
    if (o == 0) return board.msip[0] | (u64)board.msip[1] << 32;
    if (o >= MTIMECMP && o < MTIMECMP + 8 * HARTS) return board.mtimecmp[(o - MTIMECMP) / 8];
    return o == MTIME ? now() / CPU_PER_MTIME : 0;
}

void clint_write(int device, u32 o, u64 v) {
    for (int i = 0; i < HARTS && o == 0; i++) board.msip[i] = v >> 32 * i & 1;
    if (o >= MTIMECMP && o < MTIMECMP + 8 * HARTS) board.mtimecmp[(o - MTIMECMP) / 8] = v;
    yield_harts();
}
