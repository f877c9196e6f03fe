# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The line that makes unchanged scripts safe, `import maixmem_auto`: into the boot.py of a board
and out of it, with the library and the GC heap that it needs."""

from __future__ import annotations

import re
from typing import Any

from maixmem_k210_chip import PAGE
from maixmem_report import kib

from maixmem_cli.board import deploy
from maixmem_cli.board.diagnosis import Diagnosis
from maixmem_cli.emulator.connect import connect
from maixmem_cli.serial.identity import identity
from maixmem_cli.serial.repl import RawRepl
from maixmem_cli.serial.transfer import Transfer
from maixmem_cli.serial.visit import ask
from maixmem_cli.text.needs import WrongUse

_BOOT = "boot.py"  # where it is, all firmware runs it first; some run nothing else
_LINES = """\
try: import maixmem_auto  # maixmem auto --install{}
except Exception as e: print("maixmem_auto:", e)
"""
_OURS = re.compile(rb"try: import maixmem_auto  # maixmem auto --install(.*)\n.*\n")
_BEFORE = re.compile(rb"GC heap before: (\d+)")
_WAIT = 10.0  # seconds for a board that was cut off
_CAMERA = 5 * 320 * 240  # bytes of its buffers for QVGA frames


def with_lines(source: bytes, note: str = "") -> bytes:
    """A boot.py with our lines before everything else; as it is where it imports maixmem_auto."""
    if re.search(rb"^[^#\n]*\bimport +maixmem_auto\b", source, re.MULTILINE):
        return source
    return _LINES.format(note).encode() + source


def without_lines(source: bytes) -> bytes:
    """A boot.py without our lines; somebody else's stay."""
    return _OURS.sub(b"", source)


def gc_heap_before(source: bytes) -> int | None:
    """The size of the GC heap that our lines have noted, or None."""
    ours = _OURS.search(source)
    noted = ours and _BEFORE.search(ours[1])
    return int(noted[1]) if noted else None


def is_free(more: int, free: int, peaks: list[int]) -> bool:
    """Whether the system heap can spare `more` of its `free` bytes: each model that loads now,
    alone or beside the camera, still does."""
    return not any(free - more < n <= free for p in peaks for n in (p, p + _CAMERA))


def install(port: str, progressing: deploy.Progressing) -> dict[str, Any]:
    """Library, line and GC heap onto a board; what was done, and what doctor finds after it."""
    with deploy.first(port) as board:
        who = identity(board)
        if who.kind != "maixpy":
            raise WrongUse(f"--port {port}: maixmem_auto is for MaixPy v1, this is {who}")
        boot, source = _boot(board, who.target)
    done = deploy.to_board(
        port, (), target=None, sources=False, patience=_WAIT, progressing=progressing
    )
    changed = with_lines(source or b"") != source
    heap: dict[str, Any] = {}
    if changed:
        with connect(port) as board:
            heap = _gc_heap(board)
            if heap["now"]:
                ask(board, "library", "set_gc_heap", heap["now"], doing="setting the GC heap")
        note = f", GC heap before: {heap['before']}" if heap["now"] else ""
        _write(port, boot, with_lines(source or b"", note))
    with connect(port) as board:
        board.hard_reset()
        after = Diagnosis(board, full=False)
        after.run()
    told = {"boot": boot, "changed": changed, "gc_heap": heap, "deploy": done}
    return {**told, "doctor": after.results, "findings": after.findings}


def _write(port: str, boot: str, source: bytes) -> None:
    Transfer(lambda: connect(port), {boot: source}).run(lambda name, nbytes: None)


def _boot(board: RawRepl, folder: str) -> tuple[str, bytes | None]:
    """The boot.py that this board runs, and what is in it, None where there is none yet."""
    boot = f"{folder}/{_BOOT}"
    source = ask(board, "files", "content", boot)
    other = f"/flash/{_BOOT}"
    if source is None and boot != other and ask(board, "files", "content", other) is not None:
        raise WrongUse(
            f"{other} is there and {boot} is not, which would hide it. Next: take the card out, "
            f"or put the program's {_BOOT} on it"
        )
    return boot, source


def _gc_heap(board: RawRepl) -> dict[str, Any]:
    """The GC heap `before`, in bytes, what it is to be `now`, None with the reason in `why`."""
    diagnosis = Diagnosis(board, full=False)
    diagnosis.run()
    told = diagnosis.results
    heap = told.get("gc_heap")
    if not heap:
        return {"before": None, "now": None, "why": "this firmware has no setting for it"}
    now = heap["stored"]
    takes = -(-ask(board, "library", "auto_takes") // PAGE) * PAGE
    free = next(r["free"] for r in told["report"]["regions"] if r["name"] == "heap")
    peaks = [m["peak"]["heap"] for m in told.get("models", []) if "peak" in m]
    if now + takes > heap["most"] or not is_free(takes, free, peaks):
        why = f"the {kib(takes)} that it takes are not free beside the models"
        return {"before": now, "now": None, "why": why}
    return {"before": now, "now": now + takes, "why": ""}


def remove(port: str) -> dict[str, Any]:
    """Takes the line, the larger GC heap and the library off; what was done, as plain data."""
    with deploy.first(port) as board:
        boot, source = _boot(board, identity(board).target)
        new = without_lines(source or b"")
        before = gc_heap_before(source or b"")
        if before:
            ask(board, "library", "set_gc_heap", before, doing="setting the GC heap")
        if source and not new:
            ask(board, "files", "remove", [boot], doing=f"removing {boot}")
    if source and new not in (b"", source):
        _write(port, boot, new)
    done = deploy.remove(port, None)
    with connect(port) as board:
        board.hard_reset()
    return {"boot": boot, "changed": bool(source) and new != source, "gc_heap": before, **done}
