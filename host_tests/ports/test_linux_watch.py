# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Plain Linux: a watch over its memory, and a container's limit where that is less."""

from __future__ import annotations

from pathlib import Path

import maixmem_generic
import pytest
from maixmem_linux import cgroup
from maixmem_watch import Watch

MIB = 1 << 20


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_python: None):
    """set(MemTotal MiB, MemAvailable MiB, limit or None, use): the files of a machine."""
    limits = (tmp_path / "memory.max", tmp_path / "memory.current")
    (tmp_path / "cgroup").write_text("0::/\n")
    (tmp_path / "mountinfo").write_text(f"1 2 0:3 / {tmp_path} rw - cgroup2 cgroup rw\n")
    info = {}
    monkeypatch.setattr(maixmem_generic, "meminfo", lambda *path: info)
    read = cgroup.limit
    monkeypatch.setattr(cgroup, "limit", lambda: read(str(tmp_path)))

    def write(total: int, available: int, most: object = None, used: int = 0) -> None:
        info.update(MemTotal=total * MIB, MemAvailable=available * MIB)
        if most is not None:
            limits[0].write_text(f"{most}\n")
            limits[1].write_text(f"{used * MIB}\n")

    return write


def test_a_watch_sees_ram(linux):
    linux(1000, 700)
    watch = Watch(maixmem_generic.Port())
    assert watch.names == ("ram",) and watch.start == [700 * MIB]
    linux(1000, 400)
    watch.sample()
    linux(1000, 600)
    watch.sample()
    assert (watch.low, watch.free) == ([400 * MIB], [600 * MIB])
    assert watch.high_water() == {"ram": 300 * MIB}


@pytest.mark.parametrize(
    ("most", "used", "total", "free"),
    [
        (256 * MIB, 56, 256, 200),
        (256 * MIB, 300, 256, 0),
        ("max", 56, 1000, 700),
        (2000 * MIB, 56, 1000, 700),  # more than there is
        (900 * MIB, 56, 900, 700),  # the machine has less to give
    ],
)
def test_a_container_s_limit_counts_where_it_is_less(linux, most, used, total, free):
    linux(1000, 700, most, used)
    ram = maixmem_generic.ram_region()
    assert (ram.total, ram.free) == (total * MIB, free * MIB)
    assert maixmem_generic.Port().room("ram") == free * MIB


def test_without_the_files_there_is_nothing_to_watch(linux):
    assert maixmem_generic.Port().watched == ()


class Groups:
    """The files of control groups in a folder: {group: (limit, use, what can be dropped)}."""

    def __init__(self, folder: Path, version: int) -> None:
        self.folder, self.version = folder, version

    def tell(self, own: str, mount: str, root: str, groups: dict[str, tuple]) -> None:
        kind = "cgroup2 cgroup rw" if self.version == 2 else "cgroup cgroup rw,memory"
        own = f"0::{own}" if self.version == 2 else f"4:memory:{own}\n3:cpu:/other\n0::/"
        (self.folder / "cgroup").write_text(own + "\n")
        place = self.folder / mount
        text = f"9 8 0:7 / /proc rw - proc proc rw\n1 2 0:3 {root} {place} rw shared:1 - {kind}\n"
        (self.folder / "mountinfo").write_text(text)
        names = {
            2: ("memory.max", "memory.current", "inactive_file"),
            1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        }[self.version]
        for group, (most, used, dropped) in groups.items():
            where = place / group
            where.mkdir(parents=True, exist_ok=True)
            (where / names[0]).write_text(f"{most}\n")
            (where / names[1]).write_text(f"{used}\n")
            (where / "memory.stat").write_text(f"anon 5\n{names[2]} {dropped}\n")

    def limit(self):
        return cgroup.limit(str(self.folder))


@pytest.mark.parametrize("version", [2, 1])
@pytest.mark.parametrize(
    "own, root, groups, limit",
    [
        ("/a.service", "/", {"a.service": (200, 50, 0)}, (200, 50)),
        ("/a.service", "/", {"a.service": (200, 90, 40)}, (200, 50)),
        (
            "/s/a/b",
            "/",
            {"s/a/b": ("max", 5, 0), "s/a": (300, 10, 0), "s": (900, 800, 0)},
            (300, 200),
        ),
        ("/s/a", "/", {"s/a": ("max", 5, 0), "s": ("max", 9, 0)}, None),
        ("/docker/1", "/docker/1", {"": (400, 100, 0)}, (400, 100)),  # an old container's view
        ("/", "/", {"": (100, 30, 0)}, (100, 30)),  # with a name space of its own
        ("/../x", "/", {"": (100, 30, 0)}, (100, 30)),
        ("/gone", "/", {}, None),
    ],
)
def test_the_group_that_the_process_is_in(tmp_path: Path, version, own, root, groups, limit):
    place = Groups(tmp_path, version)
    place.tell(own, "sys", root, groups)
    assert place.limit() == limit


def test_no_groups_at_all(tmp_path: Path):
    assert cgroup.limit(str(tmp_path)) is None
