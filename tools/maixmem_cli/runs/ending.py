# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the end of a run means for a verdict: an error for want of memory, or something that the
run did not have."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from maixmem_cli.emulator.readers.tracer import RAW_FILE
from maixmem_cli.errors import table
from maixmem_cli.record.record import CARD, DEVICE, MODEL, MODULE, SENSOR, Missing, Place

HEAD = "Traceback (most recent call last):"
#: rows of the table of errors that say: an allocation got nothing
_MEMORY = set(
    "image-heap work-buffer syscall-memory boot-heap 2006 2009 model-buffer list-memory gc-heap"
    " ENOMEM ENOMEM-else driver-memory memory-error no-room".split()
)
_PICTURE = "picture-size"
_OF_GC = {"image-heap", "gc-heap", "memory-error"}
_MISSING = {
    "no-camera": SENSOR,
    "sensor-timeout": SENSOR,
    "2002": MODEL,
    "2003": MODEL,
    "2005": MODEL,
    "no-model-here": MODEL,
    "no-module": MODULE,
    "ENOENT": CARD,
    "ENODEV": CARD,
    "network": DEVICE,
    "EIO": DEVICE,
}
_ASKED = re.compile(r"allocating (\d+) bytes")
_NO_ROOM = re.compile(r"^NoRoom: .*?(?:takes|needs) (\d+) bytes of system heap\D+(\d+)")
_OUTERMOST = re.compile(r'File "(.+?)", line (\d+)(?:, in (\S+))?')
_OF_FILES = re.compile(r"open\(|sd\b|/flash|Image\(|os\.")
_NAME = re.compile(r"named '([^']+)'")


@functools.lru_cache(maxsize=256)  # one that a program catches comes again and again
def _row(error: str) -> str:
    found = table.find(error, "k210")
    return found[0].id if found else ""


def of_memory(error: str) -> bool:
    """Whether the last line of a traceback says that memory was missing."""
    return _row(error) in _MEMORY or error.startswith("NoRoom:")


def of_picture(error: str) -> bool:
    """Whether it says that a model does not take a picture of that size."""
    return _row(error) == _PICTURE


def no_room(error: str) -> tuple[int, int] | None:
    """Bytes of system heap that the library found missing before a load: wanted, free."""
    found = _NO_ROOM.search(error)
    return (int(found[1]), int(found[2])) if found else None


def of_gc(error: str) -> bool:
    """Whether it is the GC heap's."""
    return _row(error) in _OF_GC


def of_image(error: str) -> bool:
    """Whether it is a picture's, which does not say how many bytes it wanted."""
    return _row(error) == "image-heap"


def asked(error: str) -> int | None:
    """How many bytes of the GC heap it says were requested."""
    found = _ASKED.search(error)
    return int(found[1]) if found else None


def missing(error: str, at: Sequence[Place]) -> Missing | None:
    """What the run did not have, where the last line of a traceback says so; `at`: the lines that
    raised it, the innermost first."""
    row = _row(error)
    kind = _MISSING.get(row)
    if kind is None:
        return None
    if row in ("ENODEV", "EIO"):  # of a card, or of a bus on which nobody answers
        kind = CARD if at and _OF_FILES.search(at[0].text) else DEVICE
    name = _NAME.search(error)
    return Missing(kind, name[1] if name else "")


def last_line(traceback: str) -> str:
    """The line that names the exception."""
    return next((x for x in reversed(traceback.splitlines()) if x.strip()), "")


def places(traceback: str, script: Path) -> list[tuple[str, int, str]]:
    """(file, line, function) of a traceback, the innermost first. What exec() was given has a name
    in angle brackets, too: its lines are not the script's."""
    names = {str(script): script.name, RAW_FILE: script.name}
    found = _OUTERMOST.findall(traceback)
    return [(names.get(file, file), int(line), function) for file, line, function in found[::-1]]


def caught(output: str) -> str:
    """The last traceback that a script printed of an error that it caught itself; ""."""
    _, head, rest = output.rpartition(HEAD)
    if not head:
        return ""
    lines = rest.lstrip("\r\n").splitlines()
    end = next((i for i, x in enumerate(lines) if x[:1] not in (" ", "")), len(lines))
    return "\n".join([HEAD, *lines[: end + 1]])
