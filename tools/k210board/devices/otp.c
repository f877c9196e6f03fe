// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// OTP, the memory for keys (otp.h). Enough for reading: ready at once, no error, bytes that depend
// on the address only.
#include "devices.h"

enum { DATA = 0x24, ADDRESS = 0x30, ERROR_0 = 0x60, ERROR_1 = 0x64 };

enum { READY_0 = 0x38, READY_1 = 0x3c, READY_2 = 0x48, READY_3 = 0xac };

static Registers registers[1];

static u64 read(int unit, u32 o, u64 stored) {
    u32 x = REG(registers[0], ADDRESS) * 2654435761u + 0x9e3779b9u;
    x = (x ^ x >> 15) * 2246822519u;
    switch (o) {
    case READY_0:
    case READY_1:
    case READY_2:
    case READY_3:
        return 1;
    case ERROR_0:
    case ERROR_1:
        return 0;
    case DATA:
        return x >> 13 & 0xff;
    }
    return stored;
}

const Device otp_device = {
    .name = "OTP",
    .base = {0x50420000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .registers = registers,
};
