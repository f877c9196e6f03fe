// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The SPI flash W25Q128JV: 16 MiB, one byte at a time. Source: Winbond's datasheet, table of instructions.
#include "board.h"

u8 *flash_chip;

enum {
    WRITE_STATUS_1 = 0x01, PAGE_PROGRAM = 0x02, READ = 0x03, WRITE_DISABLE = 0x04,
    READ_STATUS_1 = 0x05, WRITE_ENABLE = 0x06, FAST_READ = 0x0b, WRITE_STATUS_3 = 0x11,
    READ_STATUS_3 = 0x15, ERASE_4K = 0x20, WRITE_STATUS_2 = 0x31, QUAD_PROGRAM = 0x32,
    READ_STATUS_2 = 0x35, DUAL_READ = 0x3b, UNIQUE_ID = 0x4b, ERASE_32K = 0x52, ERASE_CHIP = 0x60,
    QUAD_READ = 0x6b, MANUFACTURER = 0x90, JEDEC_ID = 0x9f, RELEASE = 0xab, DUAL_IO_READ = 0xbb,
    ERASE_CHIP_2 = 0xc7, ERASE_64K = 0xd8, QUAD_IO_READ = 0xeb,
};

static const u8 UID[8] = {0xd1, 0x61, 0x4c, 0x21, 0x0e, 0x38, 0x2a, 0x5b};
static const u8 JEDEC[3] = {0xef, 0x40, 0x18};

void flash_select(void) {
    Flash *f = &board.flash;
    if (f->selected)
        return;
    f->selected = true;
    f->byte = f->page_n = 0;
    f->address = 0;
}

static void erase(u32 size) {
    if (board.flash.writable)
        memset(flash_chip + (board.flash.address % FLASH_SIZE & ~(size - 1)), 0xff, size);
}

static void program(void) {
    Flash *f = &board.flash;
    u8 *page = flash_chip + (f->page_address % FLASH_SIZE & ~255u);
    if (f->writable && f->page_n)
        for (int i = 0; i < 256; i++)
            page[i] &= f->page[i];
}

// The end of a command: what it ordered is done.
void flash_deselect(void) {
    Flash *f = &board.flash;
    if (!f->selected)
        return;
    f->selected = false;
    if (!f->byte)
        return;
    switch (f->command) {
    case WRITE_ENABLE: f->writable = true; return;
    case PAGE_PROGRAM: case QUAD_PROGRAM: program(); break;
    case ERASE_4K: erase(4 << 10); break;
    case ERASE_32K: erase(32 << 10); break;
    case ERASE_64K: erase(64 << 10); break;
    case ERASE_CHIP: case ERASE_CHIP_2: f->address = 0; erase(FLASH_SIZE); break;
    case WRITE_DISABLE: case WRITE_STATUS_1: case WRITE_STATUS_2: case WRITE_STATUS_3: break;
    default: return;
    }
    f->writable = false;
}

// Number of the first data byte of a command, counted from the instruction; 0 when it has no address.
static int data_begins(u8 command) {
    switch (command) {
    case READ: case PAGE_PROGRAM: case QUAD_PROGRAM: return 4;
    case ERASE_4K: case ERASE_32K: case ERASE_64K: return 4;
    case FAST_READ: case DUAL_READ: case QUAD_READ: case DUAL_IO_READ: return 5;
    case QUAD_IO_READ: return 7;
    }
    return 0;
}

// The wait cycles between address and data.
void flash_wait(void) {
    while (board.flash.byte < data_begins(board.flash.command))
        flash_byte(0xff);
}

static u8 without_address(Flash *f, int n, u8 in) {
    switch (f->command) {
    case JEDEC_ID: return JEDEC[(n - 1) % 3];
    case MANUFACTURER: return n <= 3 ? 0xff : n & 1 ? 0x17 : 0xef;
    case RELEASE: return n >= 4 ? 0x17 : 0xff;
    case UNIQUE_ID: return n >= 5 ? UID[(n - 5) & 7] : 0xff;
    case READ_STATUS_1: return f->status[0] | (u8)(f->writable << 1);
    case READ_STATUS_2: return f->status[1];
    case READ_STATUS_3: return f->status[2];
    case WRITE_STATUS_1:
        if (f->writable && n <= 2)
            f->status[n - 1] = n == 1 ? in & 0xfc : in;
        break;
    case WRITE_STATUS_2: case WRITE_STATUS_3:
        if (f->writable && n == 1)
            f->status[f->command == WRITE_STATUS_2 ? 1 : 2] = in;
        break;
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
        memset(f->page, 0xff, 256);
        return 0xff;
    }
    int data = data_begins(f->command);
    if (!data)
        return without_address(f, n, in);
    if (n <= 3) {
        f->address = f->address << 8 | in;
        f->page_address = f->address;
        return 0xff;
    }
    if (n < data || f->command == ERASE_4K || f->command == ERASE_32K || f->command == ERASE_64K)
        return 0xff;
    if (f->command == PAGE_PROGRAM || f->command == QUAD_PROGRAM) {
        f->page[f->address & 255] = in;
        f->page_n++;
        f->address = (f->address & ~255u) | ((f->address + 1) & 255);
        return 0xff;
    }
    u8 out = flash_chip[f->address % FLASH_SIZE];
    f->address = (f->address + 1) % FLASH_SIZE;
    return out;
}
