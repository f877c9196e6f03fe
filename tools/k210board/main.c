// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A Kendryte K210 board in software: takes open files for RAM, flash, SD card, serial and control
// line, and runs.
//   k210board --ram FD --flash FD [--sd FD] [--serial FD] [--control FD] [--camera
//   pattern|FILE.ppm]
//             [--serial-speedup N] [--real-time]
// Both harts take turns of QUANTUM instructions; an instruction is two cycles; device transfers
// take no time.
#include "board.h"
#include "trace.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { QUANTUM = 1000, LONGEST_SKIP = 40000, PATIENCE_MS = 1000 };

Board board;
u8 *ram;
bool reset_wanted, pause_soon, limited;
u64 idle_cycles, last_frame, cycles_left;
static int serial_fd = -1;
static bool real_time;

// --- the serial line ---

static u8 out[1 << 16];
static size_t out_n;

// What nobody reads within a second is lost, as on a wire.
static void serial_flush(void) {
    size_t done = 0;
    while (done < out_n && serial_fd >= 0) {
        ssize_t n = write(serial_fd, out + done, out_n - done);
        if (n > 0) {
            done += (size_t)n;
            continue;
        }
        struct pollfd p = {serial_fd, POLLOUT, 0};
        if ((errno != EAGAIN && errno != EINTR) || poll(&p, 1, PATIENCE_MS) <= 0) break;
    }
    out_n = 0;
}

void serial_out(u8 c) {
    out[out_n++] = c;
    if (out_n == sizeof out) serial_flush();
}

static void serial_poll(void) {
    u8 b[4096];
    size_t room = SERIAL_QUEUE - board.typed_n;
    if (serial_fd < 0 || !room) return;
    if (out_n) serial_flush();
    ssize_t n = read(serial_fd, b, room < sizeof b ? room : sizeof b);
    for (ssize_t i = 0; i < n; i++)
        board.typed[(board.typed_at + board.typed_n++) % SERIAL_QUEUE] = b[i];
}

// --- reset and hang ---

// Power on, or a reset by the program: the boot ROM copies the image at 0 of the flash into RAM.
void board_reset(bool warm) {
    static u8 typed[SERIAL_QUEUE];
    u64 resets = board.resets + 1;
    u32 at = board.typed_at, n = board.typed_n;
    u32 frames = board.camera.frames;
    u8 status = board.flash.status[1]; // its quad bit does not forget
    memcpy(typed, board.typed, sizeof typed);
    memset(&board, 0, sizeof board);
    memcpy(board.typed, typed, sizeof typed);
    board.typed_at = at;
    board.typed_n = n;
    board.resets = resets;
    board.camera.frames = frames;
    board.flash.status[1] = status;
    clocks_reset(warm);
    dma_reset();
    for (int i = 0; i < HARTS; i++) {
        board.mtimecmp[i] = ~0ull >> 1;
        board.hart[i].id = i;
        board.hart[i].pc = RAM_CACHED;
        board.hart[i].mstatus = 0x1800;
    }
    u32 length;
    memcpy(&length, flash_chip + 1, 4);
    if (flash_chip[0] > 1 || !length || length > KPU_RAM) {
        fprintf(
            stderr,
            "k210board: no firmware at 0x000000 of the flash: the boot ROM would find nothing\n");
        exit(2);
    }
    memset(ram, 0, RAM_SIZE);
    memcpy(ram, flash_chip + 5, length);
    cpu_forget();
    trace_reset();
    reset_wanted = false;
}

// The first hart can do nothing more: it spins or waits with all interrupts off. So the firmware
// ends after a crash.
bool board_hangs(void) {
    const Hart *h = &board.hart[0];
    return (h->spinning && !(h->mstatus & 8)) || (h->waiting && !h->mie);
}

// --- time ---

static u64 host_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

// Runs a hart for a quantum; true when it is idle: waits for an interrupt, or spins without leaving
// a mark.
static bool turn(Hart *h, bool look) {
    s64 left = QUANTUM;
    h->has_reserved = false;
    while (left > 0 && !reset_wanted) {
        hart_interrupt(h);
        if (h->waiting) return true;
        if (h->id == 1 || h->spinning || look) {
            s64 used;
            h->spinning = hart_spins(h, h->id == 1 ? 24 : 64, &used);
            left -= used;
            if (h->spinning) return true;
            if (left <= 0) break;
        }
        left -= hart_run(h, left);
    }
    return false;
}

static u64 next_event(void) {
    u64 next = ~0ull;
    if (camera_there) next = board.camera.next;
    if (board.typed_n && board.uarths.fifo_n < 8) next = board.uarths.next;
    next = timer_next(next);
    for (int i = 0; i < HARTS; i++) {
        u64 t = board.mtimecmp[i];
        if (t < 1ull << 57 && t * CPU_PER_MTIME < next && t * CPU_PER_MTIME > board.cycles)
            next = t * CPU_PER_MTIME;
    }
    return next;
}

// Nobody has anything to do until the next event: time jumps there.
static void skip_idle_time(void) {
    u64 next = next_event(), most = board.cycles + LONGEST_SKIP;
    next = next > most ? most : next;
    if (next > board.cycles) board.cycles = next;
}

// Sleeps while the board's clock is ahead of the host's.
static void keep_real_time(void) {
    static u64 ns, cycles;
    if (!ns || board.cycles < cycles) {
        ns = host_ns();
        cycles = board.cycles;
    }
    double ahead = (double)(board.cycles - cycles) / cpu_hertz() * 1e9 - (double)(host_ns() - ns);
    if (ahead < -1e7) {
        ns = 0;
    } else if (ahead > 1e6) {
        struct pollfd p[2] = {{serial_fd, POLLIN, 0}, {control_fd, POLLIN, 0}};
        poll(p, 2, ahead > 5e6 ? 5 : 1);
        serial_poll();
        if (board.typed_n) ns = 0;
    }
}

static void host_poll(void) {
    serial_poll();
    control_poll();
    while ((paused || board_hangs()) && !quit && !reset_wanted) {
        struct pollfd p = {control_fd, POLLIN, 0};
        serial_poll();
        serial_flush();
        poll(&p, 1, control_fd < 0 ? 100 : 1000);
        control_poll();
        if (!paused && !board_hangs()) break;
    }
    if (pause_soon) {
        pause_soon = false;
        paused = true;
    }
}

static void interrupt_program(void) {
    board.typed[(board.typed_at + board.typed_n++) % SERIAL_QUEUE] = 3;
    last_frame = cycles_left = 0;
    limited = true;
}

// The program has had its frames or its time.
static void check_limits(u64 passed) {
    bool timed_out = cycles_left && cycles_left <= passed;
    if (timed_out || (last_frame && board.camera.frames >= last_frame)) interrupt_program();
    else if (cycles_left) cycles_left -= passed;
}

static void run(void) {
    for (u64 round = 1; !quit; round++) {
        bool idle0 = turn(&board.hart[0], (round & 15) == 1), idle1 = turn(&board.hart[1], false);
        bool idle = idle0 && idle1;
        if (reset_wanted) {
            board_reset(true);
            continue;
        }
        u64 before = board.cycles;
        board.cycles += (u64)QUANTUM * CYCLES_PER_INSTRUCTION;
        if (idle) skip_idle_time();
        idle_cycles = idle ? idle_cycles + board.cycles - before : 0;
        check_limits(board.cycles - before);
        uarths_tick();
        timer_tick();
        camera_tick();
        static u32 since;
        if ((round & 255) == 0 || pause_soon || (idle && ((++since & 15) == 0 || board_hangs())))
            host_poll();
        if (idle && real_time && !board.typed_n) keep_real_time();
    }
}

// --- start ---

static u8 *map(int fd, size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        perror("k210board: mmap");
        exit(2);
    }
    return p;
}

static bool option(const char *name, const char *value) {
    int fd = atoi(value);
    if (!strcmp(name, "--ram")) {
        ram = map(fd, RAM_SIZE);
    } else if (!strcmp(name, "--flash")) {
        flash_chip = map(fd, FLASH_SIZE);
    } else if (!strcmp(name, "--sd")) {
        struct stat s;
        sd_size = fstat(fd, &s) ? 0 : (u64)s.st_size & ~511ull;
        sd_card = map(fd, sd_size);
    } else if (!strcmp(name, "--serial")) {
        serial_fd = fd;
    } else if (!strcmp(name, "--control")) {
        control_fd = fd;
    } else if (!strcmp(name, "--serial-speedup")) {
        serial_speedup = fd > 0 ? fd : 1;
    } else if (!strcmp(name, "--real-time")) {
        real_time = fd;
    } else if (!strcmp(name, "--camera")) {
        return camera_open(value) == 0;
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i += 2)
        if (i + 1 == argc || !option(argv[i], argv[i + 1])) {
            fprintf(stderr, "k210board: %s: unknown, or its file cannot be used\n", argv[i]);
            return 2;
        }
    if (!ram || !flash_chip) {
        fprintf(stderr, "k210board: --ram FD and --flash FD are needed\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    cpu_start();
    board_reset(false);
    run();
    serial_flush();
    return 0;
}
