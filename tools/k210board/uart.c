// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// UARTHS, the REPL's serial line (uarths.h; SiFive UART), and the three other UARTs, which nobody
// listens to (uart.h).
#include "board.h"

enum { TXDATA = 0, RXDATA = 4, TXCTRL = 8, RXCTRL = 12, IE = 16, IP = 20, DIV = 24 };
enum { MAY_SEND = 1, HAS_RECEIVED = 2, SPEEDUP = 8 };

static u32 pending(void) {
    bool received = board.received.n > (REG(UARTHS, RXCTRL) >> 16 & 7);
    return (received ? HAS_RECEIVED : 0) | (REG(UARTHS, TXCTRL) >> 16 & 7 ? MAY_SEND : 0);
}

static void update(void) { irq_set(IRQ_UARTHS, pending() & REG(UARTHS, IE)); }

// Bytes from the host arrive at SPEEDUP times the speed of the line.
void uarths_tick(void) {
    if (!host.typed.n || !(REG(UARTHS, RXCTRL) & 1) || board.cycles < board.next_byte ||
        board.received.n == ROOM(board.received))
        return;
    PUT(board.received, TAKE(host.typed));
    u64 byte = ((u64)(REG(UARTHS, DIV) & 0xffff) + 1) * 10;
    board.next_byte = board.cycles + byte / SPEEDUP + 1;
    update();
}

static u32 take(void) {
    if (!board.received.n) return 0x80000000u;
    u32 v = TAKE(board.received);
    update();
    return v;
}

u64 uarths_read(int device, u32 o, u64 stored) {
    return o == TXDATA ? 0 : o == RXDATA ? take() : o == IP ? pending() : stored;
}

void uarths_write(int device, u32 o, u64 value) {
    if (o == TXDATA) serial_out((u8)value);
    else update();
}

// Always ready to send, never anything received.
u64 uart_read(int device, u32 o, u64 stored) {
    switch (o) {
    case 0x00: return 0;
    case 0x08: return 1;    // no interrupt
    case 0x14: return 0x40; // line status: transmitter empty
    case 0x7c: return 6;    // status: transmit FIFO not full and empty
    }
    return stored;
}
