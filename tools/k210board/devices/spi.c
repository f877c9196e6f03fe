// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The four SPI controllers: 0 the display, 1 the SD card, 2 a slave, 3 the flash. A transfer takes
// no time. Source: spi.h, spi.c; Synopsys DW_apb_ssi databook 4.01a.
#include "devices.h"

enum {
    CTRLR0 = 0x00,
    CTRLR1 = 0x04,
    SSIENR = 0x08,
    SER = 0x10,
    SPI_CTRLR0 = 0xf4,
    ENDIAN = 0x118
};

enum { TO_SEND = 0x20, RECEIVED = 0x24, STATUS = 0x28, INT_STATUS = 0x30, INT_RAW = 0x34 };

enum { VERSION = 0x5c, DATA = 0x60, DATA_END = 0xf0 };

enum { SEND_AND_RECEIVE, SEND, RECEIVE, EEPROM_READ }; // TMOD

enum { DISPLAY = 0, CARD = 1, CHIP = 3, UNITS_N = 4 };

typedef struct {
    QUEUE(u32, 1 << 18) sent; // frames before the transfer starts
    QUEUE(u32, 1 << 17) got;  // frames that wait to be read
    bool receiving;           // this command's answer has been clocked in
    u32 frames;               // of this command that were sent by an enhanced transfer
} Spi;

static Registers registers[UNITS_N];
static Spi spi[UNITS_N];

// A field of CTRLR0, which SPI3 has elsewhere.
static u32 field(int i, int usual, int spi3, u32 mask) {
    return REG(registers[i], CTRLR0) >> (i == CHIP ? spi3 : usual) & mask;
}

static u32 mode(int i) { return field(i, 8, 10, 3); }

// What hangs on that controller takes a byte and gives one.
static u8 exchange(int i, u8 byte) {
    switch (i) {
    case CHIP:
        return flash_byte(byte);
    case CARD:
        return sd_byte(byte);
    }
    return 0xff;
}

// One frame, its bytes in the order that ENDIAN says.
static u32 frame(int i, u32 out) {
    int bits = (int)field(i, 16, 0, 31) + 1, last = (bits - 1) & ~7;
    bool little = REG(registers[i], ENDIAN) & 1;
    u32 in = 0;
    if (i == DISPLAY)
        lcd_frame(out, bits);
    for (int n = 0; n <= last; n += 8) {
        int at = little ? n : last - n;
        in |= (u32)exchange(i, (u8)(out >> at)) << at;
    }
    return in;
}

static void receive(int i) {
    spi[i].receiving = true;
    for (u32 n = (REG(registers[i], CTRLR1) & 0xffff) + 1; n; n--)
        PUT(spi[i].got, frame(i, 0xffffffff));
}

static void standard(int i) {
    Spi *s = &spi[i];
    u32 tmod = mode(i);
    bool sends = tmod != RECEIVE && !(tmod == EEPROM_READ && s->receiving);
    for (u32 k = 0; sends && k < s->sent.n; k++) {
        u32 v = frame(i, s->sent.item[k]);
        if (tmod == SEND_AND_RECEIVE)
            PUT(s->got, v);
    }
    if (tmod >= RECEIVE && s->sent.n && !s->receiving)
        receive(i);
    s->sent.n = 0;
}

static void send_bits(u32 value, int bits) {
    for (int at = bits - 8; at >= 0; at -= 8)
        flash_byte((u8)(value >> at));
}

// Dual, quad or octal: instruction, address, then data; the chip's wait cycles lie between.
static void enhanced(int i) {
    Spi *s = &spi[i];
    u32 control = REG(registers[i], SPI_CTRLR0), instructions = control >> 8 & 3 ? 1 : 0;
    int address_bits = (int)(control >> 2 & 15) * 4;
    u32 head = instructions + (address_bits ? 1 : 0);
    if (mode(i) != SEND && (s->sent.n < head || s->receiving))
        return;
    for (const u32 *v = s->sent.item; v < s->sent.item + s->sent.n; v++) {
        if (s->frames < head)
            send_bits(*v, s->frames < instructions ? 8 : address_bits);
        else if (mode(i) == SEND)
            frame(i, *v);
        s->frames++;
    }
    if (mode(i) != SEND) {
        flash_wait();
        receive(i);
    }
    s->sent.n = 0;
}

static void run(int i) {
    if (!(REG(registers[i], SSIENR) & 1) || !REG(registers[i], SER))
        return;
    if (i == CHIP)
        flash_select();
    if (i == DISPLAY)
        lcd_transfer(spi[i].sent.n);
    if (i == CHIP && field(i, 21, 22, 3))
        enhanced(i);
    else
        standard(i);
    dma_pump();
}

static void end_command(int i) {
    spi[i].receiving = false;
    spi[i].frames = 0;
    if (i == CHIP)
        flash_deselect();
}

static bool has_data(int i) { return spi[i].got.n; }

static bool is_data(u32 o) { return o >= DATA && o < DATA_END; }

static u64 read(int i, u32 o, u64 stored) {
    Spi *s = &spi[i];
    if (is_data(o))
        return TAKE(s->got);
    switch (o) {
    case TO_SEND:
    case INT_STATUS:
    case INT_RAW:
        return 0;
    case RECEIVED:
        return s->got.n > 32 ? 32 : s->got.n;
    case STATUS:
        return 6 | (s->got.n ? 8 : 0); // transmit FIFO empty, receive FIFO not empty
    case VERSION:
        return 0x3430312a;
    }
    return stored;
}

static void write(int i, u32 o, u64 v) {
    Spi *s = &spi[i];
    bool off = o == SSIENR && !(v & 1);
    if (is_data(o))
        PUT(s->sent, (u32)v);
    if (off) {
        s->sent.n = 0;
        s->got.n = 0;
    }
    if (off || (o == SER && !v))
        end_command(i);
    else if (is_data(o) || o == SER)
        run(i);
}

const Device spi_device = {
    .name = "SPI",
    .base = {0x52000000, 0x53000000, 0x50240000, 0x54000000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .write = write,
    .has_data = has_data,
    .registers = registers,
    .state = spi,
    .state_size = sizeof spi,
};
