// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// PLIC (plic.h; SiFive's PLIC: one machine context a hart, at every second place) and CLINT
// (clint.h).
#include "board.h"

enum { PENDING = 0x1000, ENABLES = 0x2000, CONTEXTS = 0x200000 };

void irq_set(int irq, bool level) {
    Plic *p = &board.plic;
    u32 bit = 1u << (irq & 31);
    p->level[irq >> 5] = level ? p->level[irq >> 5] | bit : p->level[irq >> 5] & ~bit;
    for (int i = 0; i < 4; i++) p->pending[i] |= p->level[i] & ~p->serving[i];
}

static u32 most_urgent(int hart) {
    const Plic *p = &board.plic;
    u32 best = 0, priority = p->threshold[hart];
    for (u32 word = 0; word < 3; word++)
        for (u32 left = p->pending[word] & p->enabled[hart][word]; left; left &= left - 1) {
            u32 irq = word * 32 + (u32)__builtin_ctz(left);
            if (p->priority[irq] > priority) {
                priority = p->priority[irq];
                best = irq;
            }
        }
    return best;
}

bool irq_wanted(int hart) {
    const u32 *p = board.plic.pending, *on = board.plic.enabled[hart];
    return ((p[0] & on[0]) | (p[1] & on[1]) | (p[2] & on[2])) && most_urgent(hart);
}

static u32 claim(int hart) {
    u32 irq = most_urgent(hart);
    if (irq) {
        board.plic.pending[irq >> 5] &= ~(1u << (irq & 31));
        board.plic.serving[irq >> 5] |= 1u << (irq & 31);
    }
    return irq;
}

// The hart whose machine context a register belongs to, or -1: contexts are machine, supervisor,
// machine, supervisor.
static int hart_of(u32 o) {
    u32 context = o >= CONTEXTS ? (o - CONTEXTS) >> 12 : o >= ENABLES ? (o - ENABLES) >> 7 : 1;
    return context & 1 || context >= 2 * HARTS ? -1 : (int)context / 2;
}

// Where a register that can be written is kept, or null.
static u32 *place(u32 o) {
    int hart = hart_of(o);
    if (o < PENDING) return &board.plic.priority[o / 4 % 128];
    if (hart < 0) return NULL;
    if (o < CONTEXTS) return o % 128 < 16 ? &board.plic.enabled[hart][o % 128 / 4] : NULL;
    return o % 0x1000 == 0 ? &board.plic.threshold[hart] : NULL;
}

u64 plic_read(int device, u32 o, u64 stored) {
    if (o >= PENDING && o < PENDING + 16) return board.plic.pending[(o - PENDING) / 4];
    if (o >= CONTEXTS && o % 0x1000 == 4 && hart_of(o) >= 0) return claim(hart_of(o));
    return place(o) ? *place(o) : 0;
}

void plic_write(int device, u32 o, u64 value) {
    u32 v = (u32)value;
    if (place(o)) *place(o) = v;
    else if (o >= CONTEXTS && o % 0x1000 == 4 && hart_of(o) >= 0 && v < 128)
        board.plic.serving[v >> 5] &= ~(1u << (v & 31));
    irq_set(0, false); // sources that are still high become pending again
    yield_harts();
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
