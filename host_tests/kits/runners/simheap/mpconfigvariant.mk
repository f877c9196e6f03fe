# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
# MicroPython's unix port with the heap of an ESP32, without what lies in submodules.
PROG = simheap
FROZEN_MANIFEST =
MICROPY_PY_BTREE = 0
MICROPY_PY_FFI = 0
MICROPY_PY_SSL = 0
CFLAGS_EXTRA += -Wno-pointer-arith
