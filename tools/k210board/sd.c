// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// An SDHC card in SPI mode on SPI1. Source: SD Physical Layer Simplified Specification 6.0,
// chapter 7.
#include "board.h"

u8 *sd_card;
u64 sd_size;

enum { BLOCK = 512, START = 0xfe, START_MULTIPLE = 0xfc, STOP = 0xfd, ACCEPTED = 0x05 };

static void answer(const void *bytes, int n) {
    Sd *s = &board.sd;
    if (s->answer_n + n > (int)sizeof s->answer) n = (int)sizeof s->answer - s->answer_n;
    memcpy(s->answer + s->answer_n, bytes, (size_t)n);
    s->answer_n += n;
}
#define ANSWER(...) answer((const u8[]){__VA_ARGS__}, sizeof(const u8[]){__VA_ARGS__})

static u8 *block_at(u32 number) {
    return ((u64)number + 1) * BLOCK <= sd_size ? sd_card + (u64)number * BLOCK : NULL;
}

// gap, token, data, checksum
static void answer_data(const u8 *data, int n) {
    ANSWER(0xff, START);
    answer(data, n);
    ANSWER(0xff, 0xff);
}

static void answer_block(u32 number) {
    static const u8 NOTHING[BLOCK];
    const u8 *data = block_at(number);
    answer_data(data ? data : NOTHING, BLOCK);
}

static void execute(u8 number, u32 argument) {
    static const u8 CID[] = {3, 'S', 'D', 'E', 'M', 'U', '2', '1', 16, 18, 52, 86, 120, 1, 75, 1};
    static const u8 WITHOUT_ANSWER[] = {0, 12, 16, 23, 32, 33, 38, 41, 59};
    static const u8 WITH_IDLE[] = {0, 8, 41, 55, 58};
    u32 size = (u32)(sd_size / (512 * 1024) - 1);
    const u8 csd[] = {0x40, 0x0e, 0x00, 0x32, 0x5b, 0x59, 0x00, size >> 16 & 0x3f, (u8)(size >> 8),
                      (u8)size, 0x7f, 0x80, 0x0a, 0x40, 0x00, 0x01};
    Sd *s = &board.sd;
    if (number == 0) s->idle = true;
    if (number == 41 && s->application) s->idle = false;
    s->application = number == 55;
    s->reading = number == 18;
    s->writing = number == 24 || number == 25 ? number : 0;
    s->answer_at = s->answer_n = 0;
    ANSWER(0xff, memchr(WITH_IDLE, number, sizeof WITH_IDLE) ? s->idle : 0);
    switch (number) {
    case 8: ANSWER(0, 0, 1, (u8)argument); break;
    case 58: ANSWER(0xc0, 0xff, 0x80, 0); break;
    case 9: answer_data(csd, sizeof csd); break;
    case 10: answer_data(CID, sizeof CID); break;
    case 13: ANSWER(0); break;
    case 17: answer_block(argument); break;
    case 18: case 24: case 25: s->block = argument; s->block_n = -1; break;
    case 55: break;
    default:
        if (!memchr(WITHOUT_ANSWER, number, sizeof WITHOUT_ANSWER)) s->answer[1] = 4 | s->idle;
    }
}

// A byte while a write is under way; true when it belonged to it.
static bool written(u8 in) {
    Sd *s = &board.sd;
    if (s->block_n < 0) {
        if (in == START || in == START_MULTIPLE) s->block_n = 0;
        else if (in == STOP) {
            s->writing = 0;
            ANSWER(0xff, 0);
        }
        return in == START || in == START_MULTIPLE || in == STOP;
    }
    if (s->block_n < BLOCK) s->data[s->block_n] = in;
    if (++s->block_n < BLOCK + 2) return true; // its checksum
    u8 *to = block_at(s->block++);
    if (to) memcpy(to, s->data, BLOCK);
    ANSWER(ACCEPTED, 0);
    s->block_n = -1;
    if (s->writing == 24) s->writing = 0;
    return true;
}

u8 sd_byte(u8 in) {
    Sd *s = &board.sd;
    if (!sd_card) return 0xff;
    if (s->answer_at == s->answer_n) {
        s->answer_at = s->answer_n = 0;
        if (s->reading) answer_block(s->block++);
    }
    u8 out = s->answer_at < s->answer_n ? s->answer[s->answer_at++] : 0xff;
    if (s->writing && s->answer_at == s->answer_n) {
        s->answer_at = s->answer_n = 0;
        if (written(in)) return out;
    }
    if (s->command_n || (in & 0xc0) == 0x40) s->command[s->command_n++] = in;
    if (s->command_n == sizeof s->command) {
        const u8 *c = s->command;
        s->command_n = 0;
        execute(c[0] & 63, (u32)c[1] << 24 | (u32)c[2] << 16 | (u32)c[3] << 8 | c[4]);
    }
    return out;
}
