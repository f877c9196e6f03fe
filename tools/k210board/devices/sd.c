// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// An SDHC card in SPI mode on SPI1. Source: SD Physical Layer Simplified Spec. 6.0, chapter 7.
#include "devices.h"

enum { BLOCK = 512, CHECKSUM = 2, ACCEPTED = 0x05 };

enum { START = 0xfe, START_MULTIPLE = 0xfc, STOP = 0xfd }; // tokens

enum { GO_IDLE = 0, IF_COND = 8, CSD = 9, CID = 10, STATUS = 13, READ_ONE = 17, READ_MANY = 18 };

enum { WRITE_ONE = 24, WRITE_MANY = 25, OP_COND = 41, APPLICATION = 55, OCR = 58 };

u8 *sd_card;
u64 sd_size;

static struct {
    u8 command[6], data[BLOCK];
    QUEUE(u8, 2048) answer;
    int command_n;
    bool idle, application, reading;
    int writing; // the command that writes, or 0
    int block_n; // bytes of the block so far, -1 before its token
    u32 block;
} sd;

static void answer(const void *bytes, size_t n) {
    for (const u8 *b = bytes; n; n--, b++)
        PUT(sd.answer, *b);
}

#define ANSWER(...) answer((const u8[]){__VA_ARGS__}, sizeof (const u8[]){__VA_ARGS__})

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

static void answer_csd(void) {
    u32 size = (u32)(sd_size / (512 * 1024) - 1);
    const u8 csd[] = {
        0x40,     0x0e, 0x00, 0x32, 0x5b, 0x59, 0x00, size >> 16 & 0x3f, (u8)(size >> 8),
        (u8)size, 0x7f, 0x80, 0x0a, 0x40, 0x00, 0x01};
    answer_data(csd, sizeof csd);
}

static void execute(u8 number, u32 argument) {
    static const u8 CARD_ID[] = {3,  'S', 'D', 'E', 'M', 'U', '2', '1',
                                 16, 18,  52,  86,  120, 1,   75,  1};
    static const u8 KNOWN[] = {0,  8,  9,  10, 12, 13, 16, 17, 18, 23,
                               24, 25, 32, 33, 38, 41, 55, 58, 59};
    if (number == GO_IDLE)
        sd.idle = true;
    if (number == OP_COND && sd.application)
        sd.idle = false;
    sd.application = number == APPLICATION;
    sd.reading = number == READ_MANY;
    sd.writing = number == WRITE_ONE || number == WRITE_MANY ? number : 0;
    sd.block = argument;
    sd.block_n = -1;
    sd.answer.n = 0;
    ANSWER(0xff, (memchr(KNOWN, number, sizeof KNOWN) ? 0 : 4) | sd.idle);
    switch (number) {
    case IF_COND:
        ANSWER(0, 0, 1, (u8)argument);
        break;
    case CSD:
        answer_csd();
        break;
    case CID:
        answer_data(CARD_ID, sizeof CARD_ID);
        break;
    case STATUS:
        ANSWER(0);
        break;
    case READ_ONE:
        answer_data(block_at(argument), BLOCK);
        break;
    case OCR:
        ANSWER(0xc0, 0xff, 0x80, 0);
        break;
    }
}

// A byte where a token may come; true when it was one.
static bool token(u8 in) {
    switch (in) {
    case START:
    case START_MULTIPLE:
        sd.block_n = 0;
        return true;
    case STOP:
        sd.writing = 0;
        ANSWER(0xff, 0);
        return true;
    }
    return false;
}

// A byte while a write is under way; true when it belonged to it.
static bool written(u8 in) {
    if (sd.block_n < 0)
        return token(in);
    if (sd.block_n < BLOCK)
        sd.data[sd.block_n] = in;
    sd.block_n++;
    if (sd.block_n < BLOCK + CHECKSUM)
        return true;
    memcpy(block_at(sd.block++), sd.data, BLOCK);
    ANSWER(ACCEPTED, 0);
    sd.block_n = -1;
    if (sd.writing == WRITE_ONE)
        sd.writing = 0;
    return true;
}

static void command_byte(u8 in) {
    if (sd.command_n || (in & 0xc0) == 0x40)
        sd.command[sd.command_n++] = in;
    if (sd.command_n < (int)sizeof sd.command)
        return;
    u32 argument;
    memcpy(&argument, sd.command + 1, 4);
    sd.command_n = 0;
    execute(sd.command[0] & 63, __builtin_bswap32(argument));
}

u8 sd_byte(u8 in) {
    if (!sd_card)
        return 0xff;
    if (!sd.answer.n && sd.reading)
        answer_data(block_at(sd.block++), BLOCK);
    u8 out = sd.answer.n ? TAKE(sd.answer) : 0xff;
    bool taken = sd.writing && !sd.answer.n && written(in);
    if (!taken)
        command_byte(in);
    return out;
}

const Device sd_device = {
    .name = "SD card",
    .state = &sd,
    .state_size = sizeof sd,
};
