// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The three UARTs (uart.h), to which nothing is wired.
#include "devices.h"

enum { DATA = 0x00, INTERRUPT = 0x08, LINE_STATUS = 0x14, FIFO_STATUS = 0x7c };

static Registers registers[3];

static bool has_data(int unit) { return false; }

// Always ready to send, nothing received.
static u64 read(int unit, u32 o, u64 stored) {
    switch (o) {
    case DATA:
        return 0;
    case INTERRUPT:
        return 1; // none
    case LINE_STATUS:
        return 0x40;
    case FIFO_STATUS:
        return 6;
    }
    return stored;
}

const Device uart_device = {
    .name = "UART",
    .base = {0x50210000, 0x50220000, 0x50230000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .has_data = has_data,
    .registers = registers,
};
