// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The table of all devices.
#include "devices.h"

#define ROW(name) extern const Device name##_device;
#include "devices.def"
#undef ROW

const Device *const DEVICES[] = {
#define ROW(name) &name##_device,
#include "devices.def"
#undef ROW
};
const u32 DEVICES_N = sizeof DEVICES / sizeof *DEVICES;
