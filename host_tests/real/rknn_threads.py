# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Two threads and one model manager, 500 random calls, while now and then the driver has no
memory.

Models of an older container: with newer ones rknn_init ends the process when memory runs out in it
(docs/linux_tested.md). And not on 1.4.0 and 1.5.0, whose rknn_init was seen not to return after
some that had run out of memory.
"""

import os
import sys
import threading

from rknn_board import board, tell

STEPS = 500


def starve(there, over):
    """Every 20 ms the third allocation from then on fails."""
    while not over.wait(0.02):
        there.fail(3, forever=False)
    there.fail(0)


def main():
    there, version = board()
    sys.path.insert(0, os.path.join(sys.argv[1], "host_tests", "kits"))
    import maixmem_rknn
    import threads_kit as kit
    from maixmem_models import ModelManager

    port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=4 << 20)
    with open(there.path("two"), "rb") as f:
        data = f.read()
    manager = ModelManager(port, keep=3, margin=0)
    over = threading.Event()
    starving = threading.Thread(target=starve, args=(there, over))
    if version >= "1.5.2":
        starving.start()
    done, refused = kit.hammer(manager, [(data, {})] * 5, STEPS)
    over.set()
    if starving.ident:
        starving.join()
    there.fail(0)
    tell("done", done, refused > 0 or version < "1.5.2", manager.switches > 0)
    tell("agree", kit.handles(manager) == sorted(map(id, port.models)))
    for name in range(5):
        model = manager.use(name).raw
        tell("works", name, len(model.run(*[bytes(t.packed) for t in model.inputs])))
    manager.release_all()
    tell("end", there.live(), there.held(), there.bad(), port.lib.leaked_bytes)
    # the two calls of use() at a time that lost a model
    manager = ModelManager(port)
    manager.add("a", data)
    threads = [threading.Thread(target=manager.use, args=("a",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell("loaded", len(port.models), len(manager.loaded()))
    manager.release_all()
    tell("end", there.live(), there.held(), there.bad(), port.lib.leaked_bytes)


main()
sys.stdout.flush()
os._exit(0)
