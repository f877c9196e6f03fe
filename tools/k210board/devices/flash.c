// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The SPI flash W25Q128JV: 16 MiB, one byte at a time. Source: Winbond's table of instructions.
#include "devices.h"

enum {
    PAGE = 256,
    WRITE_ENABLED = 2,
    READ_ONLY = 3
}; // READ_ONLY: bits of the first status register

enum { IGNORED, READS, ANSWERS, READS_STATUS, PROGRAMS, ERASES, WRITES_STATUS, ENABLES, DISABLES };

// clang-format off
static const struct {
    u8 code, does, data_at; // number of the first data byte, counted from the instruction
    u32 size;               // that is erased; number of the status register
    const char *answer;     // again and again
} COMMANDS[] = {
    {0x03, READS, 4, 0, 0},
    {0x0b, READS, 5, 0, 0}, // fast
    {0x3b, READS, 5, 0, 0}, // dual
    {0x6b, READS, 5, 0, 0}, // quad
    {0xbb, READS, 5, 0, 0}, // dual I/O
    {0xeb, READS, 7, 0, 0}, // quad I/O
    {0x02, PROGRAMS, 4, 0, 0},
    {0x32, PROGRAMS, 4, 0, 0}, // quad
    {0x20, ERASES, 4, 4 << 10, 0},
    {0x52, ERASES, 4, 32 << 10, 0},
    {0xd8, ERASES, 4, 64 << 10, 0},
    {0x60, ERASES, 1, FLASH_SIZE, 0},
    {0xc7, ERASES, 1, FLASH_SIZE, 0},
    {0x05, READS_STATUS, 1, 0, 0},
    {0x35, READS_STATUS, 1, 1, 0},
    {0x15, READS_STATUS, 1, 2, 0},
    {0x01, WRITES_STATUS, 1, 0, 0},
    {0x31, WRITES_STATUS, 1, 1, 0},
    {0x11, WRITES_STATUS, 1, 2, 0},
    {0x06, ENABLES, 1, 0, 0},
    {0x04, DISABLES, 1, 0, 0},
    {0x9f, ANSWERS, 1, 0, "\xef\x40\x18"}, // who made it, what it is
    {0x90, ANSWERS, 4, 0, "\xef\x17"},
    {0xab, ANSWERS, 4, 0, "\x17"},
    {0x4b, ANSWERS, 5, 0, "\xd1\x61\x4c\x21\x0e\x38\x2a\x5b"}, // its own number
    {0, IGNORED, 1, 0, 0},
};
// clang-format on

u8 flash_chip[FLASH_SIZE];

static struct {
    bool selected, writable;
    int byte;    // of the command
    int command; // which of the table
    u32 address;
    u32 read_from; // the address that was read last; a command after it leaves it
} flash;

static u8 status[4]; // a reset of the board leaves it

void flash_select(void) {
    if (flash.selected)
        return;
    bool writable = flash.writable;
    u32 read_from = flash.read_from;
    memset(&flash, 0, sizeof flash);
    flash.selected = true;
    flash.writable = writable;
    flash.read_from = read_from;
}

// The end of a command: what it ordered is done.
void flash_deselect(void) {
    u32 size = COMMANDS[flash.command].size;
    int does = flash.selected && flash.byte ? COMMANDS[flash.command].does : IGNORED;
    if (flash.writable && does == ERASES)
        memset(flash_chip + (flash.address % FLASH_SIZE & ~(size - 1)), 0xff, size);
    if (does >= PROGRAMS)
        flash.writable = does == ENABLES;
    flash.selected = false;
}

// The wait cycles between address and data.
void flash_wait(void) {
    while (flash.byte < COMMANDS[flash.command].data_at)
        flash_byte(0xff);
}

static int command_of(u8 code) {
    int i = 0;
    while (COMMANDS[i].code && COMMANDS[i].code != code)
        i++;
    return i;
}

static void write_status(u32 which, u8 in) { status[which] = which ? in : in & ~READ_ONLY; }

// Round and round in a page.
static void program(u8 in) {
    if (flash.writable)
        flash_chip[flash.address % FLASH_SIZE] &= in;
    flash.address = (flash.address & ~(PAGE - 1u)) | ((flash.address + 1) & (PAGE - 1));
}

// The data byte of that number.
static u8 data_byte(u32 number, u8 in) {
    u32 which = COMMANDS[flash.command].size;
    const char *answer = COMMANDS[flash.command].answer;
    switch (COMMANDS[flash.command].does) {
    case READS:
        if (number == 0)
            flash.read_from = flash.address;
        return flash_chip[flash.address++ % FLASH_SIZE];
    case ANSWERS:
        return (u8)answer[number % strlen(answer)];
    case READS_STATUS:
        return status[which] | (which == 0 && flash.writable ? WRITE_ENABLED : 0);
    case WRITES_STATUS:
        if (flash.writable && number < 2)
            write_status(which + number, in);
        break;
    case PROGRAMS:
        program(in);
        break;
    }
    return 0xff;
}

u32 flash_read_from(void) { return flash.read_from; }

u8 flash_byte(u8 in) {
    int number = flash.byte++;
    if (number == 0) {
        flash.command = command_of(in);
        return 0xff;
    }
    int data_at = COMMANDS[flash.command].data_at;
    if (number <= 3)
        flash.address = flash.address << 8 | in;
    return number < data_at ? 0xff : data_byte((u32)(number - data_at), in);
}

const Device flash_device = {
    .name = "W25Q128",
    .state = &flash,
    .state_size = sizeof flash,
    .kept = status,
    .kept_size = sizeof status,
};
