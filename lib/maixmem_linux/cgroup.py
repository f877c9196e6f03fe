# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What memory this process may have by its control groups: systemd's MemoryMax, containers."""

from __future__ import annotations

import os
from collections.abc import Iterator

# By kind of file system: limit, use, and what of the use the kernel gives back by itself.
_FILES = {
    "cgroup2": ("memory.max", "memory.current", "inactive_file"),
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def limit(proc: str = "/proc/self") -> tuple[int, int] | None:
    """(bytes that this process may have, bytes in use) where one of its groups limits it, else
    None.

    Each group that it is in holds it, from its own up to the root: the least limit, and so much in
    use that the rest is what the tightest of them has left. Files that were read and can be
    dropped do not count as used.
    """
    read = [_read(folder, kind) for folder, kind in _groups(proc)]
    found = [each for each in read if each is not None]
    if not found:
        return None
    most = min([limit for limit, _ in found])
    left = min([limit - used for limit, used in found])
    return most, max(0, most - left)


# The groups of the process and all above them, as folders that it can see: a container is shown a
# part of the tree, which mountinfo names.
def _groups(proc: str) -> Iterator[tuple[str, str]]:
    own = _own(proc)
    for line in _lines(f"{proc}/mountinfo"):
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), (after.split() or [""])[0]
        if kind not in _FILES or kind not in own or len(fields) < 5:
            continue
        if kind == "cgroup" and "memory" not in after.split()[-1].split(","):
            continue
        root, mount = fields[3], fields[4]
        path = own[kind]
        if root != "/":
            path = path[len(root) :] if (path + "/").startswith(root + "/") else "/"
        folder = os.path.normpath(mount + "/" + path)
        if not (folder + "/").startswith(mount.rstrip("/") + "/"):
            folder = mount  # a group outside of what the process is shown
        while len(folder) >= len(mount):
            yield folder, kind
            folder = os.path.dirname(folder)


def _own(proc: str) -> dict[str, str]:
    found = {}
    for line in _lines(f"{proc}/cgroup"):
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            found["cgroup2"] = path
        elif "memory" in controllers.split(","):
            found["cgroup"] = path
    return found


def _read(folder: str, kind: str) -> tuple[int, int] | None:
    names = _FILES[kind]
    most, used = [_lines(f"{folder}/{name}") for name in names[:2]]
    if not most or not used or not most[0].isdigit() or not used[0].isdigit():
        return None  # "max", and the root of the tree has no such files
    spare = [line.split() for line in _lines(f"{folder}/memory.stat")]
    dropped = sum([int(words[1]) for words in spare if words[:1] == [names[2]]])
    return int(most[0]), max(0, int(used[0]) - dropped)


def _lines(path: str) -> list[str]:
    try:
        with open(path) as f:
            return f.read().splitlines()
    except OSError:
        return []
