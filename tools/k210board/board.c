// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Both harts take turns of QUANTUM instructions of two cycles; only long transfers take time.
#include "board.h"
#include <stdlib.h>

enum { QUANTUM = 1000, LONGEST_SKIP = 40000, SPIN_0 = 64, SPIN_1 = 24, HUNG_ROUNDS = 256 };

enum { MOST_IN = 1 << 16, IDLE_CYCLES = 50000000, CTRL_C = 3, SECONDS_AGAIN = 5 };

enum { MOST_PARTS = 128, STATE_NUMBERS = 14, HART_NUMBERS = 36 };

static u8 in[MOST_IN];

// What a reset leaves.
static struct {
    u64 resets;                  // boots
    u64 idle_cycles;             // that both harts have been idle in one go
    u64 last_frame, cycles_left; // after which Ctrl-C is typed; 0: never
    bool limited;                // it was typed
    bool no_firmware;
    u64 rounds, hung; // of the run loop; where the board hung
} host;

// --- reset and hang ---
// Power on, or a reset by the program: the boot ROM copies the image at 0 of the flash into RAM.
static void board_reset(bool warm) {
    u32 length;
    cycles = 0;
    memset(ram, 0, RAM_SIZE);
    harts_reset();
    trace_reset();
    bus_reset(warm);
    host.resets++;
    reset_wanted = false;
    memcpy(&length, flash_chip + 1, 4);
    host.no_firmware = flash_chip[0] > 1 || !length || length > KPU_RAM;
    if (!host.no_firmware)
        memcpy(ram, flash_chip + 5, length);
}

// The first hart spins or waits with all interrupts off: so the firmware ends after a crash.
static bool board_hangs(void) {
    const Hart *h = &harts[0];
    return (h->spinning && !(h->csr[MSTATUS] & INTERRUPTS_ON)) || (h->waiting && !h->csr[MIE]);
}

// --- time ---
// Runs a hart for a quantum; true when it is idle: it waits for an interrupt or spins.
static bool turn(Hart *h, bool try_spin) {
    h->reserved = 0;
    for (s64 left = QUANTUM; left > 0 && !reset_wanted; left -= hart_run(h, left)) {
        s64 used = 0;
        hart_interrupt(h);
        if (h->waiting)
            return true;
        if (h->id == 1 || h->spinning || try_spin)
            h->spinning = hart_spins(h, h->id == 1 ? SPIN_1 : SPIN_0, &used);
        left -= used;
        if (h->spinning)
            return true;
        if (left <= 0 || dma_moved)
            break;
    }
    return false;
}

// Types Ctrl-C when the program has had its frames or its time, and again for one that goes on.
static void check_limits(u64 passed) {
    bool timed_out = host.cycles_left && host.cycles_left <= passed;
    if (timed_out || (host.last_frame && camera_frames() >= host.last_frame)) {
        uarths_type(CTRL_C);
        host.last_frame = 0;
        host.cycles_left = SECONDS_AGAIN * cpu_hertz();
        host.limited = true;
    } else if (host.cycles_left) {
        host.cycles_left -= passed;
    }
}

// A quantum of each hart; true when both are idle.
static bool one_round(void) {
    host.rounds++;
    bool idle0 = turn(&harts[0], host.rounds % 16 == 1);
    bool idle1 = turn(&harts[1], false), idle = idle0 && idle1;
    if (reset_wanted)
        return false;
    u64 before = cycles;
    cycles += (u64)QUANTUM * CYCLES_PER_INSTRUCTION + dma_moved;
    if (idle) { // nobody has anything to do until the next event: time jumps there
        u64 next = bus_next(cycles + LONGEST_SKIP);
        if (next > cycles)
            cycles = next;
    }
    host.idle_cycles = idle ? host.idle_cycles + cycles - before : 0;
    check_limits(cycles - before);
    bus_tick();
    host.hung = board_hangs() ? host.hung + 1 : 0;
    return idle;
}

// --- parts ---
typedef struct {
    void *at;
    u64 size;
} Part;

static Part parts[MOST_PARTS];
static u32 parts_n;

static void add_part(void *at, u64 size) {
    if (!size)
        return;
    if (parts_n == MOST_PARTS)
        abort();
    parts[parts_n++] = (Part){at, size};
}

static void find_parts(void) {
    Part fixed[STATE] = {
        [RAM] = {ram, sizeof ram},
        [FLASH] = {flash_chip, sizeof flash_chip},
        [CARD] = {sd_card, sd_size},
        [FILM] = {film, film_size},
        [IN] = {in, sizeof in},
        [OUT] = {serial_out.byte, sizeof serial_out.byte},
        [EVENT] = {events.item, sizeof events.item},
        [SAID] = {said.text, sizeof said.text},
        [PIXELS] = {lcd_pixels(), LCD_H * LCD_W * sizeof(u16)},
        [SEEN] = {live_seen(), RAM_SIZE},
    };
    memcpy(parts, fixed, sizeof fixed);
    parts_n = STATE;
    add_part(&cycles, sizeof cycles);
    add_part(&host, sizeof host);
    bus_parts(add_part);
    hart_parts(add_part);
    trace_parts(add_part);
}

static Part part(u32 which) {
    parts[SEEN].at = live_seen();
    return which < parts_n ? parts[which] : (Part){NULL, 0};
}

void *k_place(u32 which) { return part(which).at; }

u32 k_size(u32 which) { return (u32)part(which).size; }

u32 k_parts(void) { return parts_n; }

void k_forget(void) { hart_forget_code(); }

// --- what the host calls ---
void k_new(u32 card_bytes, u32 film_bytes) {
    free(sd_card);
    free(film);
    sd_size = card_bytes;
    film_size = film_bytes;
    sd_card = card_bytes ? calloc(1, card_bytes) : NULL;
    film = film_bytes ? calloc(1, film_bytes) : NULL;
    memset(flash_chip, 0xff, FLASH_SIZE);
    memset(&host, 0, sizeof host);
    bus_start(DEVICES, DEVICES_N);
    harts_start();
    trace_new();
    find_parts();
}

bool k_start(void) {
    board_reset(false);
    return !host.no_firmware;
}

u32 k_type(u32 n) {
    u32 i = 0;
    while (i < n && i < MOST_IN && uarths_type(in[i]))
        i++;
    return i;
}

static u32 to_be_seen(bool idle) {
    u32 why = 0;
    if (serial_out.n && (idle || serial_out.n > MOST_OUT / 2))
        why |= OUTPUT;
    if (events.n > EVENTS / 2)
        why |= TRACED;
    if (reset_wanted)
        why |= RESET;
    if (host.hung && (idle || host.hung > HUNG_ROUNDS))
        why |= HANGS;
    return why;
}

u32 k_run(u32 rounds) {
    while (rounds-- && !host.no_firmware) {
        dma_moved = 0;
        u32 why = to_be_seen(one_round());
        u64 long_blocks = dma_moved / QUANTUM; // take as much of the host as so many rounds
        rounds -= long_blocks < rounds ? (u32)long_blocks : rounds;
        if (reset_wanted)
            board_reset(true);
        if (why)
            return why;
    }
    bool idle = !uarths_typed() && host.idle_cycles > IDLE_CYCLES;
    return (idle ? IDLE : 0) | (host.no_firmware ? NO_FIRMWARE : 0);
}

static u32 take_all(u32 *n) {
    u32 all = *n;
    *n = 0;
    return all;
}

u32 k_took_out(void) { return take_all(&serial_out.n); }

u32 k_took_events(void) { return take_all(&events.n); }

u32 k_took_said(void) { return take_all(&said.n); }

void k_limit(u32 frames, u64 microseconds) {
    host.last_frame = frames ? camera_frames() + frames : 0;
    host.cycles_left = scaled(microseconds, cpu_hertz(), 1000000);
    host.limited = false;
}

u64 *k_state(void) {
    static u64 state[STATE_NUMBERS + HARTS * HART_NUMBERS];
    LcdDrawn drawn = lcd_drawn();
    const u64 all[STATE_NUMBERS] = {
        harts[0].instructions + harts[1].instructions,
        scaled(cycles, 1000000, cpu_hertz()),
        scaled(host.idle_cycles, 1000000, cpu_hertz()),
        camera_frames(),
        trace_inputs(),
        drawn.pixels,
        host.resets,
        uarths_typed(),
        board_hangs(),
        host.limited,
        drawn.right,
        drawn.bottom,
        events.lost,
        cycles,
    };
    memcpy(state, all, sizeof all);
    u64 *to = state + STATE_NUMBERS;
    for (const Hart *h = harts; h < harts + HARTS; h++) {
        *to++ = h->csr[MEPC];
        *to++ = h->csr[MCAUSE];
        *to++ = h->csr[MBADADDR];
        *to++ = h->pc;
        memcpy(to, h->x, 32 * sizeof *to);
        to += 32;
    }
    return state;
}

void k_trace(u64 top, u64 table, u64 bytes) { trace_start(top, table, bytes); }

bool k_hook(u64 pc, u32 kind) { return trace_hook_at(pc, (u8)kind); }

void k_live(u64 state, u64 books, u64 threads) { live_start(state, books, threads); }

void k_guard(u64 base, u64 top) { guard_start(base, top); }

void k_where(void) { trace_where(); }

void k_untrace(void) { trace_end(); }
