// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The four SPI controllers: 0 the display, 1 the SD card, 2 a slave, 3 the flash. A transfer takes
// no time. Source: spi.h, spi.c; Synopsys DW_apb_ssi databook 4.01a.
#include "board.h"

enum { CTRLR0 = 0x00, CTRLR1 = 0x04, SSIENR = 0x08, SER = 0x10, SPI_CTRLR0 = 0xf4, ENDIAN = 0x118 };
enum { DATA = 0x60, DATA_END = 0xf0 };
enum { SEND_AND_RECEIVE, SEND, RECEIVE, EEPROM_READ }; // TMOD
enum { DISPLAY = 0, CARD = 1, CHIP = 3 };

// SPI3 has its fields elsewhere.
static u32 field(int i, int usual, int spi3, u32 mask) {
    return REG(SPI + i, CTRLR0) >> (i == CHIP ? spi3 : usual) & mask;
}
static u32 mode(int i) { return field(i, 8, 10, 3); }

// One frame, its bytes in the order that endian says.
static u32 frame(int i, u32 out) {
    int bits = (int)field(i, 16, 0, 31) + 1, last = (bits - 1) & ~7;
    bool little = REG(SPI + i, ENDIAN) & 1;
    u32 in = 0;
    if (i == DISPLAY) lcd_frame(out, bits);
    for (int n = 0; n <= last; n += 8) {
        int at = little ? n : last - n;
        u8 b = (u8)(out >> at);
        in |= (u32)(i == CHIP ? flash_byte(b) : i == CARD ? sd_byte(b) : 0xff) << at;
    }
    return in;
}

static void receive(int i) {
    board.spi[i].receiving = true;
    for (u32 n = (REG(SPI + i, CTRLR1) & 0xffff) + 1; n; n--)
        PUT(board.spi[i].got, frame(i, 0xffffffff));
}

static void standard(int i) {
    Spi *s = &board.spi[i];
    u32 tmod = mode(i);
    bool sends = tmod != RECEIVE && !(tmod == EEPROM_READ && s->receiving);
    for (u32 k = 0; sends && k < s->sent.n; k++) {
        u32 v = frame(i, s->sent.item[k]);
        if (tmod == SEND_AND_RECEIVE) PUT(s->got, v);
    }
    if (tmod >= RECEIVE && s->sent.n && !s->receiving) receive(i);
    s->sent.n = 0;
}

// Dual, quad or octal: instruction, address, then data; the chip's wait cycles lie between.
static void enhanced(int i) {
    Spi *s = &board.spi[i];
    u32 c = REG(SPI + i, SPI_CTRLR0), instructions = c >> 8 & 3 ? 1 : 0;
    int address_bits = (int)(c >> 2 & 15) * 4;
    u32 head = instructions + (address_bits ? 1 : 0);
    if (mode(i) != SEND && (s->sent.n < head || s->receiving)) return;
    for (const u32 *v = s->sent.item; v < s->sent.item + s->sent.n; v++, s->frames++) {
        int bits = s->frames < instructions ? 8 : address_bits;
        for (int b = bits - 8; s->frames < head && b >= 0; b -= 8) flash_byte((u8)(*v >> b));
        if (s->frames >= head && mode(i) == SEND) frame(i, *v);
    }
    if (mode(i) != SEND) {
        flash_wait();
        receive(i);
    }
    s->sent.n = 0;
}

static void run(int i) {
    if (!(REG(SPI + i, SSIENR) & 1) || !REG(SPI + i, SER)) return;
    if (i == CHIP) flash_select();
    if (i == DISPLAY) lcd_transfer(board.spi[i].sent.n);
    if (i == CHIP && field(i, 21, 22, 3)) enhanced(i);
    else standard(i);
    dma_pump();
}

u64 spi_read(int device, u32 o, u64 stored) {
    Spi *s = &board.spi[device - SPI];
    if (o >= DATA && o < DATA_END) return TAKE(s->got);
    switch (o) {
    case 0x20: case 0x30: case 0x34: return 0; // nothing waits to be sent; no interrupt
    case 0x24: return s->got.n > 32 ? 32 : s->got.n;
    case 0x28: return 6 | (s->got.n ? 8 : 0); // transmit FIFO empty, receive FIFO not empty
    case 0x5c: return 0x3430312a;             // version 4.01*
    }
    return stored;
}

void spi_write(int device, u32 o, u64 v) {
    int i = device - SPI;
    Spi *s = &board.spi[i];
    bool data = o >= DATA && o < DATA_END, off = o == SSIENR && !(v & 1);
    if (data) PUT(s->sent, (u32)v);
    if (off) s->sent.n = s->got.n = 0;
    if (off || (o == SER && !v)) { // the command ends
        s->receiving = false;
        s->frames = 0;
        if (i == CHIP) flash_deselect();
    } else if (data || o == SER) {
        run(i);
    }
}
