# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Makes a board one whose firmware lacks what a snapshot of its heap is usually taken with."""

from __future__ import annotations

from collections.abc import Iterable

from maixmem_cli.serial.repl import RawRepl

#: {what a firmware may lack: the code that makes it so until the next soft reset}
LACKS: dict[str, str] = {
    "uctypes": "sys.modules['uctypes'] = object()",
    "mem_info": """
class Less:
    def __init__(self, m, *names):
        for n in names:
            if hasattr(m, n): setattr(self, n, getattr(m, n))
import micropython
sys.modules['micropython'] = Less(micropython, 'const', 'heap_lock', 'heap_unlock', 'opt_level')
""",
    "O": """
try:
    import ustruct as had
except ImportError:
    import struct as had
class Packs:
    pass
def unpack(code, data):
    if 'O' in code:
        raise ValueError('bad typecode')
    return had.unpack(code, data)
packs = sys.modules['ustruct'] = sys.modules['struct'] = Packs()
def calcsize(code):
    if 'O' in code:
        raise ValueError('bad typecode')
    return had.calcsize(code)
packs.calcsize, packs.pack, packs.unpack = calcsize, had.pack, unpack
""",
}


def hide(repl: RawRepl, names: Iterable[str]) -> None:
    """Takes them from the board behind that REPL."""
    for name in names:
        repl.check("import sys\n" + LACKS[name])
