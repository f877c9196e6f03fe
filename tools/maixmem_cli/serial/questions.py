# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What doctor and top ask the library on a board: lines of Python that run there, answers as plain
data."""

from __future__ import annotations

import json
from typing import Any

from maixmem_cli.serial.identity import IMPORT_OS
from maixmem_cli.serial.repl import BoardError, RawRepl

_MARK = "@maixmem "
# On MaixPy modules are found in the working folder only (measured on the firmware v0.6.2_84): it
# is changed to the one with the library for the visit, and back by FORGET.
_SAY = (
    IMPORT_OS
    + f"""
try:
    import ujson as json
except ImportError:
    import json
def say(what):
    print({_MARK!r} + json.dumps(what))
import sys
had = list(sys.modules)
home = os.getcwd()
place = None
for p in [home, '/flash', '/sd'] if sys.platform in ('MaixPy', 'CanMV') else []:
    try:
        there = os.listdir(p)
    except OSError:
        continue
    if not place and ('maixmem.py' in there or 'maixmem.mpy' in there):
        place = p
        os.chdir(p)
"""
)
PLACE = "say([home, place])"
# MaixPy's is "v0.6.2-84-g8fcd84a58 on 2022-08-26"; CircuitPython on a PC has no os.uname().
BUILD = "say(os.uname()[3] if hasattr(os, 'uname') else '')"
# Every folder that imports look into, and its files; the working folder by its name.
FILES = """
found = {}
for p in sys.path:
    p = home if p in ('', '.') else p
    try:
        found[p or '/'] = os.listdir(p or '/')
    except OSError:
        pass
say(found)
"""
ROOM = """
room = {}
for p in found:
    try:
        s = os.statvfs(p)
        room[p] = [s[1] * s[3], s[1] * s[2], s[1]]
    except (OSError, AttributeError):
        pass
say(room)
"""
REPORT = """
import maixmem
say(maixmem.report(lambda line: None))
"""
GC_HEAP = """
from maixmem_k210 import utils
import maixmem_k210_gc as g
say({'stored': utils.gc_heap_size(), 'active': g.active_gc_heap(), 'most': g.max_gc_heap_now()})
"""
FLASH = """
import maixmem_flash
m = maixmem_flash.FlashMap()
m.scan(gaps=%(gaps)r, verify=%(verify)r)
say({'regions': [[r.name, r.start, r.end, r.kind, r.source, r.intact] for r in
    sorted(m.regions, key=lambda r: r.start)],
    'conflicts': [str(c) for c in m.conflicts()], 'risks': [str(c) for c in m.risks()],
    'unread': m.unread, 'notes': m.notes})
"""
MODEL = """
p = maixmem.port().for_models()
c = p.inspect(%(address)d)
t = p.check_fit(c) if not c.refuse else None
say({'need': c.need, 'peak': c.peak, 'certainty': c.certainty, 'refuse': c.refuse,
    'shortage': t and p.explain(t)})
"""
# Gives back what was imported for the visit, and leaves what the program had.
FORGET = """
os.chdir(home)
for n in [n for n in sys.modules if n[:7] == 'maixmem' and n not in had]:
    del sys.modules[n]
g = p = m = c = t = found = room = w = totals = calm = sample = maixmem = maixmem_flash = None
gc.collect()
"""
# calm() collects at several depths: a collector that scans the stack takes what an earlier call
# left there for a reference, and the deeper calls write over it. What it keeps so differs with the
# depth, so the most that was free of several looks counts. sample() stays on the board: code that
# is sent for each sample would be garbage for the next, and every other one was 128 bytes off.
WATCH = """
import maixmem, gc
def calm(n):
    if n:
        calm(n - 1)
    gc.collect()
w = maixmem.Watch()
totals = {r.name: r.total for r in maixmem.regions()}
def sample():
    most = [0] * len(w.names)
    for depth in (1, 2, 3, 5):
        calm(depth)  # what the visit itself left is collected
        w.sample()
        for i in range(len(most)):
            most[i] = max(most[i], w.free[i])
    say(most)
say([w.names, [totals.get(n) for n in w.names]])
"""
SAMPLE = "sample()\n"


class Missing(BoardError):
    """The library, or a module of it, is not on the board."""


def prepare(board: RawRepl) -> None:
    """Defines say() on the board; needed once for each interpreter, so after a reset again."""
    board.check(_SAY)


def ask(board: RawRepl, code: str, timeout: float = 60) -> Any:
    """What the code said. BoardError with the board's last line when it raised, Missing for an
    ImportError."""
    out, error = board.run(code, timeout, limit=timeout)
    if error:
        last = error.strip().splitlines()[-1]
        raise (Missing if last.startswith("ImportError") else BoardError)(last)
    for line in reversed(out.splitlines()):
        if line.startswith(_MARK):
            return json.loads(line[len(_MARK) :])
    raise BoardError(f"{board.url}: no answer in {out[-200:]!r}. Next: reset the board.")
