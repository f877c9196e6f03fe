// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The control line: one order a line from the program that started us, which waits for the answer,
// a line that ends in "ok" or "no". In integers, as clocks.c.
#include "board.h"
#include <inttypes.h>
#include <poll.h>

static FILE *answer;
// In the order of _STATE in board.py.
static bool tell_state(void) {
    const u64 state[] = {
        board.hart[0].instructions + board.hart[1].instructions,
        scaled(board.cycles, 1000000, cpu_hertz()), scaled(host.idle_cycles, 1000000, cpu_hertz()),
        host.frames, host.asks, board.lcd.pixels, host.resets, host.typed.n, board_hangs(),
        host.limited};
    for (size_t i = 0; i < sizeof state / 8; i++) fprintf(answer, "%" PRIu64 " ", state[i]);
    for (const Hart *h = board.hart; h < board.hart + HARTS; h++) {
        fprintf(answer, "%" PRIu64 " %" PRIu64 " ", h->csr[MEPC], h->csr[MCAUSE]);
        fprintf(answer, "%" PRIu64 " %" PRIu64 " ", h->csr[MBADADDR], h->pc);
        for (int r = 0; r < 32; r++) fprintf(answer, "%" PRIu64 " ", h->x[r]);
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

// Obeys what has come. The line's end is the end of the board: nobody would stop it.
void control_poll(void) {
    static FILE *orders;
    char line[4096];
    struct pollfd p = {host.control, POLLIN, 0};
    if (!orders) orders = fdopen(host.control, "r");
    if (!answer) answer = fdopen(host.control, "w");
    while (!host.quit && poll(&p, 1, 0) > 0) {
        host.quit = !fgets(line, sizeof line, orders);
        line[strcspn(line, "\n")] = 0;
        fputs(obey(line) ? "ok\n" : "no\n", answer);
        host.quit |= fflush(answer) != 0;
    }
}
