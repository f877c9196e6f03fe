// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What the profiler sees of a board: events, the Python lines that a hart is in, what of the GC
// heap is in use, what overwrites the allocator's books. Nothing of it costs anything before it is
// started. events.c < calls.c < live.c and guard.c < trace.c: each calls only what is left of it.
#pragma once

#include "../hart/hart.h"

// --- events.c: fixed records, a Python program makes sense of them ---
// MALLOC, FREE, REALLOC: an event at the return; RAISED: an exception ended the outermost Python
// function; ASK: input() is called; FRAME: a function runs bytecode; PLACE: a line of a site that
// is new; JUMP: of the bytecode; LOOK: what is in use follows, as USED, and then, as SLACK, what
// the objects do not fill; from MARK on: another function is called, its number is added; from
// COLLECT on: one that collects; RETURNS: to here. THROWN: an exception is raised, or goes on to
// who called; what it says follows, as TEXT. CELL: of a variable that a function inside shares,
// made by the call, before the function's first line; it is the site's that first allocates there.
enum { MALLOC = 1, FREE, REALLOC, RAISED, ASK, FRAME, PLACE, JUMP, LOOK, USED, DAMAGED };

enum { THROWN = 12, TEXT, SLACK, CELL };

enum { GC_NEW = 16, GC_GROW, GC_FREE, MARK = 32, COLLECT = 64, RETURNS = 128 };

typedef struct {
    u64 time; // instructions of both harts
    u32 kind, site;
    u64 a, b, c;
} Event;

enum { EVENTS = 1 << 16 };

extern struct Events {
    Event item[EVENTS];
    u32 n; // that the host has not taken
    u64 lost;
} events;

void events_start(void); // from now on they are written
void events_end(void);
void events_write(Event e);                               // the time is added
void events_add(u32 kind, u32 site, u64 a, u64 b, u64 c); // after the run
// The run: blocks of the GC heap that changed one after the other, a the first, b how many, of one
// site, in c objects. It is written when something else happens; b is 0 where there is none.
const Event *events_run(void);
void events_begin_run(u32 kind, u32 site, u64 block);
void events_grow_run(bool by_an_object);
void events_end_run(void);
void events_parts(AddPart *add);

// --- calls.c: where a hart is: in which Python lines, in the allocator, in the collector ---
typedef struct {
    u64 back, sp; // where it returns to, with which stack pointer
    u64 a, b;     // its second and third argument
    u32 kind, site;
} Call;

void calls_start(void);
void calls_reset(void); // no call is known any more
void calls_parts(AddPart *add);
bool calls_hook_return(u64 back); // a breakpoint of the kind RETURNS
void calls_enter_bytecode(const Hart *h);
void calls_leave_bytecode(const Hart *h);     // where it is at a return from it
void calls_allocate(const Hart *h, u32 site); // before an object of the GC heap
void calls_thrown(const Hart *h);             // where an exception is raised
void calls_enter_allocator(const Hart *h, u32 kind);
bool calls_leave_allocator(const Hart *h, u64 pc, Call *done);
bool calls_in_allocator(const Hart *h);
void calls_enter_collector(const Hart *h);
bool calls_leave_collector(const Hart *h, u64 pc);
u32 site_of(const Hart *h);          // the stack of Python lines, a number; 0: no Python runs
Hart calls_in_python(const Hart *h); // a copy that is where Python was, if another task runs

// --- live.c: what of the GC heap is in use ---
u8 *live_seen(void);
void live_start(u64 state, u64 books, u64 threads);
void live_allocated(const Hart *h, u32 blocks, bool new);
void live_jump(const Hart *h, u64 at);
void live_collected(const Hart *h, u64 back);

// --- guard.c: what overwrites the allocator's books ---
void guard_start(u64 base, u64 top_at);
void guard_look(void);
void guard_store(const Hart *by, u64 offset, u64 value, int size);

// --- trace.c ---
void trace_new(void);   // another board
void trace_reset(void); // the RAM was loaded anew
void trace_start(u64 top, u64 table, u64 bytes);
bool trace_hook_at(u64 pc, u8 kind);
void trace_where(void);
void trace_end(void);
u32 trace_inputs(void); // calls of input()
void trace_parts(AddPart *add);
