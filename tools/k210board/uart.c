// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// UARTHS, the REPL's serial line (uarths.h; SiFive UART), and the three other UARTs, which nobody
// listens to (uart.h).
#include "board.h"

int serial_speedup = 1;

static bool received(void) { return board.uarths.fifo_n > (int)(board.uarths.rxctrl >> 16 & 7); }

static bool may_send(void) { return (board.uarths.txctrl >> 16 & 7) > 0; }

static void update(void) {
    irq_set(IRQ_UARTHS, (board.uarths.ie & 2 && received()) || (board.uarths.ie & 1 && may_send()));
}

// Bytes from the host arrive at the speed of the line.
void uarths_tick(void) {
    Uarths *u = &board.uarths;
    if (!board.typed_n || !(u->rxctrl & 1) || board.cycles < u->next || u->fifo_n >= 8) return;
    u->fifo[u->fifo_n++] = board.typed[board.typed_at];
    board.typed_at = (board.typed_at + 1) % SERIAL_QUEUE;
    board.typed_n--;
    u64 byte = ((u64)(u->div & 0xffff) + 1) * 10;
    u->next = board.cycles + byte / (u64)serial_speedup + 1;
    update();
}

static u32 take(void) {
    Uarths *u = &board.uarths;
    if (!u->fifo_n) return 0x80000000u;
    u32 v = u->fifo[0];
    memmove(u->fifo, u->fifo + 1, 7);
    u->fifo_n--;
    update();
    return v;
}

static u32 read_word(u32 o) {
    switch (o) {
    case 4: return take();
    case 8: return board.uarths.txctrl;
    case 12: return board.uarths.rxctrl;
    case 16: return board.uarths.ie;
    case 20: return (received() ? 2 : 0) | may_send();
    case 24: return board.uarths.div;
    }
    return 0;
}

// GPIOHS shares the page, 0x1000 above.
u64 uarths_read(u32 o, int size) {
    if (o >= 0x1000) return gpiohs_read(o - 0x1000, size);
    return read_word(o & ~3u) >> 8 * (o & 3);
}

void uarths_write(u32 o, u64 value, int size) {
    if (o >= 0x1000) {
        gpiohs_write(o - 0x1000, value, size);
        return;
    }
    u32 v = (u32)(value << 8 * (o & 3));
    switch (o & ~3u) {
    case 0: serial_out((u8)v); return;
    case 8: board.uarths.txctrl = v; break;
    case 12: board.uarths.rxctrl = v; break;
    case 16: board.uarths.ie = v; break;
    case 24: board.uarths.div = v; break;
    }
    update();
    yield_harts();
}

// Always ready to send, never anything received.
u64 uart_read(u32 o, int size) {
    (void)size;
    switch (o & 0xff) {
    case 0x00: return 0;
    case 0x08: return 1;    // no interrupt
    case 0x14: return 0x40; // line status: transmitter empty
    case 0x7c: return 6;    // status: transmit FIFO not full and empty
    }
    return board.uart[o >> 16][(o & 0xff) / 4];
}

void uart_write(u32 o, u64 v, int size) {
    (void)size;
    bool is_data = (o & 0xff) == 0 && !(board.uart[o >> 16][3] & 0x80);
    if (!is_data) board.uart[o >> 16][(o & 0xff) / 4] = (u32)v;
}
