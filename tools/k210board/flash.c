// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The SPI flash W25Q128JV: 16 MiB, one byte at a time. Source: Winbond's datasheet, table of
// instructions.
#include "board.h"

u8 *flash_chip;

enum { NO_ADDRESS, READS, PROGRAMS, ERASES, WRITES_STATUS };
static const struct {
    u8 code, does, data_at; // number of the first data byte, counted from the instruction
    u32 size;               // that is erased; number of the status register
} COMMANDS[] = {
    {0x03, READS, 4, 0}, {0x0b, READS, 5, 0}, {0x3b, READS, 5, 0}, // plain, fast, dual
    {0x6b, READS, 5, 0}, {0xbb, READS, 5, 0}, {0xeb, READS, 7, 0}, // quad, dual I/O, quad I/O
    {0x02, PROGRAMS, 4, 0}, {0x32, PROGRAMS, 4, 0},                // plain, quad
    {0x20, ERASES, 4, 4 << 10}, {0x52, ERASES, 4, 32 << 10}, {0xd8, ERASES, 4, 64 << 10},
    {0x60, ERASES, 0, FLASH_SIZE}, {0xc7, ERASES, 0, FLASH_SIZE},
    {0x01, WRITES_STATUS, 0, 0}, {0x31, WRITES_STATUS, 0, 1}, {0x11, WRITES_STATUS, 0, 2},
    {0x04, WRITES_STATUS, 0, 3}, // write disable
    {0, NO_ADDRESS, 0, 0},
};
enum { WRITE_ENABLE = 0x06, READ_STATUS_1 = 0x05, READ_STATUS_2 = 0x35, READ_STATUS_3 = 0x15 };
enum { UNIQUE_ID = 0x4b, MANUFACTURER = 0x90, JEDEC_ID = 0x9f, RELEASE = 0xab };

static u8 status[3]; // what is in it outlives a reset of the board
static int kind;     // of the command, in COMMANDS

void flash_select(void) {
    Flash *f = &board.flash;
    if (!f->selected) *f = (Flash){.selected = true, .writable = f->writable};
}

// The end of a command: what it ordered is done.
void flash_deselect(void) {
    Flash *f = &board.flash;
    bool ends = f->selected && f->byte;
    f->selected = false;
    if (ends && f->command == WRITE_ENABLE) f->writable = true;
    if (!ends || COMMANDS[kind].does < PROGRAMS) return;
    u8 *page = flash_chip + (f->page_address % FLASH_SIZE & ~255u);
    u32 size = COMMANDS[kind].size;
    if (f->writable && COMMANDS[kind].does == ERASES)
        memset(flash_chip + (f->address % FLASH_SIZE & ~(size - 1)), 0xff, size);
    for (int i = 0; f->writable && f->page_n && i < 256; i++) page[i] &= f->page[i];
    f->writable = false;
}

// The wait cycles between address and data.
void flash_wait(void) {
    while (board.flash.byte < COMMANDS[kind].data_at) flash_byte(0xff);
}

static u8 without_address(const Flash *f, int n, u8 in) {
    static const u8 UID[8] = {0xd1, 0x61, 0x4c, 0x21, 0x0e, 0x38, 0x2a, 0x5b};
    static const u8 JEDEC[3] = {0xef, 0x40, 0x18};
    u32 which = COMMANDS[kind].size;
    if (COMMANDS[kind].does == WRITES_STATUS && f->writable && which < 3) {
        if (n == 1) status[which] = which ? in : in & 0xfc;
        if (n == 2 && !which) status[1] = in;
    }
    switch (f->command) {
    case JEDEC_ID: return JEDEC[(n - 1) % 3];
    case MANUFACTURER: return n <= 3 ? 0xff : n & 1 ? 0x17 : 0xef;
    case RELEASE: return n >= 4 ? 0x17 : 0xff;
    case UNIQUE_ID: return n >= 5 ? UID[(n - 5) & 7] : 0xff;
    case READ_STATUS_1: return status[0] | (u8)(f->writable << 1);
    case READ_STATUS_2: return status[1];
    case READ_STATUS_3: return status[2];
    }
    return 0xff;
}

u8 flash_byte(u8 in) {
    Flash *f = &board.flash;
    int n = f->byte++;
    if (n == 0) {
        f->command = in;
        f->address = 0;
        f->page_n = 0;
        memset(f->page, 0xff, sizeof f->page);
        for (kind = 0; COMMANDS[kind].code && COMMANDS[kind].code != in;) kind++;
        return 0xff;
    }
    if (!COMMANDS[kind].data_at) return without_address(f, n, in);
    if (n <= 3) f->page_address = f->address = f->address << 8 | in;
    if (n < COMMANDS[kind].data_at) return 0xff;
    if (COMMANDS[kind].does == PROGRAMS) {
        f->page[f->address & 255] = in;
        f->page_n++;
        f->address = (f->address & ~255u) | ((f->address + 1) & 255);
    }
    if (COMMANDS[kind].does != READS) return 0xff;
    return flash_chip[f->address++ % FLASH_SIZE];
}
