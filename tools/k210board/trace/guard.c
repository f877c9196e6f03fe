// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Watches the size in front of each chunk of the system heap, the top one's too: it is the
// allocator's own (newlib, mallocr.c); and that no task's stack grows over one.
#include "trace.h"

enum { WORD = 8, HEADS = 1 << 14, LEAST = 32, FLAGS = 7, FRAME_SIZE = 2048 };

#define SIZE_BITS (~(u64)FLAGS)

static u64 first, top_at; // chunk; address of the word that points to the top chunk
static u32 head[HEADS], heads;
static u8 is_head[RAM_SIZE / WORD]; // of each word
static u64 stack[HARTS];            // pointer at the last store

static u64 word(u64 offset) {
    u64 v;
    memcpy(&v, ram + offset, WORD);
    return v;
}

static bool plausible(u64 size) { return size >= LEAST && size % 16 == 0 && size < RAM_SIZE; }

static void add_head(u64 at) {
    head[heads++] = (u32)at;
    is_head[at / WORD] = 1;
}

// Anew: after a call of the allocator there are other chunks.
void guard_look(void) {
    while (heads)
        is_head[head[--heads] / WORD] = 0;
    if (!watched.all)
        return;
    u64 top = word(top_at - RAM_CACHED) - RAM_CACHED, size = LEAST;
    for (u64 at = first - RAM_CACHED; at <= top && top < RAM_SIZE - 16; at += size) {
        if (heads == HEADS || !plausible(size))
            return;
        add_head(at + WORD);
        size = word(at + WORD) & SIZE_BITS;
    }
}

void guard_start(u64 base, u64 top) {
    first = base;
    top_at = top;
    watched.all = base && ram_at(base, WORD) && ram_at(top, WORD);
    guard_look();
}

// Whether the chunks that begin at a head of that size end where the one that was there ended:
// what divides or joins chunks is an allocator that is not known.
static bool leads(u64 at, u64 size, u64 end) {
    for (at += size; at < end && plausible(size); at += size)
        size = word(at) & SIZE_BITS;
    return plausible(size) && at < RAM_SIZE && (at == end || is_head[at / WORD]);
}

// A task's stack is a chunk: where that ends the stack's pointer comes by a head in a short step;
// a switch of tasks goes further. That head, or 0.
static u64 passed(const Hart *h) {
    u64 was = stack[h->id], at = (h->x[2] - RAM_CACHED) & ~(u64)(WORD - 1);
    stack[h->id] = at;
    for (; at < was && was < RAM_SIZE && was - at < FRAME_SIZE; at += WORD)
        if (is_head[at / WORD])
            return at;
    return 0;
}

static void damaged(const Hart *h, u64 at, u64 value) {
    watched.all = false;
    events_add(DAMAGED, site_of(h), RAM_CACHED + at, value, h->pc);
}

// What the word at `at` will be after the store.
static u64 word_after(u64 at, u64 offset, u64 value, int size) {
    u64 in = offset - at, after = word(at);
    memcpy((u8 *)&after + in, &value, in + (u64)size > WORD ? WORD - in : (u64)size);
    return after;
}

// Whether a store into a head keeps the chain of chunks whole.
static bool keeps_chunks(u64 at, u64 before, u64 after) {
    u64 end = at + (before & SIZE_BITS);
    return !((before ^ after) & FLAGS) && leads(at, after & SIZE_BITS, end);
}

// Before a store into RAM, by a hart or, null, by DMA. Only the first damage is an event.
void guard_store(const Hart *by, u64 offset, u64 value, int size) {
    const Hart *h = by ? by : &harts[0]; // which ordered the transfer
    u64 at = offset & ~(u64)(WORD - 1), over = by ? passed(by) : 0;
    if (over) {
        damaged(h, over, h->x[2]);
        return;
    }
    if (!is_head[at / WORD])
        return;
    u64 before = word(at), after = word_after(at, offset, value, size);
    if (after != before && !calls_in_allocator(h) && !keeps_chunks(at, before, after))
        damaged(h, at, after);
}
