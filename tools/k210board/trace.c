// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The profiler's eyes: calls of the allocator, stores into the GC's allocation table, and the
// Python lines that a hart is in. Writes fixed records to a file; a Python program makes sense of
// them. Source: py/bc.c and py/gc.c of MicroPython 1.11, newlib's mallocr.c.
#include "trace.h"
#include "ops.h"
#include <stdlib.h>

// --- records ---

typedef struct {
    u64 time; // instructions of both harts
    u32 kind, site;
    u64 a, b, c;
} Event;

// MALLOC, FREE, REALLOC: an event at the return; RAISED: an exception ended the outermost Python
// function; ASK: input() is called; MARK: another function is, its number is added.
enum { MALLOC = 1, FREE, REALLOC, RAISED, ASK, MARK, FRAME, GC_NEW = 16, GC_GROW, GC_FREE };
enum { MARKS = 32, LONGEST_RUN = 512 };

static FILE *events, *sites;
static u64 top_at; // address of the word that points to the allocator's top chunk
static Event run;  // blocks of the GC heap that changed one after the other: a first, b how many
                   // of one site, in c objects

static u64 word(u64 address) {
    u64 v = 0;
    u8 *p = bus_memory(address, 8);
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

static struct {
    u16 op;       // that belongs there
    u8 kind;      // of function that begins here
    bool returns; // something that is followed returns to here
} hooks[RAM_SIZE / 2];
static u64 hooked_from = ~0ull, hooked_to; // all of them lie there

static u64 halfword(u64 pc) { return (pc - RAM_CACHED) / 2; }

bool trace_hooked(u64 pc) {
    u64 i = halfword(pc);
    if (i < hooked_from || i > hooked_to || !(hooks[i].kind || hooks[i].returns)) return false;
    hooks[i].op = decoded[i].op;
    return true;
}

static bool hook(u64 pc, u8 kind) {
    u64 i = halfword(pc);
    if (i >= RAM_SIZE / 2) return false;
    if (kind) hooks[i].kind = kind;
    else hooks[i].returns = true;
    hooked_from = i < hooked_from ? i : hooked_from;
    hooked_to = i > hooked_to ? i : hooked_to;
    if (decoded[i].op != OP_HOOK) decoded[i].op = OP_DECODE;
    return true;
}

static void unhook_all(void) {
    for (u64 i = hooked_from; i <= hooked_to && hooked_to; i++)
        if (hooks[i].kind || hooks[i].returns) decoded[i].op = OP_DECODE;
    memset(hooks, 0, sizeof hooks);
    hooked_from = ~0ull;
    hooked_to = 0;
}

// --- the Python lines ---

enum { DEPTH = 512, NEAR = 256 << 10, SITES = 1 << 16 };

static struct {
    struct { u64 sp, state; } frame[DEPTH]; // C stack and mp_code_state_t of bytecode that runs
    int frames;
    struct { u64 back, sp, a, b; u8 kind; u32 site; } call; // of the allocator, the outermost
} on[HARTS];

// Called at or below that stack pointer, on the same stack.
static bool below(u64 sp, u64 other) { return sp <= other && other - sp < NEAR; }

static u64 var_uint(u64 *at) {
    u64 v = 0;
    for (u8 b = 0x80; b & 0x80 && bus_memory(*at, 1);) {
        b = *bus_memory((*at)++, 1);
        v = v << 7 | (b & 0x7f);
    }
    return v;
}

typedef struct { u16 name, file; u32 line; } Place;

// mp_bytecode_print and mp_obj_exception_add_traceback: the prelude of a function, and in it pairs
// of (bytes of bytecode, lines). False when this is no code state.
static bool place_of(u64 state, Place *p) {
    u64 fun = word(state), ip = word(state + 8), start = word(fun + 16), at = start;
    const u64 end = RAM_CACHED + RAM_SIZE - 64;
    if (fun < RAM_CACHED || fun >= end || fun & 7 || start < RAM_CACHED || start >= end ||
        ip <= start || ip >= end || ip - start > 1 << 20)
        return false;
    u64 states = var_uint(&at), exceptions = var_uint(&at);
    at += 4; // flags and numbers of arguments
    u64 info = at, info_size = var_uint(&at), stop = info + info_size;
    if (states > 4000 || exceptions > 200 || info_size < 4 || info_size > ip - start || stop > end)
        return false;
    u64 code = ip - stop;
    *p = (Place){.name = (u16)word(at), .file = (u16)word(at + 2)};
    at += 4;
    p->line = at < stop && *bus_memory(at, 1); // 0: compiled without line numbers
    for (u32 b; at < stop && (b = *bus_memory(at, 1)); at++) {
        u32 bytes = b & 0x1f, lines = b >> 5;
        if (b & 0x80) {
            bytes = b & 0xf;
            lines = (b << 4 & 0x700) | *bus_memory(++at, 1);
        }
        if (code < bytes) break;
        code -= bytes;
        p->line += lines;
    }
    return true;
}

// A site is a stack of places, the innermost first. Equal stacks have one number; 0 is: no Python
// runs; all ones: more stacks than can be told apart.
static u32 site_of(Hart *h) {
    static struct { u64 hash; u32 number; } table[SITES];
    static u32 used;
    Place places[DEPTH];
    int n = 0, *frames = &on[h->id].frames;
    u64 sp = h->x[2], hash = 14695981039346656037ull;
    while (*frames && below(on[h->id].frame[*frames - 1].sp, sp - 1)) --*frames; // they returned
    for (int i = *frames - 1; i >= 0; i--)
        if (below(sp, on[h->id].frame[i].sp)) n += place_of(on[h->id].frame[i].state, &places[n]);
    if (!n) return 0;
    for (int i = 0; i < n; i++)
        hash = (hash ^ ((u64)places[i].name << 48 | (u64)places[i].file << 32 | places[i].line)) *
               1099511628211ull;
    u32 at = (u32)(hash >> 20) % SITES;
    while (table[at].number && table[at].hash != hash) at = (at + 1) % SITES;
    if (table[at].number) return table[at].number;
    if (used >= SITES / 2) return ~0u;
    table[at].hash = hash;
    table[at].number = ++used;
    fprintf(sites, "%u", used);
    for (int i = 0; i < n; i++)
        fprintf(sites, " %u:%u:%u", places[i].file, places[i].name, places[i].line);
    fputc('\n', sites);
    return used;
}

// What began at or below this stack pointer has ended.
static void drop_ended(Hart *h) {
    int *n = &on[h->id].frames;
    while (*n && below(on[h->id].frame[*n - 1].sp, h->x[2])) --*n;
}

static void entered_bytecode(Hart *h) {
    drop_ended(h);
    int *n = &on[h->id].frames;
    if (*n == DEPTH || !hook(h->x[1], 0)) return;
    on[h->id].frame[*n].sp = h->x[2];
    on[h->id].frame[(*n)++].state = h->x[10];
}

// The exception is the first value of the mp_code_state_t (py/vm.c, py/objexcept.h): tells its
// type, how many arguments it has, the first.
static void left_bytecode(Hart *h) {
    int before = on[h->id].frames;
    drop_ended(h);
    if (!before || on[h->id].frames || h->x[10] != 2) return; // MP_VM_RETURN_EXCEPTION
    u64 error = word(on[h->id].frame[0].state + 40), arguments = word(error + 24);
    emit(RAISED, 0, word(error), word(arguments + 8), word(arguments + 16));
}

// --- the allocator ---

static void entered_allocator(Hart *h, u8 kind) {
    u64 sp = h->x[2], back = h->x[1];
    bool nested = on[h->id].call.back && sp < on[h->id].call.sp && below(sp, on[h->id].call.sp);
    if (nested || !hook(back, 0)) return; // called by another of them
    on[h->id].call.back = back;
    on[h->id].call.sp = sp;
    on[h->id].call.a = h->x[11];
    on[h->id].call.b = h->x[12];
    on[h->id].call.kind = kind;
    on[h->id].call.site = site_of(h);
}

static void left_allocator(Hart *h) {
    u64 a = on[h->id].call.a, b = on[h->id].call.b, result = h->x[10];
    u32 kind = on[h->id].call.kind, site = on[h->id].call.site;
    on[h->id].call.back = 0;
    u64 size = result ? word(result - 8) & ~7ull : 0; // of the whole chunk
    if (kind == FREE) emit(FREE, site, a, 0, arena_end());
    else emit(kind, site, result, kind == MALLOC ? a : b | a << 32, arena_end() | size << 32);
}

u16 trace_hook(Hart *h, u64 pc) {
    u64 i = halfword(pc);
    u8 kind = hooks[i].kind;
    if (hooks[i].returns) {
        left_bytecode(h);
        if (on[h->id].call.back == pc && on[h->id].call.sp == h->x[2]) left_allocator(h);
    }
    if (kind == FRAME) entered_bytecode(h);
    else if (kind == ASK) host.asks++;
    else if (kind >= MARKS) emit(MARK, site_of(h), kind - MARKS, 0, 0);
    else if (kind) entered_allocator(h, kind);
    return hooks[i].op;
}

// --- the GC's allocation table: two bits a block, 0 free, 1 head, 2 tail, 3 marked head ---

bool watching, trace_calls;
u64 trace_from, trace_bytes;

static void block_changed(Hart *h, u64 block, u32 before, u32 after) {
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

void trace_store(Hart *h, u64 offset, u64 before, u64 after, int size) {
    for (int i = 0; i < size && offset + (u64)i - trace_from < trace_bytes; i++)
        for (int k = 8 * i; k < 8 * i + 8; k += 2)
            if ((before ^ after) >> k & 3)
                block_changed(h, (offset - trace_from) * 4 + (u64)k / 2, before >> k & 3,
                              after >> k & 3);
}

// --- which function runs bytecode: the one that is given a code state at its first instruction and
// no exception ---

enum { TARGETS = 4096, TRIES = 64 };
static struct { u64 pc; u32 calls; } targets[TARGETS];

void trace_call(Hart *h, u64 target) {
    Place place;
    if (h->x[11] || !bus_memory(h->x[10], 64) || !place_of(h->x[10], &place)) return;
    u32 i = (u32)(target >> 1) * 2654435761u % TARGETS;
    for (int tries = 0; tries < TRIES; tries++, i = (i + 1) % TARGETS)
        if (!targets[i].pc || targets[i].pc == target) {
            targets[i].pc = target;
            targets[i].calls++;
            return;
        }
}

static void tell_calls(FILE *answer) {
    for (int i = 0; i < TARGETS; i++)
        if (targets[i].pc)
            fprintf(answer, "%llx:%u ", (unsigned long long)targets[i].pc, targets[i].calls);
    memset(targets, 0, sizeof targets);
}

// --- orders ---

static void close_files(void) {
    end_run();
    if (events) fclose(events);
    if (sites) fclose(sites);
    events = sites = NULL;
}

void trace_reset(void) {
    end_run();
    memset(on, 0, sizeof on);
}

// An event that says where the first hart is; everything is in the files then.
static bool tell_where(void) {
    emit(MARK, site_of(&board.hart[0]), 0, 0, arena_end());
    return events && !fflush(events) && !fflush(sites);
}

static bool end_trace(void) {
    close_files();
    watching = false;
    trace_bytes = 0;
    unhook_all();
    trace_reset();
    return true;
}

// "files EVENTS SITES", "top ADDRESS", "hook KIND ADDRESS MARK", "gc ADDRESS BYTES", "calls 1|0",
// "where", "end"
bool trace_command(char *words, FILE *answer) {
    char first[1024], second[1024];
    unsigned long long a, b, kind;
    if (sscanf(words, "files %1023s %1023s", first, second) == 2) {
        close_files();
        events = fopen(first, "wb");
        sites = fopen(second, "w");
        return events && sites;
    }
    if (sscanf(words, "hook %llu %llx %llu", &kind, &a, &b) == 3)
        return hook(a, (u8)(kind == MARK ? MARKS + b : kind));
    if (sscanf(words, "gc %llx %llu", &a, &b) == 2) {
        trace_from = a - RAM_CACHED;
        trace_bytes = b;
        return watching = true;
    }
    if (sscanf(words, "top %llx", &a) == 1) return (top_at = a) != 0;
    if (sscanf(words, "calls %llu", &a) == 1) {
        watching = trace_calls = a;
        if (!a) tell_calls(answer);
        return true;
    }
    return !strcmp(words, "where") ? tell_where() : !strcmp(words, "end") && end_trace();
}
