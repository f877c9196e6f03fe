# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Asks a K210 board, just reset, what a plan for it has to know. Without the library: it may not
be installed."""

from __future__ import annotations

import contextlib
import re
import struct

from k210_model.frame_sizes import SIZES
from maixmem_k210_chip import EDGE, IMAGE_OVERHEAD
from maixmem_k210_gc import gc_heap_of

from maixmem_cli.firmware.board_file import BoardFile
from maixmem_cli.serial import question, visit
from maixmem_cli.serial.repl import BoardError, RawRepl

_MEMTEST = re.compile(r"free sys heap memory *: *(\d+) KB")

# A V4 model without layers, as a file: what loads V4 loads it. What the firmware says it loads is
# not to be trusted: v0.5.0-98 says V4, refuses the first one (dumps core if it has less than 128
# bytes) and dumps core on the second. So it is asked last, with zeros behind, and reset after it.
_V4 = "/flash/maixmem_v4.kmodel"
_V4_MODEL = struct.pack("<10I984x", 0x4B4D444C, 4, 0, 1, 0, 0, 0, 0, 0, 0)
#: what an answer that is kept was asked with
QUESTIONS = "\n".join(question.source("survey")[0])


def survey(board: RawRepl) -> BoardFile:
    """Resets the board and asks it. BoardError when it is no K210 with MaixPy."""
    board.hard_reset()
    used = visit.ask(board, "survey", "gc_used")
    try:
        told = visit.ask(board, "survey", "survey", list(SIZES))
    except visit.Missing as e:
        raise BoardError(
            f"{board.url}: no K210 with MaixPy v1 ({e}). Next: --save is for those"
        ) from e
    free = told["free"]
    if free is None:
        free = _memtest(board)
    stored, pool = told["stored"], gc_heap_of(told["pool"])
    return BoardFile(
        version=told["version"],
        machine=told["machine"],
        firmware_end=told["image"] and told["image"] + IMAGE_OVERHEAD,
        heap_free=free,
        gc_heap=stored if abs(stored - pool) < EDGE else pool,
        gc_used=used,
        frame_sizes=tuple(told["sizes"]),
        lcd=_lcd(board),
        v4=_loads_v4(board),
    )


def _memtest(board: RawRepl) -> int:
    """Free bytes of the system heap, whole KiB, as firmware before heap_free() prints them."""
    found = _MEMTEST.search(board.check("import KPU\nKPU.memtest()", doing="asking for its heap"))
    if not found:
        raise BoardError(f"{board.url}: neither heap_free() nor KPU.memtest() tells its heap")
    return int(found[1]) * 1024


def _lcd(board: RawRepl) -> int:
    """Bytes of system heap that the first lcd.init() takes: none where the boot has shown a
    picture, or without a display."""
    try:
        before = _memtest(board)
        buffer: int = visit.ask(board, "survey", "display")
        return buffer if before - _memtest(board) > buffer // 2 else 0
    except BoardError:
        return 0


def _loads_v4(board: RawRepl) -> bool:
    """Whether the board loads a V4 model, and then it is reset. One that hangs on it does not, and
    stays as it is."""
    board.write_file(_V4, _V4_MODEL)
    loaded = False
    with contextlib.suppress(BoardError):
        loaded = visit.ask(board, "survey", "loads", _V4)
    with contextlib.suppress(BoardError):
        board.hard_reset()
        board.check(f"import os\nos.remove({_V4!r})")
    return loaded
