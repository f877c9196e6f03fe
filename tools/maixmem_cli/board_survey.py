# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Asks a K210 board, just reset, what a plan for it has to know. Without the library: it may not be there."""

from __future__ import annotations

import re

from maixmem_k210_chip import IMAGE_OVERHEAD

from maixmem_cli import questions
from maixmem_cli.board_file import BoardFile
from maixmem_cli.project_checks import SIZES
from maixmem_cli.rawrepl import BoardError, RawRepl

_EDGE = 160  # bytes that the size of a GC heap, counted in blocks, may be off by
_MEMTEST = re.compile(r"free sys heap memory *: *(\d+) KB")
# The error of a model that is none names the versions that the build loads; address 1 holds the length of the firmware.
_SURVEY = f"""
import gc, sys
gc.collect()
from Maix import utils
free = utils.heap_free() if hasattr(utils, 'heap_free') else None
import KPU, os, sensor
end = int.from_bytes(utils.flash_read(1, 4), 'little') if hasattr(utils, 'flash_read') else None
why = ''
try:
    KPU.load(1)
except ValueError as e:
    why = str(e)
gc.collect()
say({{'free': free, 'image': end, 'why': why, 'stored': utils.gc_heap_size(), 'pool': gc.mem_alloc() + gc.mem_free(),
    'sizes': [n for n in {list(SIZES)!r} if hasattr(sensor, n)], 'version': os.uname()[3], 'machine': os.uname()[4]}})
"""


def survey(board: RawRepl) -> BoardFile:
    """Resets the board and asks it. BoardError when it is no K210 with MaixPy."""
    board.hard_reset()
    used = board.ask("import gc\ngc.collect()\nprint(gc.mem_alloc())", "asking for its GC heap")
    questions.prepare(board)
    try:
        told = questions.ask(board, _SURVEY)
    except questions.Missing as e:
        raise BoardError(
            f"{board.url}: no K210 with MaixPy v1 ({e}). Next: --save is for those"
        ) from e
    free = told["free"]
    if free is None:
        found = _MEMTEST.search(
            board.check("import KPU\nKPU.memtest()", doing="asking for its heap")
        )
        if not found:
            raise BoardError(f"{board.url}: neither heap_free() nor KPU.memtest() tells its heap")
        free = int(found[1]) * 1024
    stored, pool = told["stored"], told["pool"] * 1036 // 1024
    return BoardFile(
        version=told["version"],
        machine=told["machine"],
        firmware_end=told["image"] and told["image"] + IMAGE_OVERHEAD,
        heap_free=free,
        gc_heap=stored if abs(stored - pool) < _EDGE else pool,
        gc_used=used,
        v4="V4" in told["why"],
        frame_sizes=tuple(told["sizes"]),
    )
