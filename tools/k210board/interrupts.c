// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// PLIC (plic.h; SiFive's PLIC: one machine context a hart, at every second place) and CLINT
// (clint.h).
#include "board.h"

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
    const Plic *p = &board.plic;
    const u32 *on = p->enabled[hart];
    bool any = (p->pending[0] & on[0]) | (p->pending[1] & on[1]) | (p->pending[2] & on[2]);
    return any && most_urgent(hart);
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
static int hart_of(u32 context) {
    return context & 1 || context >= 2 * HARTS ? -1 : (int)context / 2;
}

u64 plic_read(u32 o, int size) {
    const Plic *p = &board.plic;
    (void)size;
    if (o < 0x1000) return p->priority[o >> 2 & 127];
    if (o < 0x2000) return o < 0x1010 ? p->pending[(o - 0x1000) >> 2] : 0;
    if (o < 0x200000) {
        int hart = hart_of((o - 0x2000) >> 7);
        u32 word = (o & 0x7f) >> 2;
        return hart >= 0 && word < 4 ? p->enabled[hart][word] : 0;
    }
    int hart = hart_of((o - 0x200000) >> 12);
    if (hart < 0 || (o & 0xfff) > 4) return 0;
    return o & 4 ? claim(hart) : p->threshold[hart];
}

void plic_write(u32 o, u64 value, int size) {
    Plic *p = &board.plic;
    u32 v = (u32)value;
    (void)size;
    if (o < 0x1000) {
        p->priority[o >> 2 & 127] = v;
    } else if (o >= 0x2000 && o < 0x200000) {
        int hart = hart_of((o - 0x2000) >> 7);
        if (hart >= 0 && (o & 0x7f) >> 2 < 4) p->enabled[hart][(o & 0x7f) >> 2] = v;
    } else if (o >= 0x200000) {
        int hart = hart_of((o - 0x200000) >> 12);
        if (hart >= 0 && (o & 0xfff) == 0) p->threshold[hart] = v;
        else if (hart >= 0 && (o & 0xfff) == 4 && v < 128) p->serving[v >> 5] &= ~(1u << (v & 31));
    }
    irq_set(0, false); // sources that are still high become pending again
    yield_harts();
}

static u64 half(u64 value, u32 o, int size) {
    return o & 4 ? value >> 32 : size == 4 ? (u32)value : value;
}

u64 clint_read(u32 o, int size) {
    if (o < 8) return board.msip[o >> 2];
    if (o >= 0x4000 && o < 0x4010) return half(board.mtimecmp[(o - 0x4000) >> 3], o, size);
    return o >= 0xbff8 ? half(now() / CPU_PER_MTIME, o, size) : 0;
}

void clint_write(u32 o, u64 v, int size) {
    if (o < 8) {
        board.msip[o >> 2] = v & 1;
    } else if (o >= 0x4000 && o < 0x4010) {
        u64 *at = &board.mtimecmp[(o - 0x4000) >> 3];
        if (size == 8) *at = v;
        else *at = o & 4 ? (*at & 0xffffffff) | v << 32 : (*at & ~0xffffffffull) | (u32)v;
    }
    yield_harts();
}
