# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a process has besides memory: file descriptors, which a runtime takes with each load; and
its heap, which some runtimes let grow with each load."""

from __future__ import annotations

import os
import resource

from maixmem import NoRoom, Region


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


def short_of(name: str, need: int) -> NoRoom | None:
    """NoRoom when fewer than `need` descriptors are free for a load of `name`, else None."""
    found = descriptors()
    free = found[0] - found[1] if found else need
    if free >= need:
        return None
    text = "{}: a load takes up to {} file descriptors, {} of {} are free. Next: close files, "
    text += "unload a model, or raise the limit (ulimit -n)"
    return NoRoom(text.format(name, need, free, found and found[0]), "files", need, free)
