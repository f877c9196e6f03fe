// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Watches the size in front of each chunk of the system heap, the top one's too: it is the
// allocator's own (newlib, mallocr.c); and that no task's stack grows over one.
#include "board.h"

enum { WORD = 8, HEADS = 1 << 14, LEAST = 32, FLAGS = 7, FRAME = 2048 };

static u64 first, top_at; // chunk; address of the word that points to the top chunk
static u32 head[HEADS], heads;
static u8 is_head[RAM_SIZE / WORD]; // of each word
static u64 stack[HARTS];            // pointer at the last store

static u64 word(u64 offset) {
    u64 v;
    return memcpy(&v, ram + offset, WORD), v;
}

static bool plausible(u64 size) { return size >= LEAST && size % 16 == 0 && size < RAM_SIZE; }

// Anew: after a call of the allocator other chunks are there.
void guard_look(void) {
    while (heads)
        is_head[head[--heads] / WORD] = 0;
    if (!host.guarded)
        return;
    u64 top = word(top_at - RAM_CACHED) - RAM_CACHED, size = LEAST;
    for (u64 at = first - RAM_CACHED; at <= top && top < RAM_SIZE - 16; at += size) {
        if (heads == HEADS || !plausible(size))
            return;
        is_head[(head[heads++] = (u32)(at + WORD)) / WORD] = 1;
        size = word(at + WORD) & ~(u64)FLAGS;
    }
}

void guard_start(u64 base, u64 top) {
    first = base, top_at = top;
    host.guarded = base && bus_memory(base, WORD) && bus_memory(top, WORD);
    guard_look();
}

// Whether the chunks that begin at a head of that size end where the one that was there ended:
// what divides or joins chunks is an allocator that is not known.
static bool leads(u64 at, u64 size, u64 end) {
    for (at += size; at < end && plausible(size); at += size)
        size = word(at) & ~(u64)FLAGS;
    return plausible(size) && at < RAM_SIZE && (at == end || is_head[at / WORD]);
}

// A task's stack is a chunk: where that ends the stack's pointer comes by a head in a short step;
// a switch of tasks goes further. That head, or 0.
static u64 passed(const Hart *h) {
    u64 was = stack[h->id], at = stack[h->id] = (h->x[2] - RAM_CACHED) & ~(u64)(WORD - 1);
    for (; at < was && was < RAM_SIZE && was - at < FRAME; at += WORD)
        if (is_head[at / WORD])
            return at;
    return 0;
}

// Before a store into RAM, by a hart or by DMA. The first one that counts is told.
void guard_store(const Hart *by, u64 offset, u64 value, int size) {
    u64 at = offset & ~(u64)(WORD - 1), in = offset - at, before = word(at), after = before;
    u64 sizes = ~(u64)FLAGS, end = at + (before & sizes), over = by ? passed(by) : 0;
    const Hart *h = by ? by : board.hart; // which asked for the transfer
    if (!over && !is_head[at / WORD])
        return;
    memcpy((u8 *)&after + in, &value, in + (u64)size > WORD ? WORD - in : (u64)size);
    if (!over && (after == before || trace_allocates(h)))
        return;
    if (!over && !((before ^ after) & FLAGS) && leads(at, after & sizes, end))
        return;
    host.guarded = false;
    trace_damaged(h, RAM_CACHED + (over ? over : at), over ? h->x[2] : after);
}
