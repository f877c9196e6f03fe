# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Two models in turn, by hand: see what each load takes, free one before loading the next.

Put two models into flash at MODEL_A and MODEL_B (kflash_gui, or `maixmem sim --flash` without a board).
"""

import gc

import KPU as kpu
import maixmem

MODEL_A = 0x300000
MODEL_B = 0x600000

print("--- at the start")
maixmem.report()
watch = maixmem.Watch()

print("--- model A from", maixmem.hexa(MODEL_A))
net = kpu.load(MODEL_A)
try:
    watch.mark("A loaded")
    maixmem.report()
finally:
    kpu.deinit(net)  # free before the next load: two together may hang the board
    del net
    gc.collect()
watch.mark("A freed")

print("--- model B from", maixmem.hexa(MODEL_B))
net = kpu.load(MODEL_B)
try:
    watch.mark("B loaded")
    maixmem.report()
finally:
    kpu.deinit(net)
    del net
    gc.collect()
watch.mark("B freed")

print("--- what it took")
watch.report()
