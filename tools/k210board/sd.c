// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// An SDHC card in SPI mode on SPI1. Source: SD Physical Layer Simplified Specification 6.0, chapter 7.
#include "board.h"

u8 *sd_card;
u64 sd_size;

enum { BLOCK = 512, START = 0xfe, START_MULTIPLE = 0xfc, STOP = 0xfd, ACCEPTED = 0x05 };

static void answer(const void *bytes, int n) {
    Sd *s = &board.sd;
    if (s->answer_n + n > (int)sizeof s->answer)
        n = (int)sizeof s->answer - s->answer_n;
    memcpy(s->answer + s->answer_n, bytes, (size_t)n);
    s->answer_n += n;
}

static void answer_byte(u8 b) {
    answer(&b, 1);
}

static u8 *block_at(u32 number) {
    return ((u64)number + 1) * BLOCK <= sd_size ? sd_card + (u64)number * BLOCK : NULL;
}

// gap, token, data, checksum
static void answer_data(const u8 *data, int n) {
    answer((const u8[]){0xff, START}, 2);
    answer(data, n);
    answer((const u8[]){0xff, 0xff}, 2);
}

static void answer_block(u32 number) {
    static const u8 NOTHING[BLOCK];
    const u8 *data = block_at(number);
    answer_data(data ? data : NOTHING, BLOCK);
}

static void card_specific_data(void) {
    u32 size = (u32)(sd_size / (512 * 1024) - 1);
    const u8 csd[16] = {0x40, 0x0e, 0x00, 0x32, 0x5b, 0x59, 0x00, size >> 16 & 0x3f,
                        (u8)(size >> 8), (u8)size, 0x7f, 0x80, 0x0a, 0x40, 0x00, 0x01};
    answer_data(csd, 16);
}

static void card_identification(void) {
    static const u8 CID[16] = {0x03, 'S', 'D', 'E', 'M', 'U', '2', '1',
                               0x10, 0x12, 0x34, 0x56, 0x78, 0x01, 0x4b, 0x01};
    answer_data(CID, 16);
}

static void execute(void) {
    Sd *s = &board.sd;
    const u8 *c = s->command;
    u8 number = c[0] & 63;
    u32 argument = (u32)c[1] << 24 | (u32)c[2] << 16 | (u32)c[3] << 8 | c[4];
    bool application = s->application;
    s->application = s->reading = false;
    s->answer_at = s->answer_n = s->writing = 0;
    if (number == 0)
        s->idle = true;
    if (number == 41 && application)
        s->idle = false;
    bool with_idle = number == 0 || number == 8 || number == 55 || number == 41 || number == 58;
    answer((const u8[]){0xff, with_idle ? s->idle : 0}, 2);
    switch (number) {
    case 8: answer((const u8[]){0, 0, 1, (u8)argument}, 4); break;
    case 58: answer((const u8[]){0xc0, 0xff, 0x80, 0}, 4); break;
    case 55: s->application = true; break;
    case 9: card_specific_data(); break;
    case 10: card_identification(); break;
    case 13: answer_byte(0); break;
    case 17: answer_block(argument); break;
    case 18: s->block = argument; s->reading = true; break;
    case 24: case 25: s->writing = number; s->block = argument; s->block_n = -1; break;
    case 0: case 12: case 16: case 23: case 32: case 33: case 38: case 41: case 59: break;
    default: s->answer[1] = 4 | s->idle; // illegal command
    }
}

// A byte while a write is under way; true when it belonged to it.
static bool written(u8 in) {
    Sd *s = &board.sd;
    if (s->block_n < 0) {
        if (in == START || in == START_MULTIPLE) {
            s->block_n = 0;
            return true;
        }
        if (in != STOP)
            return false;
        s->writing = s->answer_at = s->answer_n = 0;
        answer((const u8[]){0xff, 0}, 2);
        return true;
    }
    if (s->block_n < BLOCK)
        s->data[s->block_n] = in;
    if (++s->block_n < BLOCK + 2) // its checksum
        return true;
    u8 *to = block_at(s->block);
    if (to)
        memcpy(to, s->data, BLOCK);
    s->block++;
    s->answer_at = s->answer_n = 0;
    answer((const u8[]){ACCEPTED, 0}, 2);
    s->block_n = -1;
    if (s->writing == 24)
        s->writing = 0;
    return true;
}

u8 sd_byte(u8 in) {
    Sd *s = &board.sd;
    u8 out = 0xff;
    if (!sd_card)
        return out;
    if (s->answer_at == s->answer_n) {
        s->answer_at = s->answer_n = 0;
        if (s->reading)
            answer_block(s->block++);
    }
    if (s->answer_at < s->answer_n)
        out = s->answer[s->answer_at++];
    if (s->writing && s->answer_at == s->answer_n && written(in))
        return out;
    if (s->command_n || (in & 0xc0) == 0x40)
        s->command[s->command_n++] = in;
    if (s->command_n == 6) {
        s->command_n = 0;
        execute();
    }
    return out;
}
