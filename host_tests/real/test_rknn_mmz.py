# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Our mmz.py on Rockchip's own libmpimmz, unchanged, its memory under Rockchip's own librknnrt."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import bench
import pytest


def run(version: str, folder: Path) -> list:
    """The rows of rknn_mmz.py."""
    library = bench.need("lib/mmz/libmpimmz.so") / "lib" / "mmz" / "libmpimmz.so"
    compiler = shutil.which("arm-linux-gnueabihf-gcc")
    if not compiler:
        pytest.skip("RK_MPI_MMZ was not run: no arm-linux-gnueabihf-gcc for its driver")
    drm = folder / "fakedrm.so"
    source = str(bench.HERE / "fakedrm.c")
    command = [compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", str(drm), source, "-ldl"]
    subprocess.run(command, check=True)
    done = bench.rknn(version, "rknn_mmz.py", version, str(library), before=str(drm))
    return bench.rows(done)


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_memory_of_mmz_is_used_and_given_back(version: str, tmp_path: Path):
    rows = run(version, tmp_path)
    blocks = [row[1:] for row in rows if row[0] == "block"]
    assert blocks == [[how, 4 << 20, True, True, 4 << 20] for how in ({}, {"cached": True})]
    assert [row[1:] for row in rows if row[0] == "freed"] == [[0, 0]] * 2
    used = [row[1:] for row in rows if row[0] == "used"]
    assert used[0] == ["fd", [131072], True] and used[1] == ["phys", [131072], True]
    cached = [row for row in rows if row[0] in ("used", "refused")][2:]
    assert cached[0] == ["used", "fd", [131072], True]
    if version == "1.6.0":
        assert cached[1] == ["used", "phys", [131072], True]
    else:  # nothing could flush it
        assert cached[1][:2] == ["refused", "phys"] and "no rknn_mem_sync" in cached[1][2]
    (room,) = [row[1:] for row in rows if row[0] == "no room"]
    assert room[0] == "mmz" and "RK_MPI_MMZ_Alloc of 4194304 bytes: -1" in room[1]
    (pieces,) = [row[1:] for row in rows if row[0] == "in pieces"]
    assert pieces[0] == "mmz"  # this driver has no heap for it
    assert rows[-1] == ["end", 0, 0, 0]
