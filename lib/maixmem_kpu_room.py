# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Room for the buffers of camera and display, and for stacks of threads: models go for them. A
one-time part of maixmem_kpu and maixmem_auto.

The functions of the firmware's names get (`handler`, arguments, named ones), as those of
maixmem_kpu_load.
"""

import gc

from maixmem import NoRoom, const, message, run_once
from maixmem_k210_chip import chunk
from maixmem_kpu import _m, _part

_RESERVE = const(65536)  # left to display and finders beside our models where that can be had
_TASK = const(2224)  # that a thread takes beside its stack
_DEFAULT = const(5120)  # the stack of a thread where none is set
_OURS = const(4096)  # ... that our calls take beside the firmware's
_WHOLE = const(524280)  # the largest: the firmware takes numbers modulo 512 KiB
_DISPLAY = const(153600)  # the buffer of a display of 320x240, the largest


def stack(asked):
    """The stack of a thread where there may be no room for it, `asked` is what was set: models go
    for it, the one used least recently first. NoRoom where that does not do."""
    least = min(asked or _DEFAULT, _WHOLE)
    n = min(least + _OURS, _WHOLE)
    gc.collect()
    while not fits(n):
        held = [x for x in _m.loaded() if not x.pin]
        if not held:
            break
        oldest = min(held, key=lambda x: x.used)
        _m.release(oldest.name)
        oldest.order = 0
        gc.collect()
    else:
        return n
    if _m.port.exact and not fits(least):  # else it is not known: as the firmware does
        free = _m.port.largest
        raise NoRoom(message("stack", least, least + _TASK + 32, free), "stack", least, free)
    return least


def fits(nbytes):
    """Whether malloc has a stack of so many bytes and what a thread takes beside it."""
    p = _m.port
    free = p.free_bytes()
    pieces = (chunk(nbytes), chunk(_TASK))
    if not p.exact:
        return free > sum(pieces)
    return not run_once("k210_fit", "missing", p.heap, pieces)


def reset(handler, args, how):
    """Before sensor.reset()."""
    _m.sensor = (2 if how.get("dual_buff") else 1, None)
    return handler


def set_framesize(handler, args, how):
    """Before sensor.set_framesize(): `camera` is how many buffers it has, and their frame size."""
    number, size = getattr(_m, "sensor", (1, None))
    if args and args[0] != size:
        import sensor

        _m.sensor = number, args[0]
        w = 640 if args[0] == getattr(sensor, "VGA", None) else 320
        room(w * w * 15 // 4 * number + 64)
        if _m.loaded() and (w == 640 or args[0] == sensor.QVGA):
            try:
                if run_once("camera", "check_camera", w, w * 3 // 4, number):
                    _part("load", "clear")  # enough, but in pieces
            except (MemoryError, NotImplementedError):
                pass  # as the firmware does
    return handler


def init(handler, args, how):
    """Before lcd.init()."""
    room(_DISPLAY)
    return handler


def room(nbytes):
    """Before a buffer of so many bytes is taken: models that fit beside it afterwards go, so that
    it lies below them; else what was requested is loaded first, as the firmware does."""
    tasks = [x for x in _m.models.values() if x.cost and not x.pin]
    if not tasks:
        return
    gc.collect()
    free = _m.port.free_bytes() - nbytes - _RESERVE
    for x in tasks:
        if x.handle is not None:
            free += x.cost.need["heap"]
    if max([x.cost.peak["heap"] for x in tasks]) <= free:
        return _part("load", "clear")
    for x in tasks:
        if x.handle is None and not x.order:
            try:
                _part("load", "start", x)
            except MemoryError:
                pass  # at its first use it is told
    if _m.port.free_bytes() < nbytes:
        _part("load", "clear")
