// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Two RV64GC harts: the cache of decoded instructions, the two run loops, and the test whether a
// hart only spins.
#include "board.h"
#include "float.h"
#include "ops.h"
#include "trace.h"
#include <stdlib.h>

enum { GUARD = 4096 }; // halfwords beyond each end of the RAM that a branch reaches: not executable

s64 done_now;

void cpu_start(void) {
    Decoded *all = calloc(RAM_SIZE / 2 + 2 * GUARD, sizeof(Decoded));
    if (!all) abort();
    decoded = all + GUARD;
    for (int i = 0; i < GUARD; i++) all[i].op = all[RAM_SIZE / 2 + GUARD + i].op = OP_ILLEGAL;
}

void cpu_forget(void) { memset(decoded, 0, RAM_SIZE / 2 * sizeof(Decoded)); }

static void hart_step(Hart *h);

// An instruction that does not round as the hart does.
static void step_rounded(Hart *h, Decoded *d) {
    u64 before = csr_read(h, FRM);
    d->op = (u16)d->imm;
    csr_write(h, FRM, d->rm);
    hart_step(h);
    csr_write(h, FRM, before);
    d->op = OP_ROUNDED;
    h->instructions--; // it is counted by the loop that it came from
}

#define RUN run_plain
#define WATCH 0
#include "cpu_run.h"
#undef RUN
#undef WATCH
#define RUN run_watched
#define WATCH 1
#include "cpu_run.h"

static void hart_step(Hart *h) { watching ? run_watched(h, -1) : run_plain(h, -1); }

s64 hart_run(Hart *h, s64 count) {
    float_own(h);
    return watching ? run_watched(h, count) : run_plain(h, count);
}

// Runs at most `most` instructions; true when the hart is back where it was with the same registers
// and has stored nothing: then only an interrupt or the other hart can change its course.
bool hart_spins(Hart *h, int most, s64 *used) {
    u64 pc = h->pc, x[32];
    memcpy(x, h->x, sizeof x);
    for (*used = 0; *used < most;) {
        u64 offset = h->pc - RAM_CACHED;
        if (offset >= RAM_SIZE) return false;
        Decoded *d = &decoded[offset >> 1];
        if (d->op == OP_DECODE) decode(d);
        if (d->op < OP_LB || d->op > OP_FENCE) return false;
        if (d->op <= OP_LWU && !bus_memory(h->x[d->rs1] + (u64)(s64)d->imm, 1)) return false;
        hart_step(h);
        ++*used;
        if (h->pc == pc && !memcmp(x, h->x, sizeof x)) return true;
    }
    return false;
}
