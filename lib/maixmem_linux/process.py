# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a process has besides memory: file descriptors, which a runtime takes with each load; and
its heap, which some runtimes let grow with each load."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from maixmem import NoRoom, Region
from maixmem_report import kib
from maixmem_text import tell

# what has to have been seen before it is said
LOADS, GROWN = 50, 512 << 10


def heap_bytes() -> int | None:
    """Bytes of the process's own data (VmData of /proc/self/status), or None."""
    try:
        with open("/proc/self/status") as f:
            for line in f:
                if line.startswith("VmData:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def descriptors() -> tuple[int, int] | None:
    """(descriptors that the process may have, those that are open), or None where nobody tells."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        open_now = len(os.listdir("/proc/self/fd")) - 1  # that of the listing
    except OSError as e:
        if e.errno != 24:  # EMFILE: not even one for the listing
            return None
        open_now = limit
    return limit, open_now


def regions() -> list[Region]:
    """Rows for the report: "process", its own data in bytes, and "files", in descriptors."""
    heap, files = heap_bytes(), descriptors()
    rows = [Region("process", None, heap, None)] if heap is not None else []
    if files:
        rows.append(Region("files", files[0], files[1], max(0, files[0] - files[1])))
    return rows


# Contract. A with block around each load and each unload, one thread at a time; `resident` are the
# models that are loaded. Only what the process's own data grew within is counted, from the first
# to the last time that so many were loaded: what a loaded model keeps is not growth.
class Growth:
    """What each load costs the process's heap for good."""

    def __init__(self, resident: Sequence[object]) -> None:
        self._resident = resident
        self._loads = self._grown = self._there = self._before = 0
        self._then: dict[int, tuple[int, int]] = {}

    def __enter__(self) -> None:
        self._there, self._before = len(self._resident), heap_bytes() or 0

    def __exit__(self, *exc: object) -> None:
        self._grown += (heap_bytes() or 0) - self._before
        self._loads += len(self._resident) > self._there
        self._then.setdefault(len(self._resident), (self._loads, self._grown))

    def warnings(self) -> list[str]:
        """One sentence once it is certain: a C library grows its heap in steps of 132 KiB."""
        loads, grown = self._then.get(len(self._resident), (self._loads, self._grown))
        loads, grown = self._loads - loads, self._grown - grown
        if loads < LOADS or grown < GROWN:
            return []
        text = "each load costs {} of the process's own heap for good, {} since {} loads: keep "
        text += "models loaded, or restart the process now and then"
        return [text.format(kib(grown // loads), kib(grown), loads)]


def short_of(name: str, need: int) -> NoRoom | None:
    """NoRoom when fewer than `need` descriptors are free for a load of `name`, else None."""
    found = descriptors()
    free = found[0] - found[1] if found else need
    if free >= need:
        return None
    text = "{}: a load takes up to {} file descriptors, {} of {} are free.\nclose files, "
    text += "unload a model, or raise the limit (ulimit -n)"
    return NoRoom(tell(text, name, need, free, found and found[0]), "files", need, free)
