# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Two models in turn, by hand: see what each load takes, free one before loading the next.

Put two models into flash at MODEL_A and MODEL_B: maixmem kfpkg A.kmodel@0x300000 B.kmodel@0x600000
-o m.kfpkg, then kflash m.kfpkg. Without a board: maixmem sim --flash A.kmodel@0x300000 --flash
B.kmodel@0x600000.
"""

import gc

import KPU as kpu
import maixmem
from maixmem_kmodel import read_info

MODEL_A = 0x300000
MODEL_B = 0x600000


def there(address):
    """True when a model is there; else how to put one there. A load of anything else could hang
    the board.

    Firmware that cannot read its flash (M5StickV v5.1.2) cannot look either: there it says so and
    goes on."""
    try:
        read_info(address)
        return True
    except maixmem.KModelError as e:
        where = hex(address)
        text = (
            "no model at {} ({}). Next: maixmem kfpkg FILE@{} -o m.kfpkg on the desk, then "
            "kflash m.kfpkg"
        )
        print(text.format(where, e, where))
        return False
    except NotImplementedError as e:
        print("model at {}, not looked at: {}".format(hex(address), e))
        return True


def load_and_free(name, address, watch):
    print("--- model {} from {}".format(name, hex(address)))
    net = kpu.load(address)
    try:
        watch.mark(name + " loaded")
        maixmem.report()
    finally:
        kpu.deinit(net)  # free before the next load: two together may hang the board
        del net
        gc.collect()
    watch.mark(name + " freed")


def main():
    if not (there(MODEL_A) and there(MODEL_B)):
        return
    print("--- at the start")
    maixmem.report()
    watch = maixmem.Watch()
    load_and_free("A", MODEL_A, watch)
    load_and_free("B", MODEL_B, watch)
    print("--- what it took")
    watch.report()


main()
