// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Two RV64GC harts: the cache of decoded instructions, the two run loops, and the test whether a
// hart only spins.
#include "board.h"
#include "float.h"
#include "ops.h"
#include "trace.h"
#include <stdlib.h>

enum {
    GUARD = 4096
}; // halfwords on both sides of the RAM that a branch can reach: never executable

s64 done_now;

void cpu_start(void) {
    Decoded *all = calloc(RAM_SIZE / 2 + 2 * GUARD, sizeof(Decoded));
    if (!all) abort();
    decoded = all + GUARD;
    for (int i = 0; i < GUARD; i++) all[i].op = all[RAM_SIZE / 2 + GUARD + i].op = OP_ILLEGAL;
}

void cpu_forget(void) { memset(decoded, 0, RAM_SIZE / 2 * sizeof(Decoded)); }

#define RUN run_plain
#define WATCH 0
#include "cpu_run.h"
#undef RUN
#undef WATCH
#define RUN run_watched
#define WATCH 1
#include "cpu_run.h"

s64 hart_run(Hart *h, s64 count) { return watching ? run_watched(h, count) : run_plain(h, count); }

s64 hart_step(Hart *h) { return hart_run(h, -1); }

static bool leaves_no_mark(u16 op) {
    bool stores = (op >= OP_SB && op <= OP_SD) || op == OP_FSW || op == OP_FSD;
    bool system = op >= OP_FENCEI && op <= OP_CSRRCI;
    bool atomic = op >= OP_LRW && op <= OP_AMOMAXUD;
    return !stores && !system && !atomic && op != OP_ILLEGAL && op != OP_HOOK;
}

static bool is_ram(u64 address) {
    return address >> 23 == RAM_CACHED >> 23 || address >> 23 == RAM_UNCACHED >> 23;
}

// Runs at most `most` instructions; true when the hart is back where it was with the same registers
// and has stored nothing: then only an interrupt or the other hart can change its course.
bool hart_spins(Hart *h, int most, s64 *used) {
    u64 pc = h->pc, x[32];
    memcpy(x, h->x, sizeof x);
    *used = 0;
    for (int i = 0; i < most; i++) {
        u64 offset = h->pc - RAM_CACHED;
        if (offset >= RAM_SIZE) return false;
        Decoded *d = &decoded[offset >> 1];
        if (d->op == OP_DECODE) decode(d);
        if (!leaves_no_mark(d->op)) return false;
        if (d->op >= OP_LB && d->op <= OP_LWU && !is_ram(h->x[d->rs1] + (u64)(s64)d->imm))
            return false;
        hart_step(h);
        ++*used;
        if (h->pc == pc && !memcmp(x, h->x, sizeof x)) return true;
    }
    return false;
}
