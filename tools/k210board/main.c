// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A Kendryte K210 board in software: takes open files by number (-1: none) and runs.
//   k210board RAM FLASH SERIAL CONTROL SD CAMERA
// Both harts take turns of QUANTUM instructions; an instruction is two cycles; device transfers
// take no time.
#include "board.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { QUANTUM = 1000, LONGEST_SKIP = 40000, PATIENCE_MS = 1000, SPIN_0 = 64, SPIN_1 = 24 };
Board board;
struct Host host;
u8 *ram;
static int serial;

// --- the serial line ---
static u8 out[1 << 16];
static size_t out_n;
// What nobody reads within a second is lost, as on a wire.
static void serial_flush(void) {
    struct pollfd p = {serial, POLLOUT, 0};
    for (size_t done = 0; done < out_n;) {
        ssize_t n = write(serial, out + done, out_n - done);
        done += n > 0 ? (size_t)n : 0;
        if (n <= 0 && ((errno != EAGAIN && errno != EINTR) || poll(&p, 1, PATIENCE_MS) <= 0)) break;
    }
    out_n = 0;
}

void serial_out(u8 c) {
    out[out_n++] = c;
    if (out_n == sizeof out) serial_flush();
}

static void serial_poll(void) {
    u8 b[4096];
    size_t room = ROOM(host.typed) - host.typed.n;
    serial_flush();
    ssize_t n = read(serial, b, room < sizeof b ? room : sizeof b);
    for (ssize_t i = 0; i < n; i++) PUT(host.typed, b[i]);
}

void say(const char *format, ...) {
    va_list words;
    va_start(words, format);
    vfprintf(stderr, format, words);
    va_end(words);
}

// --- reset and hang ---
// Power on, or a reset by the program: the boot ROM copies the image at 0 of the flash into RAM.
static void board_reset(bool warm) {
    if (warm) { // otherwise all of it is new
        memset(&board, 0, sizeof board);
        memset(ram, 0, RAM_SIZE);
        cpu_forget();
        trace_reset();
    }
    host.resets++;
    host.reset_wanted = false;
    clocks_reset(warm);
    dma_reset();
    camera_reset();
    for (int i = 0; i < HARTS; i++) hart_reset(&board.hart[i], i);
    u32 length;
    memcpy(&length, flash_chip + 1, 4);
    if (flash_chip[0] > 1 || !length || length > KPU_RAM) {
        fputs("k210board: no firmware at 0x000000 of the flash: the boot ROM would find nothing\n",
              stderr);
        exit(2);
    }
    memcpy(ram, flash_chip + 5, length);
}

// The first hart can do nothing more: it spins or waits with all interrupts off. So the firmware
// ends after a crash.
bool board_hangs(void) {
    const Hart *h = &board.hart[0];
    return (h->spinning && !(h->csr[MSTATUS] & 8)) || (h->waiting && !h->csr[MIE]);
}

// --- time ---
// Runs a hart for a quantum; true when it is idle: it waits for an interrupt or spins.
static bool turn(Hart *h, bool look) {
    h->reserved = NULL;
    for (s64 left = QUANTUM; left > 0 && !host.reset_wanted; left -= hart_run(h, left)) {
        s64 used = 0;
        hart_interrupt(h);
        if (h->waiting) return true;
        if (h->id == 1 || h->spinning || look)
            h->spinning = hart_spins(h, h->id == 1 ? SPIN_1 : SPIN_0, &used);
        left -= used;
        if (h->spinning) return true;
        if (left <= 0) break;
    }
    return false;
}

// Nobody has anything to do until the next event: time jumps there.
static void skip_idle_time(void) {
    u64 next = board.cycles + LONGEST_SKIP;
    if (film && board.camera.next < next) next = board.camera.next;
    if (host.typed.n && board.received.n < 8 && board.next_byte < next) next = board.next_byte;
    for (int i = 0; i < HARTS; i++) {
        u64 at = board.mtimecmp[i] * CPU_PER_MTIME;
        if (board.mtimecmp[i] < 1ull << 57 && at < next && at > board.cycles) next = at;
    }
    next = timer_next(next);
    if (next > board.cycles) board.cycles = next;
}

static void host_poll(void) {
    struct pollfd p = {host.control, POLLIN, 0};
    serial_poll();
    control_poll();
    while ((host.paused || board_hangs()) && !host.quit && !host.reset_wanted) {
        serial_poll();
        poll(&p, 1, 1000);
        control_poll();
    }
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

static void run(void) {
    u32 idle_rounds = 0;
    for (u64 round = 1; !host.quit; round++) {
        bool idle0 = turn(&board.hart[0], (round & 15) == 1), idle1 = turn(&board.hart[1], false);
        bool idle = idle0 && idle1;
        if (host.reset_wanted) {
            board_reset(true);
            continue;
        }
        u64 before = board.cycles;
        board.cycles += (u64)QUANTUM * CYCLES_PER_INSTRUCTION;
        if (idle) skip_idle_time();
        host.idle_cycles = idle ? host.idle_cycles + board.cycles - before : 0;
        check_limits(board.cycles - before);
        uarths_tick();
        timer_tick();
        camera_tick();
        if ((round & 255) == 0 || (idle && ((++idle_rounds & 15) == 0 || board_hangs())))
            host_poll();
    }
}

// --- start ---
// Maps a file that is open here, all of it; null when it cannot be or is too short.
static u8 *map(const char *fd, u64 least, u64 *size) {
    struct stat s;
    if (fstat(atoi(fd), &s) || (*size = (u64)s.st_size) < least) return NULL;
    void *p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
    return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv) {
    u64 size;
    ram = argc == 7 ? map(argv[1], RAM_SIZE, &size) : NULL;
    flash_chip = argc == 7 ? map(argv[2], FLASH_SIZE, &size) : NULL;
    if (!ram || !flash_chip) {
        fputs("k210board: six files are needed, the RAM's and the flash's of full size\n", stderr);
        return 2;
    }
    serial = atoi(argv[3]);
    host.control = atoi(argv[4]);
    sd_card = map(argv[5], 512, &sd_size);
    film = map(argv[6], 4, &film_size);
    signal(SIGPIPE, SIG_IGN);
    cpu_start();
    board_reset(false);
    run();
    serial_flush();
    return 0;
}
