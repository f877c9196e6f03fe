// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Calls that each hart is in, as breakpoints tell of them. Source: py/bc.c of MicroPython 1.11.
#include "trace.h"

enum { DEPTH = 512, NEAR = 1 << 18, SITES = 1 << 16, SITES_FULL = ~0u };

enum { VALUES = 40, NO_MORE = 255 }; // of a mp_code_state_t; behind the numbers of variables

typedef struct {
    u64 sp, state; // C stack and mp_code_state_t of bytecode that runs
    bool cells;    // the call made some, nothing was allocated since
} Frame;

typedef struct {
    Frame frame[DEPTH]; // highest stack pointer first; threads have stacks apart
    int frames;
    Call allocator; // the outermost call of it
    Call collector;
} Followed;

static struct {
    Followed followed[HARTS];

    struct {
        u64 hash, number;
    } site[SITES];

    u32 sites;
} state;

void calls_parts(AddPart *add) { add(&state, sizeof state); }

void calls_start(void) { memset(&state, 0, sizeof state); }

void calls_reset(void) { memset(state.followed, 0, sizeof state.followed); }

bool calls_hook_return(u64 back) {
    u8 *at = hart_breakpoint(back);
    if (at)
        *at |= RETURNS;
    return at;
}

// Called at or below that stack pointer, on the same stack.
static bool below(u64 sp, u64 other) { return sp <= other && other - sp < NEAR; }

// How many frames are above a stack pointer or there.
static int above(const Followed *f, u64 sp) {
    int n = f->frames;
    while (n && f->frame[n - 1].sp < sp)
        n--;
    return n;
}

// --- what is in front of bytecode ---
typedef struct {
    const u8 *names, *stop; // of file and name, then lines; behind them the cells' variables
    u64 slots, code;        // of values; bytes of bytecode up to where it is, from `stop` on
} Prelude;

static u64 var_uint(const u8 **at) {
    u64 v = 0;
    u8 byte;
    do {
        byte = *(*at)++;
        v = v << 7 | (byte & 0x7f);
    } while (byte & 0x80);
    return v;
}

// mp_bytecode_print and mp_obj_exception_add_traceback. False: this is no code state.
static bool prelude_of(u64 code_state, Prelude *p) {
    enum { MOST_CODE = 1 << 20, FLAGS_AND_ARGUMENTS = 4 };

    u64 start = bus_word(bus_word(code_state) + 16), code = bus_word(code_state + 8) - start;
    const u8 *const begin = ram_at(start, code), *at = begin;
    if (!at || code < 12 || code > MOST_CODE)
        return false;
    p->slots = var_uint(&at);
    var_uint(&at);
    at += FLAGS_AND_ARGUMENTS;
    u64 info = (u64)(at - begin), size = var_uint(&at);
    if (size < 5 || size > code - info)
        return false;
    p->names = at;
    p->stop = begin + info + size;
    p->code = code - info - size;
    return true;
}

// --- cells ---
// The variables that functions inside share, as mp_setup_code_state has them: numbers, then 255.
// Whether bytecode is at its first instruction, and has some.
static bool begins_with_cells(u64 code_state) {
    Prelude p;
    if (!prelude_of(code_state, &p) || p.code < 2 || *p.stop == NO_MORE)
        return false;
    for (u64 i = 0; i < p.code; i++)
        if (p.stop[i] == NO_MORE)
            return i + 1 == p.code;
    return false;
}

void calls_allocate(const Hart *h, u32 site) {
    Followed *f = &state.followed[h->id];
    Frame *at = f->frame + above(f, h->x[2]) - 1;
    Prelude p;
    if (at < f->frame || !at->cells || !prelude_of(at->state, &p))
        return;
    at->cells = false;
    for (const u8 *variable = p.stop; *variable != NO_MORE; variable++)
        events_add(CELL, site, bus_word(at->state + VALUES + 8 * (p.slots - 1 - *variable)), 0, 0);
}

// --- bytecode ---
void calls_enter_bytecode(const Hart *h) {
    Followed *f = &state.followed[h->id];
    if (f->frames == DEPTH || !calls_hook_return(h->x[1]))
        return;
    Frame *at = f->frame + above(f, h->x[2]);
    memmove(at + 1, at, (size_t)(f->frame + f->frames - at) * sizeof *at);
    f->frames++;
    *at = (Frame){h->x[2], h->x[10], begins_with_cells(h->x[10])};
}

// The exception is the first value of the mp_code_state_t (py/vm.c, py/objexcept.h): its type, how
// many arguments it has, the first.
static void add_raised(u64 code_state) {
    u64 error = bus_word(code_state + VALUES), arguments = bus_word(error + 24);
    events_add(RAISED, 0, bus_word(error), bus_word(arguments + 8), bus_word(arguments + 16));
}

void calls_leave_bytecode(const Hart *h) {
    enum { RETURN_EXCEPTION = 2 }; // MP_VM_RETURN_EXCEPTION

    Followed *f = &state.followed[h->id];
    Frame *at = f->frame + above(f, h->x[2]) - 1;
    if (at < f->frame || at->sp != h->x[2])
        return;
    u64 code_state = at->state;
    f->frames--;
    memmove(at, at + 1, (size_t)(f->frame + f->frames - at) * sizeof *at);
    if (!f->frames && h->x[10] == RETURN_EXCEPTION)
        add_raised(code_state);
}

// --- exceptions ---
static u64 ram_word(u64 at) { return ram_at(at, 8) ? bus_word(at) : 0; }

// The exception of the firmware in an object that is raised: of a class in Python (its type lies
// in the GC heap) the one that it was made from, behind its attributes (py/objtype.h).
static u64 of_firmware(u64 error) {
    u64 in_heap = ram_word(error) - RAM_CACHED;
    return in_heap < RAM_SIZE && in_heap >= watched.from ? ram_word(error + 32) : error;
}

// The bytes of a str (py/objstr.h), three words an event.
static void add_text(u64 text) {
    enum { MOST = 240 };

    u64 size = ram_word(text + 16);
    const u8 *const at = ram_at(ram_word(text + 24), size);
    if (!at || size > RAM_SIZE)
        return;
    for (u64 i = 0; i < size && i < MOST; i += 3 * sizeof(u64)) {
        u64 w[3] = {0};
        memcpy(w, at + i, size - i < sizeof w ? size - i : sizeof w);
        events_write(
            (Event){.kind = TEXT, .site = (u32)ram_word(text), .a = w[0], .b = w[1], .c = w[2]});
    }
}

// nlr_jump() of py/nlr.h: the object, the name of its type (py/obj.h, mp_obj_type_t) and where
// flash was read last, its first argument.
void calls_thrown(const Hart *h) {
    u64 error = h->x[10], arguments = ram_word(of_firmware(error) + 24);
    u64 name = ram_word(ram_word(error) + 8) >> 16 & 0xffff, number = ram_word(arguments + 8);
    u64 first = number ? ram_word(arguments + 16) : 0, flash = flash_read_from();
    events_add(THROWN, site_of(h), error, name | flash << 32, first);
    if (first && !(first & 7))
        add_text(first);
}

// --- the allocator and the collector ---
static bool ends_at(const Call *call, const Hart *h, u64 pc) {
    return call->back == pc && call->sp == h->x[2];
}

void calls_enter_allocator(const Hart *h, u32 kind) {
    Call *call = &state.followed[h->id].allocator;
    u64 sp = h->x[2], back = h->x[1];
    bool nested = call->back && sp < call->sp && below(sp, call->sp);
    if (nested || !calls_hook_return(back))
        return;
    *call = (Call){back, sp, h->x[11], h->x[12], kind, site_of(h)};
}

bool calls_leave_allocator(const Hart *h, u64 pc, Call *done) {
    Call *call = &state.followed[h->id].allocator;
    if (!ends_at(call, h, pc))
        return false;
    *done = *call;
    call->back = 0;
    return true;
}

bool calls_in_allocator(const Hart *h) {
    const Call *call = &state.followed[h->id].allocator;
    return call->back && below(h->x[2], call->sp);
}

void calls_enter_collector(const Hart *h) {
    if (calls_hook_return(h->x[1]))
        state.followed[h->id].collector = (Call){.back = h->x[1], .sp = h->x[2]};
}

bool calls_leave_collector(const Hart *h, u64 pc) {
    Call *call = &state.followed[h->id].collector;
    if (!ends_at(call, h, pc))
        return false;
    call->back = 0;
    return true;
}

// --- the Python lines ---
typedef struct {
    u64 file, name, line; // line 0: it was compiled without
} Place;

// The line of a place so many bytes into the bytecode, from pairs of (bytes of bytecode, lines).
static u64 line_at(u64 code, const u8 *at, const u8 *stop) {
    u64 line = at < stop && *at;
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
        line += lines;
    }
    return line;
}

static bool place_of(u64 code_state, Place *p) {
    enum { FILE_AND_NAME = 4 };

    Prelude of;
    if (!prelude_of(code_state, &of))
        return false;
    p->name = of.names[0] | of.names[1] << 8;
    p->file = of.names[2] | of.names[3] << 8;
    p->line = line_at(of.code, of.names + FILE_AND_NAME, of.stop);
    return true;
}

static u64 hash_of(const Place *places, int n) {
    u64 hash = 14695981039346656037ull;
    for (const Place *p = places; p < places + n; p++)
        hash = (hash ^ (p->name << 48 | p->file << 32 | p->line)) * 1099511628211ull;
    return hash;
}

// Equal stacks have one number; a new one tells its places.
static u32 site_number(const Place *places, int n) {
    u64 hash = hash_of(places, n);
    u32 at = (u32)(hash >> 20) % SITES;
    while (state.site[at].number && state.site[at].hash != hash)
        at = (at + 1) % SITES;
    if (state.site[at].number)
        return (u32)state.site[at].number;
    if (state.sites >= SITES / 2)
        return SITES_FULL;
    state.site[at].hash = hash;
    state.site[at].number = ++state.sites;
    for (const Place *p = places; p < places + n; p++)
        events_write((Event){0, PLACE, state.sites, p->file, p->name, p->line});
    return state.sites;
}

// A site is a stack of places, the innermost first.
u32 site_of(const Hart *h) {
    const Followed *f = &state.followed[h->id];
    Place places[DEPTH];
    int n = 0;
    u64 sp = h->x[2];
    for (int i = above(f, sp) - 1; i >= 0 && below(sp, f->frame[i].sp); i--)
        n += place_of(f->frame[i].state, &places[n]);
    return n ? site_number(places, n) : 0;
}

Hart calls_in_python(const Hart *h) {
    const Followed *f = &state.followed[h->id];
    Hart there = *h;
    if (f->frames && !above(f, h->x[2]))
        there.x[2] = f->frame[f->frames - 1].sp;
    return there;
}
