// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A Kendryte K210 board as a library: no file, no clock, no thread, nothing imported. Facts: K210
// datasheet v0.1.5, headers and drivers of kendryte-standalone-sdk 7fdb511.
//
//   board.c    what the host calls (k_*), reset, rounds of time
//     |
//   trace/     what the profiler sees: events, Python lines, what is in use, damage
//     |
//   hart/      two RV64GC harts: instructions, floating point, traps
//     |
//   devices/   one file a device, one row a device in devices.def
//     |
//   bus        who answers at which address; what a device is
//     |
//   ram        the RAM, the clock, types
//
// A layer includes and calls only those below it (a test compares this picture with the files).
// Three calls go up, through pointers: a device's functions (Device, bus.h) by the table that
// bus_start is given; bus_watcher (bus.h) before a store that is watched, and hart_hook (hart.h)
// at a breakpoint, both set by trace_new.
#pragma once

#include "trace/trace.h"

#if defined(__wasm__)
#define API(name) __attribute__((export_name(#name)))
#else
#define API(name) __attribute__((visibility("default")))
#endif

// Once, or for another board: sizes of the card and of the film, 0 for none.
API(k_new) void k_new(u32 card_bytes, u32 film_bytes);

// What the host reads and writes, at which place, how many bytes. IN: what k_type takes; OUT,
// EVENT, SAID: what k_took_* tell the number of; PIXELS: LCD_H rows of LCD_W, 16 bits each; SEEN:
// the RAM that the fullest look at the GC heap followed, the registers at its beginning. From
// STATE on, k_parts() - STATE parts: with RAM, FLASH and CARD all that a board is.
enum { RAM, FLASH, CARD, FILM, IN, OUT, EVENT, SAID, PIXELS, SEEN, STATE };

API(k_place) void *k_place(u32 part);
API(k_size) u32 k_size(u32 part);
API(k_parts) u32 k_parts(void);
API(k_forget) void k_forget(void); // after parts were put back

// Power on; false when there is no firmware in the flash.
API(k_start) bool k_start(void);
// Takes so many bytes of IN; how many there was room for.
API(k_type) u32 k_type(u32 n);

// So many rounds of a quantum for each hart, or until something is to be seen; why it came back.
enum { IDLE = 1, HANGS = 2, OUTPUT = 4, TRACED = 8, RESET = 16, NO_FIRMWARE = 32 };

API(k_run) u32 k_run(u32 rounds);
// How many there are; the bytes at the place stay until the next run.
API(k_took_out) u32 k_took_out(void);
API(k_took_events) u32 k_took_events(void);
API(k_took_said) u32 k_took_said(void);
// Ctrl-C after so many pictures and so much time of the board's clock; 0: never.
API(k_limit) void k_limit(u32 frames, u64 microseconds);
// Numbers of 64 bits, in the order of _STATE and _HART in board.py.
API(k_state) u64 *k_state(void);

// The profiler's orders, see trace.h.
API(k_trace) void k_trace(u64 top, u64 table, u64 bytes);
API(k_hook) bool k_hook(u64 pc, u32 kind);
API(k_live) void k_live(u64 state, u64 books, u64 threads);
API(k_guard) void k_guard(u64 base, u64 top);
API(k_where) void k_where(void);
API(k_untrace) void k_untrace(void);
