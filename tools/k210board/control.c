// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The control line: one order a line, one answer a line ("ok ..." or "no ..."), from the program
// that started us. In integers, as clocks.c.
#include "board.h"
#include "trace.h"
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define NUMBER(name, value) fprintf(answer, "\"%s\": %llu, ", name, (unsigned long long)(value))

static bool tell_state(FILE *answer) {
    fputc('{', answer);
    NUMBER("instructions", board.hart[0].instructions + board.hart[1].instructions);
    NUMBER("microseconds", scaled(board.cycles, 1000000, cpu_hertz()));
    NUMBER("idle_microseconds", scaled(host.idle_cycles, 1000000, cpu_hertz()));
    NUMBER("frames", host.frames);
    NUMBER("asks", host.asks);
    NUMBER("pixels", board.lcd.pixels);
    NUMBER("resets", host.resets);
    NUMBER("typed", host.typed_n);
    NUMBER("hangs", board_hangs());
    NUMBER("limited", host.limited);
    for (const Hart *h = board.hart; h < board.hart + HARTS; h++) {
        fputs(h->id ? "}, {" : "\"harts\": [{", answer);
        NUMBER("mepc", h->csr[MEPC]);
        NUMBER("mcause", h->csr[MCAUSE]);
        NUMBER("mbadaddr", h->csr[MBADADDR]);
        NUMBER("pc", h->pc);
        fputs("\"x\": [0", answer);
        for (int r = 1; r < 32; r++) fprintf(answer, ", %llu", (unsigned long long)h->x[r]);
        fputc(']', answer);
    }
    return fputs("}]}", answer) >= 0;
}

static bool obey(char *order, FILE *answer) {
    unsigned long long frames, microseconds;
    if (!strcmp(order, "state")) return tell_state(answer);
    if (!strcmp(order, "pause")) return host.paused = true;
    if (!strcmp(order, "go")) return !(host.paused = false);
    if (!strncmp(order, "lcd ", 4)) return lcd_save(order + 4);
    if (!strncmp(order, "trace ", 6)) return trace_command(order + 6, answer);
    if (sscanf(order, "limit %llu %llu", &frames, &microseconds) != 2) return false;
    host.last_frame = frames ? host.frames + frames : 0;
    host.cycles_left = scaled(microseconds, cpu_hertz(), 1000000);
    host.limited = false;
    return true;
}

static void answer_order(char *order) {
    static char text[1 << 17];
    FILE *answer = fmemopen(text, sizeof text - 1, "w");
    if (!answer) return;
    fputs("ok ", answer);
    bool fine = obey(order, answer);
    long n = ftell(answer);
    fclose(answer);
    if (!fine) memcpy(text, "no", 2);
    text[n] = '\n';
    if (write(host.control, text, (size_t)n + 1) < 0) host.quit = true;
}

// Reads what has come. The line's end is the end of the board: nobody would stop it.
void control_poll(void) {
    static char line[4096];
    static size_t n;
    struct pollfd p = {host.control, POLLIN, 0};
    while (host.control >= 0 && poll(&p, 1, 0) > 0) {
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
