// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// UARTHS, the serial line to the host (uarths.h; SiFive UART).
#include "devices.h"

enum { TXDATA = 0, RXDATA = 4, TXCTRL = 8, RXCTRL = 12, IE = 16, IP = 20, DIV = 24 };

enum { MAY_SEND = 1, HAS_RECEIVED = 2, NOTHING_RECEIVED = 1u << 31, SPEEDUP = 8 };

static Registers registers[1];

static struct {
    QUEUE(u8, 8) received;
    u64 next_byte; // cycle at which it arrives
} uarths;

static QUEUE(u8, 1 << 16) typed; // by the host, not on the line yet; a reset leaves it
struct SerialOut serial_out;

bool uarths_type(u8 byte) {
    if (typed.n == ROOM(typed))
        return false;
    PUT(typed, byte);
    return true;
}

u32 uarths_typed(void) { return typed.n; }

static u32 pending(void) {
    u32 mark_of_receiver = REG(registers[0], RXCTRL) >> 16 & 7;
    u32 mark_of_sender = REG(registers[0], TXCTRL) >> 16 & 7;
    return (uarths.received.n > mark_of_receiver ? HAS_RECEIVED : 0) |
           (mark_of_sender ? MAY_SEND : 0);
}

static void update(void) { irq_set(IRQ_UARTHS, pending() & REG(registers[0], IE)); }

// Bytes from the host arrive at SPEEDUP times the speed of the line.
static void tick(void) {
    bool receives = REG(registers[0], RXCTRL) & 1;
    bool room = receives && uarths.received.n < ROOM(uarths.received);
    if (!typed.n || !room || cycles < uarths.next_byte)
        return;
    PUT(uarths.received, TAKE(typed));
    u64 byte = ((u64)(REG(registers[0], DIV) & 0xffff) + 1) * 10;
    uarths.next_byte = cycles + byte / SPEEDUP + 1;
    update();
}

static u64 next(u64 before) {
    bool more = typed.n && uarths.received.n < ROOM(uarths.received);
    return more && uarths.next_byte < before ? uarths.next_byte : before;
}

static u32 receive(void) {
    if (!uarths.received.n)
        return NOTHING_RECEIVED;
    u32 v = TAKE(uarths.received);
    update();
    return v;
}

static u64 read(int unit, u32 o, u64 stored) {
    switch (o) {
    case TXDATA:
        return 0;
    case RXDATA:
        return receive();
    case IP:
        return pending();
    }
    return stored;
}

static void write(int unit, u32 o, u64 value) {
    if (o != TXDATA)
        update();
    else if (serial_out.n < MOST_OUT)
        serial_out.byte[serial_out.n++] = (u8)value;
}

const Device uarths_device = {
    .name = "UARTHS",
    .base = {0x38000000},
    .size = 0x1000,
    .width = 4,
    .read = read,
    .write = write,
    .tick = tick,
    .next = next,
    .registers = registers,
    .state = &uarths,
    .state_size = sizeof uarths,
    .kept = &typed,
    .kept_size = sizeof typed,
};
