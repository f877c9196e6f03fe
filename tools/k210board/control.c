// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The control line: one order a line, one answer a line ("... ok" or "... no"), from the program
// that started us. In integers, as clocks.c.
#include "board.h"
#include <errno.h>
#include <poll.h>
#include <unistd.h>

static FILE *answer;

static void tell_numbers(const u64 *numbers, int n) {
    for (int i = 0; i < n; i++) fprintf(answer, "%llu ", (unsigned long long)numbers[i]);
}

// In the order of _STATE in board.py.
static bool tell_state(void) {
    const u64 state[] = {
        board.hart[0].instructions + board.hart[1].instructions,
        scaled(board.cycles, 1000000, cpu_hertz()), scaled(host.idle_cycles, 1000000, cpu_hertz()),
        host.frames, host.asks, board.lcd.pixels, host.resets, host.typed.n, board_hangs(),
        host.limited};
    tell_numbers(state, sizeof state / sizeof *state);
    for (const Hart *h = board.hart; h < board.hart + HARTS; h++) {
        const u64 registers[] = {h->csr[MEPC], h->csr[MCAUSE], h->csr[MBADADDR], h->pc};
        tell_numbers(registers, 4);
        tell_numbers(h->x, 32);
    }
    return true;
}

static bool obey(const char *order) {
    unsigned long long frames, microseconds;
    if (!strcmp(order, "state")) return tell_state();
    if (!strcmp(order, "pause")) return host.paused = true;
    if (!strcmp(order, "go")) return !(host.paused = false);
    if (!strncmp(order, "lcd ", 4)) return lcd_save(order + 4);
    if (!strncmp(order, "trace ", 6)) return trace_command(order + 6);
    if (sscanf(order, "limit %llu %llu", &frames, &microseconds) != 2) return false;
    host.last_frame = frames ? host.frames + frames : 0;
    host.cycles_left = scaled(microseconds, cpu_hertz(), 1000000);
    host.limited = false;
    return true;
}

static void answer_order(const char *order) {
    if (!answer) answer = fdopen(host.control, "w");
    fputs(obey(order) ? "ok\n" : "no\n", answer);
    host.quit |= fflush(answer) != 0;
}

// Reads what has come. The line's end is the end of the board: nobody would stop it.
void control_poll(void) {
    static char line[4096];
    static size_t n;
    struct pollfd p = {host.control, POLLIN, 0};
    while (poll(&p, 1, 0) > 0) {
        ssize_t got = read(host.control, line + n, sizeof line - 1 - n);
        host.quit = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
        if (got <= 0) return;
        n += (size_t)got;
        line[n] = 0;
        for (char *end; (end = strchr(line, '\n'));) {
            *end = 0;
            answer_order(line);
            n -= (size_t)(end + 1 - line);
            memmove(line, end + 1, n + 1);
        }
        if (n == sizeof line - 1) n = 0; // no order is that long
    }
}
