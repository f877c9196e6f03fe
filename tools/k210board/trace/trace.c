// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The profiler's orders, its breakpoints, and stores into the GC's allocation table. Source:
// py/gc.c of MicroPython 1.11, newlib's mallocr.c.
#include "trace.h"

enum { LONGEST_RUN = 512 };

static struct {
    u64 top_at; // address of the word that points to the allocator's top chunk
    u32 inputs; // calls of input(); a new trace leaves it
} state;

void trace_parts(AddPart *add) {
    events_parts(add);
    calls_parts(add);
    add(&state, sizeof state);
}

u32 trace_inputs(void) { return state.inputs; }

// Where the top chunk ends.
static u64 arena_end(void) {
    u64 top = state.top_at ? bus_word(state.top_at) : 0;
    return top ? top + (bus_word(top + 8) & ~7ull) : 0;
}

// --- breakpoints ---
bool trace_hook_at(u64 pc, u8 kind) {
    if (kind == RETURNS)
        return calls_hook_return(pc);
    u8 *at = hart_breakpoint(pc);
    if (at)
        *at = (*at & RETURNS) | kind;
    return at;
}

static void left_allocator(const Hart *h, Call call) {
    u64 result = h->x[10];
    u64 size = result ? bus_word(result - 8) & ~7ull : 0; // of the chunk
    u64 asked = call.kind == MALLOC ? call.a : call.b | call.a << 32;
    live_allocated(h, 0, call.kind != FREE && result);
    guard_look();
    if (call.kind == FREE)
        events_add(FREE, call.site, call.a, 0, arena_end());
    else
        events_add(call.kind, call.site, result, asked, arena_end() | size << 32);
}

static void returned(const Hart *h, u64 pc) {
    Call call;
    calls_leave_bytecode(h);
    if (calls_leave_allocator(h, pc, &call))
        left_allocator(h, call);
    if (calls_leave_collector(h, pc))
        live_collected(h, pc);
}

static void called(const Hart *h, const Decoded *d, u32 kind) {
    switch (kind) {
    case FRAME:
        calls_enter_bytecode(h);
        break;
    case ASK:
        state.inputs++;
        break;
    case JUMP:
        live_jump(h, h->x[d->rs1]);
        break;
    case THROWN:
        calls_thrown(h);
        break;
    default:
        if (kind >= MARK)
            events_add(MARK, site_of(h), kind % MARK, 0, 0);
        else
            calls_enter_allocator(h, kind);
    }
    if (kind >= COLLECT)
        calls_enter_collector(h);
}

static void at_breakpoint(const Hart *h, const Decoded *d, u64 pc) {
    u32 here = breakpoint[d - decoded], kind = here & ~(u32)RETURNS;
    if (here & RETURNS)
        returned(h, pc);
    if (kind)
        called(h, d, kind);
}

// --- the GC's allocation table: two bits a block, 0 free, 1 head, 2 tail, 3 marked head ---
static u32 kind_of_change(u32 after) {
    if (!after)
        return GC_FREE;
    return after == 1 ? GC_NEW : GC_GROW;
}

static void block_changed(const Hart *h, u64 block, u32 before, u32 after) {
    if (before && after)
        return; // marked or unmarked
    u32 kind = kind_of_change(after);
    if (after)
        live_allocated(h, 1, kind == GC_NEW);
    const Event *run = events_run();
    bool follows = run->b && block == run->a + run->b;
    bool frees_on = kind == GC_FREE && run->kind == GC_FREE;
    bool grows_on = kind == GC_GROW && run->kind != GC_FREE;
    if (follows && (frees_on || grows_on)) {
        events_grow_run(false);
        return;
    }
    u32 site = kind == GC_FREE ? 0 : site_of(h);
    if (kind == GC_NEW)
        calls_allocate(h, site);
    bool another = kind == GC_NEW && run->kind == GC_NEW && run->site == site;
    if (follows && another && run->b < LONGEST_RUN)
        events_grow_run(true);
    else
        events_begin_run(kind, site, block);
}

// Before a store into the RAM.
static void table_store(const Hart *h, u64 offset, u64 value, int size) {
    u64 at = offset - watched.from; // in the table
    for (int i = 0; i < size; i++) {
        u32 before = ram[offset + (u64)i], after = value >> 8 * i & 0xff;
        if (at + (u64)i >= watched.bytes)
            continue;
        for (u32 k = 0; k < 8; k += 2)
            if ((before ^ after) >> k & 3)
                block_changed(h, (at + (u64)i) * 4 + k / 2, before >> k & 3, after >> k & 3);
    }
}

static void before_store(int by, u64 offset, u64 value, int size) {
    const Hart *h = by == NOBODY ? NULL : &harts[by];
    if (h && watched.bytes)
        table_store(h, offset, value, size);
    if (watched.all)
        guard_store(h, offset, value, size);
}

// --- orders ---
void trace_new(void) {
    hart_hook = at_breakpoint;
    bus_watcher = before_store;
    trace_end();
    memset(&state, 0, sizeof state);
}

void trace_reset(void) {
    events_end_run();
    calls_reset();
}

void trace_end(void) {
    events_end();
    calls_start();
    state.top_at = 0;
    memset(breakpoint, 0, sizeof breakpoint);
    live_start(0, 0, 0);
    guard_start(0, 0);
    watched.bytes = 0;
    hart_forget_code();
}

// From now on; table and bytes: of the GC's allocation table, or 0 and 0.
void trace_start(u64 top, u64 table, u64 bytes) {
    trace_end();
    events_start();
    state.top_at = top;
    watched.from = table - RAM_CACHED;
    watched.bytes = bytes;
}

// An event says where the first hart is.
void trace_where(void) {
    Hart h = calls_in_python(&harts[0]);
    events_add(MARK, site_of(&h), 0, 0, arena_end());
}
