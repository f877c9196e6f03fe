// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The profiler's eyes: calls of the allocator, stores into the GC's allocation table, and the
// Python lines that a hart is in. Writes fixed records to a file; a Python program makes sense of
// them.
#include "trace.h"
#include "ops.h"
#include <stdlib.h>

// --- records ---

typedef struct {
    u64 time; // instructions of hart 0 and 1
    u32 kind, site;
    u64 a, b, c;
} Event;

// Kinds below HOOKED_KINDS are functions: an event at the return, b the arguments' product or size.
enum { MALLOC = 1, FREE, REALLOC, CALLOC, MEMALIGN, MARK, FRAME, GC_NEW = 16, GC_GROW, GC_FREE };

static FILE *events, *sites;
static u64 top_at; // address of the word that points to the allocator's top chunk

static u64 word(u64 address) {
    u64 v = 0;
    u8 *p = bus_memory(address);
    if (p && bus_memory(address + 7)) memcpy(&v, p, 8);
    return v;
}

// Blocks of the GC heap that changed one after the other: objects of one site that lie together are
// one event.
enum { LONGEST_RUN = 512 };
static struct {
    u32 kind, site;
    u64 block, n, objects;
} run;

static void write_event(u32 kind, u32 site, u64 a, u64 b, u64 c) {
    u64 time = board.hart[0].instructions + board.hart[1].instructions + (u64)done_now;
    Event e = {time, kind, site, a, b, c};
    if (events) fwrite(&e, sizeof e, 1, events);
}

static void end_run(void) {
    if (run.n) write_event(run.kind, run.site, run.block, run.n, run.objects);
    run.n = 0;
}

static void emit(u32 kind, u32 site, u64 a, u64 b, u64 c) {
    end_run();
    write_event(kind, site, a, b, c);
}

// The end of the arena: where the top chunk ends.
static u64 arena_end(void) {
    u64 top = top_at ? word(top_at) : 0;
    return top ? top + (word(top + 8) & ~7ull) : 0;
}

// --- hooks ---

enum { HOOKS = 1 << 14, DEPTH = 512, NEAR = 256 << 10 };

typedef struct {
    u64 pc;
    u16 op;   // that belongs there
    u8 kind;  // of function that begins here
    u32 mark; // number of a MARK
    bool returns;
} Hook;

static Hook hooks[HOOKS];
static int hooks_n;

static Hook *hook_at(u64 pc, bool make) {
    if (!hooks_n && !make) return NULL;
    u32 i = (u32)(pc >> 1) * 2654435761u % HOOKS;
    while (hooks[i].pc && hooks[i].pc != pc) i = (i + 1) % HOOKS;
    if (hooks[i].pc == pc) return &hooks[i];
    if (!make || hooks_n > HOOKS / 2) return NULL;
    hooks_n++;
    hooks[i] = (Hook){.pc = pc};
    return &hooks[i];
}

bool trace_hooked(u64 pc) {
    Hook *k = hook_at(pc, false);
    if (!k) return false;
    k->op = decoded[(pc - RAM_CACHED) >> 1].op;
    return true;
}

static Hook *hook(u64 pc) {
    if (pc - RAM_CACHED >= RAM_SIZE) return NULL;
    Hook *k = hook_at(pc, true);
    Decoded *d = &decoded[(pc - RAM_CACHED) >> 1];
    if (k && d->op != OP_HOOK) d->op = OP_DECODE;
    return k;
}

// --- the Python lines ---

typedef struct {
    u64 sp, state; // C stack and mp_code_state_t of a bytecode function that runs
} Frame;

static struct {
    Frame frame[DEPTH];
    int frames;
    struct {
        u64 back, sp, a, b;
        u8 kind;
        u32 site;
    } call; // of the allocator, the outermost
} on[HARTS];

static u64 var_uint(u64 *at, u64 end) {
    u64 v = 0;
    while (*at < end) {
        u8 b = *bus_memory((*at)++);
        v = v << 7 | (b & 0x7f);
        if (!(b & 0x80)) break;
    }
    return v;
}

typedef struct {
    u16 name, file;
    u32 line;
} Place;

// py/bc.c of MicroPython 1.11, mp_bytecode_print and mp_obj_exception_add_traceback: the prelude of
// a function, and in it pairs of (bytes of bytecode, lines). False when this is no code state.
static bool place_of(u64 state, Place *p) {
    u64 fun = word(state), ip = word(state + 8), at = word(fun + 16), start = at,
        end = RAM_CACHED + RAM_SIZE;
    if (fun < RAM_CACHED || fun >= end - 64 || fun & 7 || at < RAM_CACHED || at >= end - 64)
        return false;
    if (ip <= at || ip >= end || ip - at > 1 << 20) return false;
    u64 states = var_uint(&at, end), exceptions = var_uint(&at, end);
    at += 4; // flags and numbers of arguments
    u64 info = at, info_size = var_uint(&at, end);
    if (states > 4000 || exceptions > 200 || info_size < 4 || info_size > ip - start ||
        at + info_size > end)
        return false;
    u64 code = ip - info - info_size, stop = info + info_size;
    p->name = (u16)word(at);
    p->file = (u16)word(at + 2);
    at += 4;
    p->line = at < stop && *bus_memory(at); // 0: compiled without line numbers
    while (at < stop && *bus_memory(at)) {
        u8 b = *bus_memory(at++);
        u32 bytes = b & 0x1f, lines = b >> 5;
        if (b & 0x80) {
            bytes = b & 0xf;
            lines = (u32)(b << 4 & 0x700) | *bus_memory(at++);
        }
        if (code < bytes) break;
        code -= bytes;
        p->line += lines;
    }
    return true;
}

// A site is a stack of places, the innermost first. Equal stacks have one number; 0 is: no Python
// runs.
enum { SITES = 1 << 16 };
static struct {
    u64 hash;
    u32 number;
} site_table[SITES];
static u32 site_n;

static u32 site_of(Hart *h) {
    Place places[DEPTH];
    int n = 0;
    u64 sp = h->x[2], hash = 14695981039346656037ull;
    for (int i = on[h->id].frames - 1; i >= 0; i--) {
        Frame *f = &on[h->id].frame[i];
        if (f->sp < sp && sp - f->sp < NEAR) {
            if (i == on[h->id].frames - 1) on[h->id].frames--; // it has returned
            continue;
        }
        if (f->sp - sp < NEAR && place_of(f->state, &places[n])) n++;
    }
    if (!n) return 0;
    for (int i = 0; i < n; i++)
        hash = (hash ^ ((u64)places[i].name << 48 | (u64)places[i].file << 32 | places[i].line)) *
               1099511628211ull;
    u32 at = (u32)(hash >> 20) % SITES;
    while (site_table[at].number && site_table[at].hash != hash) at = (at + 1) % SITES;
    if (site_table[at].number) return site_table[at].number;
    if (site_n >= SITES / 2) return 0xffffffff; // more stacks than can be told apart
    site_table[at].hash = hash;
    site_table[at].number = ++site_n;
    fprintf(sites, "%u", site_n);
    for (int i = 0; i < n; i++)
        fprintf(sites, " %u:%u:%u", places[i].file, places[i].name, places[i].line);
    fputc('\n', sites);
    return site_n;
}

// What began at or below this stack pointer has ended.
static void drop_ended(Hart *h) {
    int *n = &on[h->id].frames;
    u64 sp = h->x[2];
    while (*n && on[h->id].frame[*n - 1].sp <= sp && sp - on[h->id].frame[*n - 1].sp < NEAR) --*n;
}

static void entered_bytecode(Hart *h) {
    drop_ended(h);
    Hook *k = hook(h->x[1]);
    if (!k || on[h->id].frames == DEPTH) return;
    k->returns = true;
    on[h->id].frame[on[h->id].frames++] = (Frame){h->x[2], h->x[10]};
}

// --- the allocator ---

static void entered_allocator(Hart *h, u8 kind) {
    u64 sp = h->x[2], back = h->x[1];
    if (on[h->id].call.back && sp < on[h->id].call.sp && on[h->id].call.sp - sp < NEAR)
        return; // called by another of them
    Hook *k = hook(back);
    if (!k) return;
    k->returns = true;
    u64 a = kind == CALLOC ? h->x[11] * h->x[12] : h->x[11], b = h->x[12];
    on[h->id].call.back = back;
    on[h->id].call.sp = sp;
    on[h->id].call.a = a;
    on[h->id].call.b = b;
    on[h->id].call.kind = kind;
    on[h->id].call.site = site_of(h);
}

static void returned(Hart *h) {
    u64 a = on[h->id].call.a, b = on[h->id].call.b, result = h->x[10];
    u8 kind = on[h->id].call.kind;
    on[h->id].call.back = 0;
    u64 asked = kind == MALLOC || kind == CALLOC ? a : b, old = kind == REALLOC ? a : 0;
    u64 size = kind != FREE && result ? word(result - 8) & ~7ull : 0; // of the whole chunk
    if (kind == FREE) emit(FREE, on[h->id].call.site, a, 0, arena_end());
    else emit(kind, on[h->id].call.site, result, asked | old << 32, arena_end() | size << 32);
}

u16 trace_hook(Hart *h, u64 pc) {
    Hook *k = hook_at(pc, false);
    if (!k) return OP_DECODE;
    if (k->returns) drop_ended(h);
    if (k->returns && on[h->id].call.back == pc && on[h->id].call.sp == h->x[2]) returned(h);
    if (k->kind == FRAME) entered_bytecode(h);
    else if (k->kind == MARK) emit(MARK, site_of(h), k->mark, 0, 0);
    else if (k->kind) entered_allocator(h, k->kind);
    return k->op;
}

// --- the GC's allocation table: two bits a block, 0 free, 1 head, 2 tail, 3 marked head (py/gc.c)
// ---

bool watching, trace_calls;
u64 trace_from, trace_bytes;

static void block_changed(Hart *h, u64 block, u32 before, u32 after) {
    bool follows = run.n && block == run.block + run.n;
    if (before != 0 && after != 0) return; // marked or unmarked
    if (follows && ((after == 0 && run.kind == GC_FREE) || (after == 2 && run.kind != GC_FREE))) {
        run.n++;
        return;
    }
    u32 site = after == 0 ? 0 : site_of(h);
    if (follows && after == 1 && run.kind == GC_NEW && run.site == site && run.n < LONGEST_RUN) {
        run.n++;
        run.objects++;
        return;
    }
    end_run();
    run.kind = after == 0 ? GC_FREE : after == 1 ? GC_NEW : GC_GROW;
    run.site = site;
    run.block = block;
    run.n = run.objects = 1;
}

void trace_store(Hart *h, u64 offset, u64 before, u64 after, int size) {
    for (int i = 0; i < size && offset + (u64)i - trace_from < trace_bytes; i++) {
        u32 old = before >> 8 * i & 255, new = after >> 8 * i & 255;
        for (u64 k = 0; old != new && k < 4; k++) {
            u32 was = old >> 2 * k & 3, is = new >> 2 * k & 3;
            if (was != is) block_changed(h, (offset + (u64)i - trace_from) * 4 + k, was, is);
        }
    }
}

// --- which function runs bytecode: the one that is given a code state at its first instruction and
// no exception ---

enum { TARGETS = 4096 };
static struct {
    u64 pc;
    u32 calls;
} targets[TARGETS];

void trace_call(Hart *h, u64 target) {
    Place place;
    u64 state = h->x[10];
    if (h->x[11] || state < RAM_CACHED || state >= RAM_CACHED + KPU_RAM - 64 ||
        !place_of(state, &place))
        return;
    u32 i = (u32)(target >> 1) * 2654435761u % TARGETS;
    for (int tries = 0; tries < 64; tries++, i = (i + 1) % TARGETS)
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
    if (sscanf(words, "hook %llu %llx %llu", &kind, &a, &b) == 3) {
        Hook *k = hook(a);
        if (k) {
            k->kind = (u8)kind;
            k->mark = (u32)b;
        }
        return k;
    }
    if (sscanf(words, "gc %llx %llu", &a, &b) == 2) {
        trace_from = a - RAM_CACHED;
        trace_bytes = b;
        watching = b > 0;
        return true;
    }
    if (sscanf(words, "top %llx", &a) == 1) {
        top_at = a;
        return true;
    }
    if (sscanf(words, "calls %llu", &a) == 1) {
        watching = trace_calls = a;
        if (!a) tell_calls(answer);
        return true;
    }
    if (!strncmp(
            words, "where",
            5)) { // an event that says where the first hart is; everything is in the files then
        end_run();
        emit(MARK, site_of(&board.hart[0]), 0, 0, arena_end());
        return events && !fflush(events) && !fflush(sites);
    }
    if (!strncmp(words, "end", 3)) {
        close_files();
        watching = false;
        trace_bytes = 0;
        for (int i = 0; i < HOOKS; i++)
            if (hooks[i].pc) decoded[(hooks[i].pc - RAM_CACHED) >> 1].op = OP_DECODE;
        memset(hooks, 0, sizeof hooks);
        hooks_n = 0;
        trace_reset();
        return true;
    }
    return false;
}
