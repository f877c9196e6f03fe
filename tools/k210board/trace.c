// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The profiler's eyes: calls of the allocator, stores into the GC's allocation table, and the
// Python lines that a hart is in. Makes fixed records; a Python program makes sense of them.
// Source: py/bc.c and py/gc.c of MicroPython 1.11, newlib's mallocr.c.
#include "board.h"
#include "ops.h"

// --- records ---
// MALLOC, FREE, REALLOC: an event at the return; RAISED: an exception ended the outermost Python
// function; ASK: input() is called; FRAME: a function runs bytecode; PLACE: a line of a site that
// is new; JUMP: of the bytecode; LOOK: what is in use follows, as USED; from MARK on: another
// function is called, its number is added; from COLLECT on: one that collects; RETURNS: to here.
enum { MALLOC = 1, FREE, REALLOC, RAISED, ASK, FRAME, PLACE, JUMP, LOOK, USED, DAMAGED };

enum { GC_NEW = 16, GC_GROW, GC_FREE, MARK = 32, COLLECT = 64, RETURNS = 128 };

enum { LONGEST_RUN = 512, DEPTH = 512, NEAR = 1 << 18, SITES = 1 << 16 };

typedef struct {
    u64 sp, state;
} Frame; // C stack and mp_code_state_t of bytecode that runs

typedef struct {
    u64 back, sp, a, b;
    u32 kind, site;
} Call; // of the allocator, the outermost

typedef struct {
    Frame frame[DEPTH];
    int frames;
    Call call, collect;
} Followed;
struct Events events;

static struct Trace {
    bool on;
    u64 top_at; // address of the word that points to the allocator's top chunk
    Event run;  // blocks of the GC heap that changed one after the other: a first, b how many of
                // one site, in c objects
    u8 hook[RAM_SIZE / 2]; // for each halfword: kind of the function that begins there; RETURNS
    Followed followed[HARTS];

    struct {
        u64 hash, number;
    } site[SITES];

    u32 sites;
} trace;

void *trace_state(void) { return &trace; }

u32 trace_state_size(void) { return sizeof trace; }

static void write_event(Event e) {
    if (!trace.on)
        return;
    e.time = board.hart[0].instructions + board.hart[1].instructions + (u64)done_now;
    if (events.n < EVENTS)
        events.item[events.n++] = e;
    else
        events.lost++;
}

static void end_run(void) {
    if (trace.run.b)
        write_event(trace.run);
    trace.run.b = 0;
}

static void emit(u32 kind, u32 site, u64 a, u64 b, u64 c) {
    end_run();
    write_event((Event){.kind = kind, .site = site, .a = a, .b = b, .c = c});
}

// Where the top chunk ends.
static u64 arena_end(void) {
    u64 top = trace.top_at ? bus_word(trace.top_at) : 0;
    return top ? top + (bus_word(top + 8) & ~7ull) : 0;
}

// --- trace.hook ---
bool trace_hooked(const Decoded *d) { return trace.hook[d - decoded]; }

bool trace_hook_at(u64 pc, u8 kind) {
    u64 i = (pc - RAM_CACHED) / 2;
    if (i >= RAM_SIZE / 2)
        return false;
    trace.hook[i] = kind == RETURNS ? trace.hook[i] | RETURNS : (trace.hook[i] & RETURNS) | kind;
    if (decoded[i].op != OP_HOOK)
        decoded[i].op = OP_DECODE;
    return true;
}

// --- the Python lines ---
// Called at or below that stack pointer, on the same stack.
static bool below(u64 sp, u64 other) { return sp <= other && other - sp < NEAR; }

static u64 var_uint(const u8 **at) {
    u64 v = 0;
    do
        v = v << 7 | (**at & 0x7f);
    while (*(*at)++ & 0x80);
    return v;
}

typedef struct {
    u64 file, name, line;
} Place;

// mp_bytecode_print and mp_obj_exception_add_traceback: the prelude of a function, and in it pairs
// of (bytes of bytecode, lines); line 0 when it was compiled without. False: this is no code
// state.
static bool place_of(u64 state, Place *p) {
    u64 start = bus_word(bus_word(state) + 16), code = bus_word(state + 8) - start;
    const u8 *at = bus_memory(start, code), *const begin = at;
    if (!at || code < 12 || code > 1 << 20)
        return false;
    var_uint(&at);
    var_uint(&at);
    at += 4; // flags and numbers of arguments
    u64 info = (u64)(at - begin), size = var_uint(&at);
    const u8 *const stop = begin + info + size;
    if (size < 5 || size > code - info)
        return false;
    code -= info + size;
    *p = (Place){.name = at[0] | at[1] << 8, .file = at[2] | at[3] << 8};
    at += 4;
    p->line = at < stop && *at;
    for (; at < stop && *at; at++) {
        u32 bytes = *at & 0x1f, lines = *at >> 5;
        if (*at & 0x80) {
            bytes = *at & 0xf;
            lines = (*at << 4 & 0x700) | at[1];
            at++;
        }
        if (code < bytes)
            break;
        code -= bytes;
        p->line += lines;
    }
    return true;
}

// How many frames are above a stack pointer or there, highest first; threads have stacks apart.
static int above(const Followed *f, u64 sp) {
    int n = f->frames;
    while (n && f->frame[n - 1].sp < sp)
        n--;
    return n;
}

// A site is a stack of places, the innermost first. Equal stacks have one number; 0 is: no Python
// runs; all ones: more stacks than can be told apart.
static u32 site_of(const Hart *h) {
    Followed *f = &trace.followed[h->id];
    Place places[DEPTH];
    int n = 0;
    u64 sp = h->x[2], hash = 14695981039346656037ull;
    for (int i = above(f, sp) - 1; i >= 0 && below(sp, f->frame[i].sp); i--)
        n += place_of(f->frame[i].state, &places[n]);
    if (!n)
        return 0;
    for (const Place *p = places; p < places + n; p++)
        hash = (hash ^ (p->name << 48 | p->file << 32 | p->line)) * 1099511628211ull;
    u32 at = (u32)(hash >> 20) % SITES;
    while (trace.site[at].number && trace.site[at].hash != hash)
        at = (at + 1) % SITES;
    if (trace.site[at].number)
        return (u32)trace.site[at].number;
    if (trace.sites >= SITES / 2)
        return ~0u;
    trace.site[at].hash = hash;
    trace.site[at].number = ++trace.sites;
    for (const Place *p = places; p < places + n; p++)
        write_event((Event){0, PLACE, trace.sites, p->file, p->name, p->line});
    return trace.sites;
}

static void entered_bytecode(const Hart *h, Followed *f) {
    if (f->frames == DEPTH || !trace_hook_at(h->x[1], RETURNS))
        return;
    Frame *at = f->frame + above(f, h->x[2]);
    memmove(at + 1, at, (size_t)(f->frame + f->frames++ - at) * sizeof *at);
    *at = (Frame){h->x[2], h->x[10]};
}

// The exception is the first value of the mp_code_state_t (py/vm.c, py/objexcept.h): tells its
// type, how many arguments it has, the first.
static void left_bytecode(const Hart *h, Followed *f) {
    Frame *at = f->frame + above(f, h->x[2]) - 1;
    if (at < f->frame || at->sp != h->x[2])
        return;
    memmove(at, at + 1, (size_t)(f->frame + --f->frames - at) * sizeof *at);
    if (f->frames || h->x[10] != 2)
        return; // MP_VM_RETURN_EXCEPTION; then nothing was moved
    u64 error = bus_word(at->state + 40), arguments = bus_word(error + 24);
    emit(RAISED, 0, bus_word(error), bus_word(arguments + 8), bus_word(arguments + 16));
}

// --- the allocator ---
static void entered_allocator(const Hart *h, Followed *f, u32 kind) {
    u64 sp = h->x[2], back = h->x[1];
    bool nested = f->call.back && sp < f->call.sp && below(sp, f->call.sp);
    if (nested || !trace_hook_at(back, RETURNS))
        return; // called by another of them
    f->call = (Call){back, sp, h->x[11], h->x[12], kind, site_of(h)};
}

static void left_allocator(const Hart *h, Followed *f) {
    u64 result = h->x[10];
    Call c = f->call;
    u64 size = result ? bus_word(result - 8) & ~7ull : 0; // of the chunk
    u64 asked = c.kind == MALLOC ? c.a : c.b | c.a << 32;
    f->call.back = 0;
    live_made(h, 0, c.kind != FREE && result);
    guard_look();
    if (c.kind == FREE)
        emit(FREE, c.site, c.a, 0, arena_end());
    else
        emit(c.kind, c.site, result, asked, arena_end() | size << 32);
}

u32 trace_hook(const Hart *h, const Decoded *d, u64 pc) {
    Followed *f = &trace.followed[h->id];
    u32 kind = trace.hook[d - decoded] & ~(u32)RETURNS;
    if (trace.hook[d - decoded] & RETURNS) {
        left_bytecode(h, f);
        if (f->call.back == pc && f->call.sp == h->x[2])
            left_allocator(h, f);
        if (f->collect.back == pc && f->collect.sp == h->x[2])
            f->collect.back = 0, live_collected(h, pc);
    }
    if (kind == FRAME)
        entered_bytecode(h, f);
    else if (kind == ASK)
        host.asks++;
    else if (kind == JUMP)
        live_jump(h, h->x[d->rs1]);
    else if (kind >= MARK)
        emit(MARK, site_of(h), kind % MARK, 0, 0);
    else if (kind)
        entered_allocator(h, f, kind);
    if (kind >= COLLECT && trace_hook_at(h->x[1], RETURNS))
        f->collect = (Call){.back = h->x[1], .sp = h->x[2]};
    return d->raw;
}

// --- the GC's allocation table: two bits a block, 0 free, 1 head, 2 tail, 3 marked head ---
static void block_changed(const Hart *h, u64 block, u32 before, u32 after) {
    if (before && after)
        return; // marked or unmarked
    u32 kind = after == 0 ? GC_FREE : after == 1 ? GC_NEW : GC_GROW;
    if (after)
        live_made(h, 1, kind == GC_NEW);
    Event *run = &trace.run;
    bool grows = kind == GC_FREE ? run->kind == GC_FREE : kind == GC_GROW && run->kind != GC_FREE;
    bool follows = run->b && block == run->a + run->b;
    u32 site = kind == GC_FREE || (follows && grows) ? run->site : site_of(h);
    bool another =
        kind == GC_NEW && run->kind == GC_NEW && run->site == site && run->b < LONGEST_RUN;
    if (follows && (grows || another)) {
        run->b++, run->c += another;
        return;
    }
    end_run();
    *run = (Event){0, kind, kind == GC_FREE ? 0 : site, block, 1, 1};
}

bool trace_allocates(const Hart *h) {
    return trace.followed[h->id].call.back && below(h->x[2], trace.followed[h->id].call.sp);
}

void trace_damaged(const Hart *h, u64 address, u64 value) {
    emit(DAMAGED, site_of(h), address, value, h->pc);
}

void trace_look(const Hart *h, u32 blocks, u64 loop, u32 rounds) {
    emit(LOOK, site_of(h), blocks, loop, rounds);
}

void trace_used(u32 first, const u64 *three) {
    write_event((Event){0, USED, first, three[0], three[1], three[2]});
}

// Before a store into the watched range.
void trace_store(const Hart *h, u64 offset, u64 value, int size) {
    u64 at = offset - host.watched_from; // in the table
    for (u64 end = at + (u64)size; at < end && at < host.watched_bytes;
         at++, offset++, value >>= 8)
        for (u32 k = 0; k < 8; k += 2)
            if ((ram[offset] ^ value) >> k & 3)
                block_changed(h, at * 4 + k / 2, ram[offset] >> k & 3, value >> k & 3);
}

// --- orders ---
void trace_reset(void) {
    end_run();
    memset(trace.followed, 0, sizeof trace.followed);
}

void trace_end(void) {
    end_run();
    memset(&trace, 0, sizeof trace);
    live_start(0, 0, 0);
    guard_start(0, 0);
    host.watched_bytes = 0;
    cpu_forget();
}

// From now on; table and bytes: of the GC's allocation table, or 0 0.
void trace_start(u64 top, u64 table, u64 bytes) {
    trace_end();
    events.n = 0, events.lost = 0;
    trace.on = true;
    trace.top_at = top;
    host.watched_from = table - RAM_CACHED;
    host.watched_bytes = bytes;
}

// An event says where the first hart is.
void trace_where(void) {
    Hart h = board.hart[0]; // while Python waits, another task may have the hart
    const Followed *f = trace.followed;
    if (f->frames && !above(f, h.x[2]))
        h.x[2] = f->frame[f->frames - 1].sp;
    emit(MARK, site_of(&h), 0, 0, arena_end());
}
