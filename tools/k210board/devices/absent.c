// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Devices without a model: the user is told once that a program used one.
#include "devices.h"

const Device fft_device = {
    .name = "FFT",
    .base = {0x42000000},
    .size = 0x400000,
    .absent = true,
};

const Device i2s_device = {
    .name = "I2S",
    .base = {0x50250000, 0x50260000, 0x50270000},
    .size = 0x10000,
    .absent = true,
};

const Device watchdog_device = {
    .name = "WDT (watchdog)",
    .base = {0x50400000, 0x50410000},
    .size = 0x10000,
    .absent = true,
};

const Device aes_device = {
    .name = "AES",
    .base = {0x50450000},
    .size = 0x10000,
    .absent = true,
};
