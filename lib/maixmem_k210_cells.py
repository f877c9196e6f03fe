# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The cells of YOLO's output, by the file of a K210 model. A one-time part.

kpu.run_yolo2() makes boxes of what the last convolution on the KPU gives, width by height by
anchors, whatever comes behind it (measured on MaixPy v0.6.2_84, models of 1 and 20 classes).
"""

from maixmem import const, port, run_once
from maixmem_k210_chip import FLASH_SIZE
from maixmem_kmodel import KINDS3, File, identify, walk

_CONV = const(10240)  # the type of a layer on the KPU
_SIDES = const(28)  # bytes into the registers of a convolution: width and height of its output
_BOX = const(24)  # bytes of output that a box has at least: 4 places, 1 object, 1 class


def cells(source) -> int:
    """Width times height; where the file does not tell it, how many boxes its output can hold as a
    negative number; 0 where nothing is known. `source`: a flash address or a path."""
    if isinstance(source, int):
        return _cells(File(port().read_flash, FLASH_SIZE - source, source))
    return run_once("kmodel_mem", "with_file", source, _cells)


def _cells(f):
    m = identify(f)
    convs = []  # type: list[int]
    if m.format == "v3":
        walk(
            m,
            f,
            28 + 8 * len(m.outputs),
            KINDS3,
            lambda kind, at, size: kind == _CONV and convs.append(at),
        )
    if convs:
        registers = f.words(convs[-1] + 8, 1, "conv")[0]
        sides = f.words(registers + _SIDES, 1, "conv")[0]
        return ((sides & 1023) + 1) * ((sides >> 10 & 511) + 1)
    return -(m.outputs[0][2] // _BOX) if m.outputs else 0
