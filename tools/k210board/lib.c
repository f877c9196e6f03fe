// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A Kendryte K210 board as a library: no file, no clock, no thread, nothing imported. The host
// fills the flash, calls k_start, then k_run again and again, and reads what it wants in between.
// Both harts take turns of QUANTUM instructions of two cycles; only long transfers take time.
#include "board.h"
#include <stdarg.h>
#include <stdlib.h>

#if defined(__wasm__)
#define API(name) __attribute__((export_name(#name)))
#else
#define API(name) __attribute__((visibility("default")))
#endif
enum { QUANTUM = 1000, LONGEST_SKIP = 40000, SPIN_0 = 64, SPIN_1 = 24, HUNG_ROUNDS = 256 };

enum { MOST_IN = 1 << 16, MOST_OUT = 1 << 16, MOST_SAID = 4096, IDLE_CYCLES = 50000000 };

Board board;
Host host;
static u8 in[MOST_IN], out[MOST_OUT];
static char said[MOST_SAID];
static u32 out_n, said_n;

void serial_out(u8 c) {
    if (out_n < MOST_OUT)
        out[out_n++] = c;
}

// --- words ---
static void put(char c) {
    if (said_n < MOST_SAID)
        said[said_n++] = c;
}

static void put_number(u64 v, u32 base) {
    if (v >= base)
        put_number(v / base, base);
    put("0123456789abcdef"[v % base]);
}

void say(const char *words, ...) {
    va_list values;
    va_start(values, words);
    for (; *words; words++) {
        if (*words != '%') {
            put(*words);
        } else if (*++words == 's') {
            for (const char *s = va_arg(values, const char *); *s; s++)
                put(*s);
        } else {
            put_number(va_arg(values, u64), *words == 'x' ? 16 : 10);
        }
    }
    va_end(values);
}

// --- reset and hang ---
// Power on, or a reset by the program: the boot ROM copies the image at 0 of the flash into RAM.
static void board_reset(bool warm) {
    u32 length;
    memset(&board, 0, sizeof board);
    memset(ram, 0, RAM_SIZE);
    cpu_forget();
    trace_reset();
    host.resets++;
    host.reset_wanted = false;
    bus_reset(warm);
    for (int i = 0; i < HARTS; i++)
        hart_reset(&board.hart[i], i);
    memcpy(&length, flash_chip + 1, 4);
    host.no_firmware = flash_chip[0] > 1 || !length || length > KPU_RAM;
    if (!host.no_firmware)
        memcpy(ram, flash_chip + 5, length);
}

// The first hart spins or waits with all interrupts off: so the firmware ends after a crash.
static bool board_hangs(void) {
    const Hart *h = &board.hart[0];
    return (h->spinning && !(h->csr[MSTATUS] & 8)) || (h->waiting && !h->csr[MIE]);
}

// --- time ---
// Runs a hart for a quantum; true when it is idle: it waits for an interrupt or spins.
static bool turn(Hart *h, bool look) {
    h->reserved = 0;
    for (s64 left = QUANTUM; left > 0 && !host.reset_wanted; left -= hart_run(h, left)) {
        s64 used = 0;
        hart_interrupt(h);
        if (h->waiting)
            return true;
        if (h->id == 1 || h->spinning || look)
            h->spinning = hart_spins(h, h->id == 1 ? SPIN_1 : SPIN_0, &used);
        left -= used;
        if (h->spinning)
            return true;
        if (left <= 0 || host.moved)
            break;
    }
    return false;
}

// Types Ctrl-C when the program has had its frames or its time, and again for one that goes on.
static void check_limits(u64 passed) {
    bool timed_out = host.cycles_left && host.cycles_left <= passed;
    if (timed_out || (host.last_frame && host.frames >= host.last_frame)) {
        PUT(host.typed, 3);
        host.last_frame = 0;
        host.cycles_left = 5 * cpu_hertz();
        host.limited = true;
    } else if (host.cycles_left) {
        host.cycles_left -= passed;
    }
}

// A quantum of each hart; true when both are idle.
static bool one_round(void) {
    bool idle0 = turn(&board.hart[0], (++host.rounds & 15) == 1);
    bool idle1 = turn(&board.hart[1], false), idle = idle0 && idle1;
    if (host.reset_wanted)
        return false;
    u64 before = board.cycles;
    board.cycles += (u64)QUANTUM * CYCLES_PER_INSTRUCTION + host.moved;
    if (idle) { // nobody has anything to do until the next event: time jumps there
        u64 next = bus_next(board.cycles + LONGEST_SKIP);
        if (next > board.cycles)
            board.cycles = next;
    }
    host.idle_cycles = idle ? host.idle_cycles + board.cycles - before : 0;
    check_limits(board.cycles - before);
    bus_tick();
    host.hung = board_hangs() ? host.hung + 1 : 0;
    return idle;
}

// --- what the host calls ---
// Once, or for another board: sizes of the card and of the film, 0 for none.
API(k_new) void k_new(u32 card_bytes, u32 film_bytes) {
    free(sd_card), free(film);
    sd_size = card_bytes, film_size = film_bytes;
    sd_card = card_bytes ? calloc(1, card_bytes) : NULL;
    film = film_bytes ? calloc(1, film_bytes) : NULL;
    memset(flash_chip, 0xff, FLASH_SIZE);
    memset(&host, 0, sizeof host);
    trace_end();
    cpu_start();
}

// What the host may look at: where it is, how many bytes. IN: what k_type takes; OUT, EVENT, SAID:
// what k_took_* tell the number of; PIXELS: LCD_H rows of LCD_W, 16 bits each.
// SEEN: the RAM that the fullest look at the GC heap followed, the registers at its beginning.
enum { RAM, FLASH, CARD, FILM, IN, OUT, EVENT, SAID, PIXELS, BOARD, HOST, TRACE, SEEN };

typedef struct {
    void *at;
    u64 size;
} Part;

static Part part(u32 what) {
    const Part all[] = {[RAM] = {ram, sizeof ram},
                        [FLASH] = {flash_chip, sizeof flash_chip},
                        [CARD] = {sd_card, sd_size},
                        [FILM] = {film, film_size},
                        [IN] = {in, sizeof in},
                        [OUT] = {out, sizeof out},
                        [EVENT] = {events.item, sizeof events.item},
                        [SAID] = {said, sizeof said},
                        [PIXELS] = {board.lcd.pixel, sizeof board.lcd.pixel},
                        [BOARD] = {&board, sizeof board},
                        [HOST] = {&host, sizeof host},
                        [TRACE] = {trace_state(), trace_state_size()},
                        [SEEN] = {live_seen(), RAM_SIZE}};
    return what <= SEEN ? all[what] : (Part){NULL, 0};
}

API(k_place) void *k_place(u32 what) { return part(what).at; }

API(k_size) u32 k_size(u32 what) { return (u32)part(what).size; }

// Power on; false when there is no firmware in the flash.
API(k_start) bool k_start(void) { return board_reset(false), !host.no_firmware; }

// After parts were put back: RAM, FLASH, CARD, BOARD, HOST and TRACE are all that a board is.
API(k_forget) void k_forget(void) { cpu_forget(); }

// So many bytes of IN; how many there was room for.
API(k_type) u32 k_type(u32 n) {
    u32 i = 0;
    for (; i < n && i < MOST_IN && host.typed.n < ROOM(host.typed); i++)
        PUT(host.typed, in[i]);
    return i;
}

// So many rounds of a quantum for each hart, or until something is to be seen; why it came back.
enum { IDLE = 1, HANGS = 2, OUTPUT = 4, TRACED = 8, RESET = 16, NO_FIRMWARE = 32 };

API(k_run) u32 k_run(u32 rounds) {
    while (rounds-- && !host.no_firmware) {
        host.moved = 0;
        bool idle = one_round();
        rounds -= host.moved / QUANTUM < rounds ? (u32)host.moved / QUANTUM : rounds;
        u32 why = (out_n && (idle || out_n > MOST_OUT / 2) ? OUTPUT : 0) |
                  (events.n > EVENTS / 2 ? TRACED : 0) | (host.reset_wanted ? RESET : 0) |
                  (host.hung && (idle || host.hung > HUNG_ROUNDS) ? HANGS : 0);
        if (host.reset_wanted)
            board_reset(true);
        if (why)
            return why;
    }
    return (!host.typed.n && host.idle_cycles > IDLE_CYCLES ? IDLE : 0) |
           (host.no_firmware ? NO_FIRMWARE : 0);
}

// How many there are; the bytes at the place stay until the next run.
static u32 took(u32 *n) {
    u32 there = *n;
    return *n = 0, there;
}

API(k_took_out) u32 k_took_out(void) { return took(&out_n); }

API(k_took_events) u32 k_took_events(void) { return took(&events.n); }

API(k_took_said) u32 k_took_said(void) { return took(&said_n); }

// Ctrl-C after so many pictures and so much time of the board's clock; 0: never.
API(k_limit) void k_limit(u32 frames, u64 microseconds) {
    host.last_frame = frames ? host.frames + frames : 0;
    host.cycles_left = scaled(microseconds, cpu_hertz(), 1000000);
    host.limited = false;
}

API(k_trace) void k_trace(u64 top, u64 table, u64 bytes) { trace_start(top, table, bytes); }

API(k_hook) bool k_hook(u64 pc, u32 kind) { return trace_hook_at(pc, (u8)kind); }

API(k_live) void k_live(u64 state, u64 books, u64 threads) { live_start(state, books, threads); }

API(k_guard) void k_guard(u64 base, u64 top) { guard_start(base, top); }

API(k_where) void k_where(void) { trace_where(); }

API(k_untrace) void k_untrace(void) { trace_end(); }

// Numbers of 64 bits, in the order of _STATE and _HART in board.py.
API(k_state) u64 *k_state(void) {
    static u64 state[14 + HARTS * 36], *to;
    const u64 all[14] = {board.hart[0].instructions + board.hart[1].instructions,
                         scaled(board.cycles, 1000000, cpu_hertz()),
                         scaled(host.idle_cycles, 1000000, cpu_hertz()),
                         host.frames,
                         host.asks,
                         board.lcd.pixels,
                         host.resets,
                         host.typed.n,
                         board_hangs(),
                         host.limited,
                         board.lcd.right,
                         board.lcd.bottom,
                         events.lost,
                         board.cycles};
    memcpy(state, all, sizeof all);
    to = state + 14;
    for (const Hart *h = board.hart; h < board.hart + HARTS; h++) {
        *to++ = h->csr[MEPC], *to++ = h->csr[MCAUSE], *to++ = h->csr[MBADADDR], *to++ = h->pc;
        for (int r = 0; r < 32; r++)
            *to++ = h->x[r];
    }
    return state;
}
