// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The profiler's eyes: calls of the allocator, stores into the GC's allocation table, and the
// Python lines that a hart is in. Writes fixed records to a file; a Python program makes sense of
// them. Source: py/bc.c and py/gc.c of MicroPython 1.11, newlib's mallocr.c.
#include "board.h"
#include "ops.h"

// --- records ---

typedef struct {
    u64 time; // instructions of both harts
    u32 kind, site;
    u64 a, b, c;
} Event;

// MALLOC, FREE, REALLOC: an event at the return; RAISED: an exception ended the outermost Python
// function; ASK: input() is called; FRAME: a function runs bytecode; PLACE: a line of a site that
// is new; from MARK on: another function is called, its number is added.
enum { MALLOC = 1, FREE, REALLOC, RAISED, ASK, FRAME, PLACE, GC_NEW = 16, GC_GROW, GC_FREE };
enum { MARK = 32, LONGEST_RUN = 512, DEPTH = 512, NEAR = 256 << 10, SITES = 1 << 16 };

u64 trace_from, trace_bytes;
static FILE *events;
static u64 top_at; // address of the word that points to the allocator's top chunk
static Event run;  // blocks of the GC heap that changed one after the other: a first, b how many
                   // of one site, in c objects

static u64 word(u64 address) {
    u64 v = 0;
    const u8 *p = bus_memory(address, 8);
    return p ? memcpy(&v, p, 8), v : 0;
}

static void write_event(Event e) {
    e.time = board.hart[0].instructions + board.hart[1].instructions + (u64)done_now;
    if (events) fwrite(&e, sizeof e, 1, events);
}

static void end_run(void) {
    if (run.b) write_event(run);
    run.b = 0;
}

static void emit(u32 kind, u32 site, u64 a, u64 b, u64 c) {
    end_run();
    write_event((Event){.kind = kind, .site = site, .a = a, .b = b, .c = c});
}

// Where the top chunk ends.
static u64 arena_end(void) {
    u64 top = top_at ? word(top_at) : 0;
    return top ? top + (word(top + 8) & ~7ull) : 0;
}

// --- hooks: one for each halfword of RAM ---

static struct Hook {
    u16 op;       // that belongs there
    u8 kind;      // of function that begins here
    bool returns; // something that is followed returns to here
} hooks[RAM_SIZE / 2];

bool trace_hooked(const Decoded *d) {
    struct Hook *k = &hooks[d - decoded];
    k->op = d->op;
    return k->kind || k->returns;
}

static bool hook(u64 pc, u8 kind) {
    u64 i = (pc - RAM_CACHED) / 2;
    if (i >= RAM_SIZE / 2) return false;
    if (kind) hooks[i].kind = kind;
    else hooks[i].returns = true;
    if (decoded[i].op != OP_HOOK) decoded[i].op = OP_DECODE;
    return true;
}

// --- the Python lines ---

static struct Followed {
    struct { u64 sp, state; } frame[DEPTH]; // C stack and mp_code_state_t of bytecode that runs
    int frames;
    struct { u64 back, sp, a, b; u32 kind, site; } call; // of the allocator, the outermost
} followed[HARTS];

// Called at or below that stack pointer, on the same stack.
static bool below(u64 sp, u64 other) { return sp <= other && other - sp < NEAR; }

static u64 var_uint(const u8 **at) {
    u64 v = 0;
    do v = v << 7 | (**at & 0x7f);
    while (*(*at)++ & 0x80);
    return v;
}

typedef struct { u64 file, name, line; } Place;

// mp_bytecode_print and mp_obj_exception_add_traceback: the prelude of a function, and in it pairs
// of (bytes of bytecode, lines); line 0 when it was compiled without. False: this is no code state.
static bool place_of(u64 state, Place *p) {
    u64 start = word(word(state) + 16), code = word(state + 8) - start;
    const u8 *at = bus_memory(start, code), *const begin = at;
    if (!at || code < 12 || code > 1 << 20) return false;
    var_uint(&at);
    var_uint(&at);
    at += 4; // flags and numbers of arguments
    u64 info = (u64)(at - begin), size = var_uint(&at);
    const u8 *const stop = begin + info + size;
    if (size < 5 || size > code - info) return false;
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
        if (code < bytes) break;
        code -= bytes;
        p->line += lines;
    }
    return true;
}

// What began at or below a stack pointer has ended.
static void drop_ended(struct Followed *f, u64 sp) {
    while (f->frames && below(f->frame[f->frames - 1].sp, sp)) f->frames--;
}

// A site is a stack of places, the innermost first. Equal stacks have one number; 0 is: no Python
// runs; all ones: more stacks than can be told apart.
static u32 site_of(const Hart *h) {
    static struct { u64 hash; u32 number; } table[SITES];
    static u32 used;
    struct Followed *f = &followed[h->id];
    Place places[DEPTH];
    int n = 0;
    u64 sp = h->x[2], hash = 14695981039346656037ull;
    drop_ended(f, sp - 1);
    for (int i = f->frames - 1; i >= 0; i--)
        if (below(sp, f->frame[i].sp)) n += place_of(f->frame[i].state, &places[n]);
    if (!n) return 0;
    for (const Place *p = places; p < places + n; p++)
        hash = (hash ^ (p->name << 48 | p->file << 32 | p->line)) * 1099511628211ull;
    u32 at = (u32)(hash >> 20) % SITES;
    while (table[at].number && table[at].hash != hash) at = (at + 1) % SITES;
    if (table[at].number) return table[at].number;
    if (used >= SITES / 2) return ~0u;
    table[at].hash = hash;
    table[at].number = ++used;
    for (const Place *p = places; p < places + n; p++)
        write_event((Event){.kind = PLACE, .site = used, .a = p->file, .b = p->name, .c = p->line});
    return used;
}

static void entered_bytecode(const Hart *h, struct Followed *f) {
    drop_ended(f, h->x[2]);
    if (f->frames == DEPTH || !hook(h->x[1], 0)) return;
    f->frame[f->frames].sp = h->x[2];
    f->frame[f->frames++].state = h->x[10];
}

// The exception is the first value of the mp_code_state_t (py/vm.c, py/objexcept.h): tells its
// type, how many arguments it has, the first.
static void left_bytecode(const Hart *h, struct Followed *f) {
    int before = f->frames;
    drop_ended(f, h->x[2]);
    if (!before || f->frames || h->x[10] != 2) return; // MP_VM_RETURN_EXCEPTION
    u64 error = word(f->frame[0].state + 40), arguments = word(error + 24);
    emit(RAISED, 0, word(error), word(arguments + 8), word(arguments + 16));
}

// --- the allocator ---

static void entered_allocator(const Hart *h, struct Followed *f, u32 kind) {
    u64 sp = h->x[2], back = h->x[1];
    bool nested = f->call.back && sp < f->call.sp && below(sp, f->call.sp);
    if (nested || !hook(back, 0)) return; // called by another of them
    f->call.back = back;
    f->call.sp = sp;
    f->call.a = h->x[11];
    f->call.b = h->x[12];
    f->call.kind = kind;
    f->call.site = site_of(h);
}

static void left_allocator(u64 result, struct Followed *f) {
    u64 a = f->call.a, b = f->call.b, size = result ? word(result - 8) & ~7ull : 0; // of the chunk
    u32 kind = f->call.kind, site = f->call.site;
    f->call.back = 0;
    if (kind == FREE) emit(FREE, site, a, 0, arena_end());
    else emit(kind, site, result, kind == MALLOC ? a : b | a << 32, arena_end() | size << 32);
}

u16 trace_hook(const Hart *h, const Decoded *d, u64 pc) {
    struct Followed *f = &followed[h->id];
    u32 kind = hooks[d - decoded].kind;
    if (hooks[d - decoded].returns) {
        left_bytecode(h, f);
        if (f->call.back == pc && f->call.sp == h->x[2]) left_allocator(h->x[10], f);
    }
    if (kind == FRAME) entered_bytecode(h, f);
    else if (kind == ASK) host.asks++;
    else if (kind >= MARK) emit(MARK, site_of(h), kind - MARK, 0, 0);
    else if (kind) entered_allocator(h, f, kind);
    return hooks[d - decoded].op;
}

// --- the GC's allocation table: two bits a block, 0 free, 1 head, 2 tail, 3 marked head ---

static void block_changed(const Hart *h, u64 block, u32 before, u32 after) {
    if (before && after) return; // marked or unmarked
    u32 kind = after == 0 ? GC_FREE : after == 1 ? GC_NEW : GC_GROW;
    bool grows = kind == GC_FREE ? run.kind == GC_FREE : kind == GC_GROW && run.kind != GC_FREE;
    bool follows = run.b && block == run.a + run.b;
    u32 site = kind == GC_FREE || (follows && grows) ? run.site : site_of(h);
    bool another = kind == GC_NEW && run.kind == GC_NEW && run.site == site && run.b < LONGEST_RUN;
    if (follows && (grows || another)) {
        run.b++;
        run.c += another;
        return;
    }
    end_run();
    run = (Event){.kind = kind, .site = kind == GC_FREE ? 0 : site, .a = block, .b = 1, .c = 1};
}

// Before a store into the watched range.
void trace_store(const Hart *h, u64 offset, u64 value, int size) {
    for (u64 i = offset; i < offset + (u64)size && i - trace_from < trace_bytes; i++, value >>= 8)
        for (u32 k = 0; k < 8; k += 2)
            if ((ram[i] ^ value) >> k & 3)
                block_changed(h, (i - trace_from) * 4 + k / 2, ram[i] >> k & 3, value >> k & 3);
}

// --- orders ---

void trace_reset(void) {
    end_run();
    memset(followed, 0, sizeof followed);
}

static bool start(const char *path, u64 top, u64 table, u64 bytes) {
    events = fopen(path, "wb");
    top_at = top;
    trace_from = table - RAM_CACHED;
    trace_bytes = bytes;
    return events;
}

// An event that says where the first hart is; everything is in the file then.
static bool tell_where(void) {
    emit(MARK, site_of(&board.hart[0]), 0, 0, arena_end());
    return events && !fflush(events);
}

static bool end(void) {
    trace_reset();
    if (events) fclose(events);
    events = NULL;
    trace_bytes = 0;
    memset(hooks, 0, sizeof hooks);
    cpu_forget();
    return true;
}

// "start FILE TOP TABLE BYTES" (of the GC, or 0 0), "hook KIND ADDRESS", "where", "end"
bool trace_command(const char *words) {
    char path[1024];
    unsigned long long a, b, c;
    if (sscanf(words, "start %1023s %llx %llx %llu", path, &a, &b, &c) == 4)
        return end() && start(path, a, b, c);
    if (sscanf(words, "hook %llu %llx", &a, &b) == 2) return hook(b, (u8)a);
    return !strcmp(words, "where") ? tell_where() : !strcmp(words, "end") && end();
}
