# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Plain Linux: a watch over its memory, and a container's limit where that is less."""

from __future__ import annotations

from pathlib import Path

import maixmem_generic
import pytest
from maixmem_watch import Watch

MIB = 1 << 20


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_python: None):
    """set(MemTotal MiB, MemAvailable MiB, limit or None, use): the files of a machine."""
    limits = (tmp_path / "memory.max", tmp_path / "memory.current")
    info = {}
    monkeypatch.setattr(maixmem_generic, "meminfo", lambda *path: info)
    monkeypatch.setattr(maixmem_generic, "_LIMITS", ((str(limits[0]), str(limits[1])),))

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
