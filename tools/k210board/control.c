// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The control line: one order a line, one answer a line ("ok ..." or "no ..."), from the program
// that started us.
#include "board.h"
#include "trace.h"
#include <errno.h>
#include <poll.h>
#include <unistd.h>

int control_fd = -1;
bool quit, paused;

// Everything but RAM, flash and card.
static bool save_state(const char *path) {
    FILE *f = fopen(path, "wb");
    u64 size = sizeof board;
    if (!f) return false;
    bool fine = fwrite(&size, 8, 1, f) == 1 && fwrite(&board, sizeof board, 1, f) == 1 &&
                fwrite(ram, RAM_SIZE, 1, f) == 1;
    return (fclose(f) == 0) & fine;
}

static bool load_state(const char *path) {
    FILE *f = fopen(path, "rb");
    u64 size = 0;
    if (!f) return false;
    bool fine = fread(&size, 8, 1, f) == 1 && size == sizeof board &&
                fread(&board, sizeof board, 1, f) == 1 && fread(ram, RAM_SIZE, 1, f) == 1;
    fclose(f);
    cpu_forget();
    return fine;
}

static void tell_state(FILE *answer) {
    const Hart *h = board.hart;
    fprintf(answer,
            "{\"instructions\": %llu, \"seconds\": %.6f, \"frames\": %u, \"pixels\": %llu, "
            "\"resets\": %llu, "
            "\"hangs\": %s, \"limited\": %s, \"idle\": %.3f, \"typed\": %u, \"harts\": [",
            (unsigned long long)(h[0].instructions + h[1].instructions),
            (double)board.cycles / cpu_hertz(), board.camera.frames,
            (unsigned long long)board.lcd.pixels, (unsigned long long)board.resets,
            board_hangs() ? "true" : "false", limited ? "true" : "false",
            (double)idle_cycles / cpu_hertz(), board.typed_n);
    for (int i = 0; i < HARTS; i++) {
        fprintf(answer, "%s{\"pc\": %llu, \"x\": [", i ? ", " : "", (unsigned long long)h[i].pc);
        for (int r = 0; r < 32; r++)
            fprintf(answer, "%s%llu", r ? ", " : "", (unsigned long long)h[i].x[r]);
        fprintf(answer, "], \"mepc\": %llu, \"mcause\": %llu, \"mbadaddr\": %llu}",
                (unsigned long long)h[i].mepc, (unsigned long long)h[i].mcause,
                (unsigned long long)h[i].mbadaddr);
    }
    fputs("]}", answer);
}

static bool obey(char *order, FILE *answer) {
    if (!strcmp(order, "state")) {
        tell_state(answer);
        return true;
    }
    if (!strcmp(order, "pause") || !strcmp(order, "go")) {
        paused = *order == 'p';
        return true;
    }
    if (!strcmp(order, "step")) { // a little further, then pause again
        paused = false;
        pause_soon = true;
        return true;
    }
    unsigned long long frames;
    double seconds;
    if (sscanf(order, "limit %llu %lf", &frames, &seconds) == 2) {
        last_frame = frames ? board.camera.frames + frames : 0;
        cycles_left = (u64)(seconds * cpu_hertz());
        limited = false;
        return true;
    }
    if (!strcmp(order, "reset")) return reset_wanted = true;
    if (!strcmp(order, "quit")) return quit = true;
    if (!strncmp(order, "save ", 5)) return save_state(order + 5);
    if (!strncmp(order, "load ", 5)) return load_state(order + 5);
    if (!strncmp(order, "lcd ", 4)) return lcd_save(order + 4);
    if (!strncmp(order, "trace ", 6)) return trace_command(order + 6, answer);
    return false;
}

static void answer_order(char *order) {
    static char text[1 << 17];
    FILE *answer = fmemopen(text, sizeof text - 1, "w");
    if (!answer) return;
    bool fine = obey(order, answer);
    long n = ftell(answer);
    fclose(answer);
    char whole[8];
    int head = snprintf(whole, sizeof whole, "%s ", fine ? "ok" : "no");
    text[n < 0 ? 0 : n] = '\n';
    if (write(control_fd, whole, (size_t)head) < 0 || write(control_fd, text, (size_t)n + 1) < 0)
        quit = true;
}

// Reads what has come. The line's end is the end of the board: nobody would stop it.
void control_poll(void) {
    static char line[4096];
    static size_t n;
    if (control_fd < 0) return;
    for (;;) {
        struct pollfd p = {control_fd, POLLIN, 0};
        if (poll(&p, 1, 0) <= 0) return;
        ssize_t got = read(control_fd, line + n, sizeof line - 1 - n);
        if (got <= 0) {
            quit = got == 0 || (errno != EAGAIN && errno != EINTR);
            return;
        }
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
