// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The SPI flash W25Q128JV: 16 MiB, one byte at a time. Source: Winbond's table of instructions.
#include "board.h"

u8 flash_chip[FLASH_SIZE];

enum { IGNORED, READS, ANSWERS, READS_STATUS, PROGRAMS, ERASES, WRITES_STATUS, ENABLES, DISABLES };

static const struct {
    u8 code, does, data_at; // number of the first data byte, counted from the instruction
    u32 size;               // that is erased; number of the status register
    const char *answer;     // again and again
} COMMANDS[] = {
    {0x03, READS, 4, 0, 0},
    {0x0b, READS, 5, 0, 0},
    {0x3b, READS, 5, 0, 0}, // plain, fast, dual
    {0x6b, READS, 5, 0, 0},
    {0xbb, READS, 5, 0, 0},
    {0xeb, READS, 7, 0, 0}, // quad, their I/O
    {0x02, PROGRAMS, 4, 0, 0},
    {0x32, PROGRAMS, 4, 0, 0}, // plain, quad
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
    {0x9f, ANSWERS, 1, 0, "\xef\x40\x18"},
    {0x90, ANSWERS, 4, 0, "\xef\x17"}, // who made it, what
    {0xab, ANSWERS, 4, 0, "\x17"},
    {0x4b, ANSWERS, 5, 0, "\xd1\x61\x4c\x21\x0e\x38\x2a\x5b"},
    {0, IGNORED, 1, 0, 0},
};

void flash_select(void) {
    Flash *f = &board.flash;
    if (!f->selected)
        *f = (Flash){.selected = true, .writable = f->writable};
}

// The end of a command: what it ordered is done.
void flash_deselect(void) {
    Flash *f = &board.flash;
    u32 size = COMMANDS[f->kind].size;
    int does = f->selected && f->byte ? COMMANDS[f->kind].does : IGNORED;
    if (f->writable && does == ERASES)
        memset(flash_chip + (f->address % FLASH_SIZE & ~(size - 1)), 0xff, size);
    if (does >= PROGRAMS)
        f->writable = does == ENABLES;
    f->selected = false;
}

// The wait cycles between address and data.
void flash_wait(void) {
    const Flash *f = &board.flash;
    while (f->byte < COMMANDS[f->kind].data_at)
        flash_byte(0xff);
}

u8 flash_byte(u8 in) {
    Flash *f = &board.flash;
    int n = f->byte++, data = n - COMMANDS[f->kind].data_at;
    u32 which = COMMANDS[f->kind].size;
    const char *answer = COMMANDS[f->kind].answer;
    if (n == 0)
        for (f->kind = 0; COMMANDS[f->kind].code && COMMANDS[f->kind].code != in;)
            f->kind++;
    else if (n <= 3)
        f->address = f->address << 8 | in;
    if (n == 0 || data < 0)
        return 0xff;
    switch (COMMANDS[f->kind].does) {
    case READS:
        return flash_chip[f->address++ % FLASH_SIZE];
    case ANSWERS:
        return (u8)answer[(size_t)data % strlen(answer)];
    case READS_STATUS:
        return host.chip_status[which] | (which == 0 && f->writable ? 2 : 0);
    case WRITES_STATUS:
        which += (u32)data;
        if (f->writable && data < 2)
            host.chip_status[which] = which ? in : in & 0xfc;
        break;
    case PROGRAMS: // round and round in a page
        if (f->writable)
            flash_chip[f->address % FLASH_SIZE] &= in;
        f->address = (f->address & ~255u) | ((f->address + 1) & 255);
    }
    return 0xff;
}
