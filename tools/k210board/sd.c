// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// An SDHC card in SPI mode on SPI1. Source: SD Physical Layer Simplified Specification 6.0,
// chapter 7.
#include "board.h"

u8 *sd_card;
u64 sd_size;
enum { BLOCK = 512, START = 0xfe, START_MULTIPLE = 0xfc, STOP = 0xfd, ACCEPTED = 0x05 };
enum { READ_MANY = 18, WRITE_ONE = 24, WRITE_MANY = 25, APPLICATION = 55 };

static void answer(const void *bytes, size_t n) {
    for (const u8 *b = bytes; n; n--, b++) PUT(board.sd.answer, *b);
}
#define ANSWER(...) answer((const u8[]){__VA_ARGS__}, sizeof(const u8[]){__VA_ARGS__})

static u8 *block_at(u32 number) {
    static u8 nowhere[BLOCK];
    return ((u64)number + 1) * BLOCK <= sd_size ? sd_card + (u64)number * BLOCK : nowhere;
}

// gap, token, data, checksum
static void answer_data(const u8 *data, size_t n) {
    ANSWER(0xff, START);
    answer(data, n);
    ANSWER(0xff, 0xff);
}

static void execute(u8 number, u32 argument) {
    static const u8 CID[] = {3, 'S', 'D', 'E', 'M', 'U', '2', '1', 16, 18, 52, 86, 120, 1, 75, 1};
    static const u8 KNOWN[] = {0,  8,  9,  10, 12, 13, 16, 17, 18, 23,
                               24, 25, 32, 33, 38, 41, 55, 58, 59};
    u32 size = (u32)(sd_size / (512 * 1024) - 1);
    const u8 csd[] = {0x40, 0x0e, 0x00, 0x32, 0x5b, 0x59, 0x00, size >> 16 & 0x3f, (u8)(size >> 8),
                      (u8)size, 0x7f, 0x80, 0x0a, 0x40, 0x00, 0x01};
    Sd *s = &board.sd;
    if (number == 0) s->idle = true;
    if (number == 41 && s->application) s->idle = false;
    s->application = number == APPLICATION;
    s->reading = number == READ_MANY;
    s->writing = number == WRITE_ONE || number == WRITE_MANY ? number : 0;
    s->block = argument;
    s->block_n = -1;
    s->answer.n = 0;
    ANSWER(0xff, (memchr(KNOWN, number, sizeof KNOWN) ? 0 : 4) | s->idle);
    switch (number) {
    case 8: ANSWER(0, 0, 1, (u8)argument); break;
    case 9: answer_data(csd, sizeof csd); break;
    case 10: answer_data(CID, sizeof CID); break;
    case 13: ANSWER(0); break;
    case 17: answer_data(block_at(argument), BLOCK); break;
    case 58: ANSWER(0xc0, 0xff, 0x80, 0);
    }
}

// A byte while a write is under way; true when it belonged to it.
static bool written(u8 in) {
    Sd *s = &board.sd;
    if (s->block_n < 0) { // a token
        bool starts = in == START || in == START_MULTIPLE;
        if (starts) s->block_n = 0;
        if (in == STOP) s->writing = 0;
        if (in == STOP) ANSWER(0xff, 0);
        return starts || in == STOP;
    }
    if (s->block_n < BLOCK) s->data[s->block_n] = in;
    if (++s->block_n < BLOCK + 2) return true; // its checksum
    memcpy(block_at(s->block++), s->data, BLOCK);
    ANSWER(ACCEPTED, 0);
    s->block_n = -1;
    if (s->writing == WRITE_ONE) s->writing = 0;
    return true;
}

u8 sd_byte(u8 in) {
    Sd *s = &board.sd;
    if (!sd_card) return 0xff;
    if (!s->answer.n && s->reading) answer_data(block_at(s->block++), BLOCK);
    u8 out = s->answer.n ? TAKE(s->answer) : 0xff;
    if (s->writing && !s->answer.n && written(in)) return out;
    if (s->command_n || (in & 0xc0) == 0x40) s->command[s->command_n++] = in;
    if (s->command_n == sizeof s->command) {
        u32 argument;
        memcpy(&argument, s->command + 1, 4);
        s->command_n = 0;
        execute(s->command[0] & 63, __builtin_bswap32(argument));
    }
    return out;
}
