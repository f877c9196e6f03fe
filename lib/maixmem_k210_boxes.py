# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The stack that YOLO takes of a thread on the K210. A one-time part.

kpu.run_yolo2() sorts its boxes on the stack of the caller: 16 bytes a box and about 2 KiB, asked
of MaixPy v0.6.2_84 with outputs of 245, 350 and 1500 boxes: 5,948, 7,628 and 26,028 bytes from
the top of a thread. It does not check: past the end it writes into the system heap.
"""

import _thread

from maixmem import const, run_once
from maixmem_k210_kpu import kpu
from maixmem_kmodel import KINDS3, File, identify, walk

_BOX = const(16)
_CALL = const(2048)  # of run_yolo2() itself
_BELOW = const(8192)  # of the program's own calls in a thread, and of a part that is imported
_CONV = const(10240)  # layer type of V3 that runs on the KPU
_LEAST = const(24)  # bytes of output a box at least: four places, one object, one class


def need(net, anchors: int) -> int:
    """Bytes of stack that a run_yolo2() of this net takes. Threads that begin from now on have as
    much, and what a program's own calls take."""
    nbytes = _BOX * _boxes(net, anchors) + _CALL
    _thread.stack_size(max(_thread.stack_size(), (nbytes + _BELOW + 1023) & -1024))
    return nbytes


def _boxes(net, anchors):
    """How many boxes; the most that there can be where the header does not tell."""
    source = net.how.get("file", net.source)
    try:
        if isinstance(source, str):
            return run_once("kmodel_mem", "with_file", source, lambda f: _of_header(f, anchors))
        from maixmem import port

        return _of_header(File(port().read_flash, 1 << 24, source), anchors)
    except NotImplementedError:  # flash that cannot be read: a V3 model, which can be asked
        return kpu.get_output(net.handle, 0).size() // _LEAST


def _of_header(f, anchors):
    m = identify(f)
    if m.format != "v3":
        return m.outputs[0][2] // _LEAST if m.outputs else 0
    last = []

    def visit(kind, at, size):
        if kind == _CONV:
            last[:] = [at]

    walk(m, f, 28 + 8 * len(m.outputs), KINDS3, visit)
    at = f.words(last[0], 3, "last convolution")[2] if last else 0
    if not at:
        return m.outputs[0][2] // _LEAST
    sides = f.words(at + 28, 1, "its registers")[0]
    return ((sides & 1023) + 1) * ((sides >> 10 & 511) + 1) * anchors
