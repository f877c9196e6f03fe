# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""50 threads and room for one model: each waits for 3 x 50 x (load and hold, as measured). Who was
served, in which order; and a wait that an alarm ends."""

import os
import signal
import sys
import threading
import time

from rknn_board import board, tell

MANY, HOLD = 50, 0.01

there, version = board()
import maixmem_rknn  # noqa: E402
from maixmem import NoRoom  # noqa: E402
from maixmem_models import ModelManager  # noqa: E402

path = there.path("two")
port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
port.budget = port.inspect(path, shared=False).peak["npu"] * 3 // 2
models = ModelManager(port, margin=0)
for i in range(MANY):
    models.add(i, path, shared=False)
line = vars(port)["_guard"].line
came, served, refused, works = [], [], [], []


class Stop(BaseException):
    """What the alarm raises."""


def stop(number, frame):
    raise Stop


def hold(i, seconds):
    try:
        with models.using(i, wait=seconds) as net:
            served.append(i)
            works.append(len(net.run(*[bytes(t.packed) for t in net.raw.inputs])))
            time.sleep(HOLD)
    except NoRoom:
        refused.append(i)


hold(0, 60)
begin = time.monotonic()
hold(1, 60)
seconds = 3 * MANY * (time.monotonic() - begin)
del served[:], works[:]
threads = []
with models.using(0):  # nobody else has room
    for i in range(1, MANY):
        threads.append(threading.Thread(target=hold, args=(i, seconds)))
        threads[-1].start()
        while len(line._line) < i:
            time.sleep(0.001)
        came.append(i)
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with models.using(1, wait=seconds):
            tell("not ended", 0)
    except Stop:
        tell("ended by the alarm", len(line._line))
hold(0, seconds)
for thread in threads:
    thread.join()
tell("served", len(served), len(refused), served[: MANY - 1] == came, works == [1] * MANY)
models.release_all()
port.close()
tell("end", there.live(), there.held(), port.used, port.lib.leaked_bytes)
sys.stdout.flush()
os._exit(0)
