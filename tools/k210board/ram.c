// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
#include "ram.h"
#include <stdarg.h>

u8 ram[RAM_SIZE];
u64 cycles;
s64 done_now;
struct Said said;

static void put(char c) {
    if (said.n < MOST_SAID)
        said.text[said.n++] = c;
}

static void put_text(const char *text) {
    for (; *text; text++)
        put(*text);
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
            continue;
        }
        words++;
        if (*words == 's')
            put_text(va_arg(values, const char *));
        else
            put_number(va_arg(values, u64), *words == 'x' ? 16 : 10);
    }
    va_end(values);
}
