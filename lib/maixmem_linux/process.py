# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a process has besides memory: file descriptors, which a runtime takes with each load; and
its heap, which some runtimes let grow with each load."""

from __future__ import annotations

import mmap
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


def no_addresses(name: str, need: int) -> NoRoom | None:
    """NoRoom where the process has no addresses left for a piece of `need` bytes, else None: a
    runtime may lose what it cannot map."""
    try:
        mmap.mmap(-1, need, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except (OSError, OverflowError):
        text = "{}: this process has no {} bytes of addresses left in one piece.\nfree buffers, "
        text += "unload a model, or raise the limit (ulimit -v)"
        return NoRoom(tell(text, name, need), "process", need, None)
    return None


def regions() -> list[Region]:
    """Rows for the report: "process", its own data in bytes, and "files", in descriptors."""
    heap, files = heap_bytes(), descriptors()
    rows = [Region("process", None, heap, None)] if heap is not None else []
    if files:
        rows.append(Region("files", files[0], files[1], max(0, files[0] - files[1])))
    return rows


# Contract. A with block around each whole call that loads or unloads, those of a manager with all
# that they ask before: what a load keeps of the heap makes it grow where the next piece is taken,
# which may be in a later question. Inner blocks count loads only. `resident` are the models that
# are loaded. Only what the process's own data grew within is counted, from the first to the last
# time that so many were loaded: what a loaded model keeps is not growth.
class Growth:
    """What each load costs the process's heap for good."""

    def __init__(self, resident: Sequence[object]) -> None:
        self._resident = resident
        self._depth = self._loads = self._grown = self._before = 0
        self._then: dict[int, tuple[int, int]] = {}

    def __enter__(self) -> None:
        if not self._depth:
            self._before = heap_bytes() or 0
        self._depth += 1

    def __exit__(self, *exc: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._grown += (heap_bytes() or 0) - self._before
            self._then.setdefault(len(self._resident), (self._loads, self._grown))

    def loaded(self) -> None:
        """One model more was loaded."""
        self._loads += 1

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
