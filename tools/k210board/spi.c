// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The four SPI controllers: 0 the display, 1 the SD card, 2 a slave, 3 the flash. A transfer takes
// no time. Source: spi.h, spi.c; Synopsys DW_apb_ssi databook 4.01a.
#include "board.h"

enum { CTRLR0 = 0x00, CTRLR1 = 0x04, SSIENR = 0x08, SER = 0x10, SPI_CTRLR0 = 0xf4, ENDIAN = 0x118 };
enum { SEND_AND_RECEIVE, SEND, RECEIVE, EEPROM_READ }; // TMOD
enum { DISPLAY = 0, CARD = 1, CHIP = 3 };

// SPI3 has its fields elsewhere.
static u32 field(int i, int usual, int spi3, u32 mask) {
    return board.spi[i].regs[CTRLR0] >> (i == CHIP ? spi3 : usual) & mask;
}
static int frame_bits(int i) { return (int)field(i, 16, 0, 31) + 1; }
static bool enhanced(int i) { // dual, quad or octal
    return field(i, 21, 22, 3);
}
static u32 mode(int i) { return field(i, 8, 10, 3); }

static u8 exchange(int i, u8 out) {
    return i == CHIP ? flash_byte(out) : i == CARD ? sd_byte(out) : 0xff;
}

// One frame, its bytes in the order that endian says.
static u32 frame(int i, u32 out, int bits) {
    int bytes = (bits + 7) / 8;
    u32 in = 0;
    if (i == DISPLAY) lcd_frame(out, bits);
    if (board.spi[i].regs[ENDIAN / 4] & 1 && bytes > 1) {
        for (int k = 0; k < bytes; k++) in |= (u32)exchange(i, (u8)(out >> 8 * k)) << 8 * k;
    } else {
        for (int k = bytes - 1; k >= 0; k--) in = in << 8 | exchange(i, (u8)(out >> 8 * k));
    }
    return in;
}

static void got(Spi *s, u32 v) {
    if (s->got_n < SPI_GOT) s->got[(s->got_at + s->got_n++) % SPI_GOT] = v;
}

static void receive(int i) {
    Spi *s = &board.spi[i];
    s->receiving = true;
    for (u32 n = (s->regs[CTRLR1 / 4] & 0xffff) + 1; n; n--)
        got(s, frame(i, 0xffffffff, frame_bits(i)));
}

static void standard(int i) {
    Spi *s = &board.spi[i];
    u32 tmod = mode(i);
    bool sends = tmod != RECEIVE && !(tmod == EEPROM_READ && s->receiving);
    for (u32 k = 0; sends && k < s->sent_n; k++) {
        u32 v = frame(i, s->sent[k], frame_bits(i));
        if (tmod == SEND_AND_RECEIVE) got(s, v);
    }
    if ((tmod == RECEIVE || tmod == EEPROM_READ) && s->sent_n && !s->receiving) receive(i);
    s->sent_n = 0;
}

static void address_bytes(u32 v, int bits) {
    for (int b = bits - 8; b >= 0; b -= 8) flash_byte((u8)(v >> b));
}

// Instruction, address, then data; the chip's wait cycles lie between.
static void enhanced_transfer(int i) {
    Spi *s = &board.spi[i];
    u32 c = s->regs[SPI_CTRLR0 / 4], k = 0;
    int address_bits = (int)(c >> 2 & 15) * 4;
    bool instruction = c >> 8 & 3;
    if (mode(i) == SEND) {
        while (k < s->sent_n) {
            u32 v = s->sent[k++];
            if (s->phase == 0 && instruction) {
                flash_byte((u8)v);
                s->phase = address_bits ? 1 : 2;
            } else if (s->phase <= 1 && address_bits) {
                address_bytes(v, address_bits);
                s->phase = 2;
            } else {
                frame(i, v, frame_bits(i));
            }
        }
        s->sent_n = 0;
    } else if (s->sent_n >= (u32)instruction + !!address_bits && !s->receiving) {
        if (instruction) flash_byte((u8)s->sent[k++]);
        if (address_bits) address_bytes(s->sent[k], address_bits);
        flash_wait();
        receive(i);
        s->sent_n = 0;
    }
}

static void run(int i) {
    Spi *s = &board.spi[i];
    if (!(s->regs[SSIENR / 4] & 1) || !s->regs[SER / 4]) return;
    if (i == CHIP) flash_select();
    if (i == DISPLAY) lcd_transfer(s->sent_n);
    if (i == CHIP && enhanced(i)) enhanced_transfer(i);
    else standard(i);
    dma_pump();
}

static u32 take(Spi *s) {
    if (!s->got_n) return 0;
    u32 v = s->got[s->got_at];
    s->got_at = (s->got_at + 1) % SPI_GOT;
    s->got_n--;
    return v;
}

static u64 read_reg(int i, u32 o) {
    Spi *s = &board.spi[i];
    o &= 0xfff;
    if (o >= 0x60 && o < 0xf0) return take(s);
    switch (o) {
    case 0x20:
    case 0x30:
    case 0x34: return 0; // nothing waits to be sent; no interrupt
    case 0x24: return s->got_n > 32 ? 32 : s->got_n;
    case 0x28: return 6 | (s->got_n ? 8 : 0); // transmit FIFO empty, receive FIFO not empty
    case 0x5c: return 0x3430312a;             // version 4.01*
    }
    return o < 0x120 ? s->regs[o / 4] : 0;
}

static void end_command(int i) {
    board.spi[i].receiving = false;
    board.spi[i].phase = 0;
    if (i == CHIP) flash_deselect();
}

static void write_reg(int i, u32 o, u32 v) {
    Spi *s = &board.spi[i];
    o &= 0xfff;
    if (o >= 0x60 && o < 0xf0) {
        if (s->sent_n < SPI_SENT) s->sent[s->sent_n++] = v;
        run(i);
        return;
    }
    if (o < 0x120) s->regs[o / 4] = v;
    if (o == SSIENR && !(v & 1)) {
        s->sent_n = s->got_n = 0;
        end_command(i);
    } else if (o == SER) {
        if (v) run(i);
        else end_command(i);
    }
}

#define CONTROLLER(n) \
    u64 spi##n##_read(u32 o, int size) { \
        (void)size; \
        return read_reg(n, o); \
    } \
    void spi##n##_write(u32 o, u64 v, int size) { \
        (void)size; \
        write_reg(n, o, (u32)v); \
    }
CONTROLLER(0)
CONTROLLER(1)
CONTROLLER(2)
CONTROLLER(3)
