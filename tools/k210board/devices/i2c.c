// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The three I2C controllers (i2c.h; Synopsys DW_apb_i2c). The camera answers on the one that goes
// to its pins.
#include "devices.h"

enum { TARGET_ADDRESS = 0x04, COMMAND = 0x10, INT_STATUS = 0x2c, INT_RAW = 0x34 };

enum { CLEAR_ABORT = 0x54, ENABLE = 0x6c, STATUS = 0x70, RECEIVED = 0x78, WHY_ABORT = 0x80 };

enum { FUNC_I2C0_SCLK = 126 }; // fpioa.h: then its data, then I2C1

enum { READ = 0x100 }; // COMMAND

enum { TRANSMIT_EMPTY = 0x10, ABORTED = 0x40 }; // INT_STATUS

typedef struct {
    bool missing; // no device at the address
    bool fresh;   // the next byte written is a register number
    QUEUE(u8, 16) got;
} I2c;

static Registers registers[3];
static I2c i2c[3];

static u64 read(int unit, u32 o, u64 stored) {
    I2c *i = &i2c[unit];
    if (o == STATUS || o == RECEIVED)
        i->fresh = true;
    if (o == CLEAR_ABORT)
        i->missing = false;
    switch (o) {
    case COMMAND:
        return TAKE(i->got);
    case INT_STATUS:
    case INT_RAW:
        return (i->missing ? ABORTED : 0) | TRANSMIT_EMPTY;
    case STATUS:
        return 6 | (i->got.n ? 8 : 0); // transmit FIFO empty, receive FIFO not empty
    case RECEIVED:
        return i->got.n;
    case WHY_ABORT:
        return i->missing;
    }
    return stored;
}

// One byte of a row that begins at the register that was pointed at.
static void move_byte(I2c *i, u64 v) {
    if (v & READ)
        PUT(i->got, camera_read());
    else
        camera_write((u8)v);
    camera_next();
}

// Whether this bus goes to the pins that the camera is soldered to.
static bool wired(int unit) {
    u32 clock = FUNC_I2C0_SCLK + 2 * (u32)unit;
    return fpioa_function(CAMERA_CLOCK_PIN) == clock &&
           fpioa_function(CAMERA_DATA_PIN) == clock + 1;
}

static void command(int unit, u64 v) {
    I2c *i = &i2c[unit];
    bool reads = v & READ;
    bool called = (REG(registers[unit], TARGET_ADDRESS) & 0x7f) == CAMERA_ADDRESS && wired(unit);
    if (!film || !called)
        i->missing = true;
    else if (!reads && i->fresh)
        camera_point((u8)v);
    else
        move_byte(i, v);
    i->fresh &= reads;
}

static void write(int unit, u32 o, u64 v) {
    I2c *i = &i2c[unit];
    if (o == ENABLE || o == TARGET_ADDRESS)
        i->fresh = true;
    if (o == ENABLE && !v)
        i->got.n = 0;
    if (o == COMMAND)
        command(unit, v);
}

const Device i2c_device = {
    .name = "I2C",
    .base = {0x50280000, 0x50290000, 0x502a0000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .write = write,
    .registers = registers,
    .state = i2c,
    .state_size = sizeof i2c,
};
