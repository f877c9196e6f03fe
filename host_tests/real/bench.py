# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The vendors' own runtimes on a desk: where they are, and how a script is run on them.

$MAIXMEM_LINUXBENCH names a folder with, as far as they can be had:
    lib/armhf-VERSION/librknnrt.so, lib/mini-VERSION/librknnmrt.so      Rockchip's runtimes
    lib/mmz/libmpimmz.so                                                Rockchip's RK_MPI_MMZ, for
        armhf
    include/VERSION/rknn_api.h                                          their headers
    root-armhf/                                                         a Linux for Arm with
        python3.11
    fakenpu-armhf.so                                                    a stand-in for the NPU's
        kernel driver, with counters
    maix/                                                               the maix wheel for x86-64,
        unpacked
    root-amd64/usr/lib/x86_64-linux-gnu/                                a C library that is new
        enough for it
    cvi/tpu_mlir/lib/                                                   libcviruntime and its chip
        model
    models/                                                             .rknn and .cvimodel files;
        two that make_shapes.py makes
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import paths
import pytest

VERSIONS = ("1.4.0", "1.5.0", "1.5.2", "1.6.0")
HERE = Path(__file__).resolve().parent


def folder() -> Path:
    """The bench; skips, loudly, where there is none."""
    named = os.environ.get("MAIXMEM_LINUXBENCH")
    if not named:
        pytest.skip(
            "vendors' runtimes: $MAIXMEM_LINUXBENCH is not set, their ports ran on stand-ins only"
        )
    return Path(named).resolve()


def need(*names: str) -> Path:
    """The bench, when these of its files are there."""
    place = folder()
    for name in names:
        if not (place / name).exists():
            pytest.skip(f"vendors' runtimes: no {name} in $MAIXMEM_LINUXBENCH")
    return place


def rows(done: subprocess.CompletedProcess[str]) -> list[Any]:
    """What a program of ours printed: one JSON value a line that begins with a mark."""
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [json.loads(line[2:]) for line in done.stdout.splitlines() if line.startswith("> ")]


def rknn(version: str, script: str, *arguments: str, driver: bool = True, before: str = "") -> Any:
    """A script on an emulated Arm with the real librknnrt; the library `before` is loaded before
    the driver's stand-in."""
    place = need(f"lib/armhf-{version}/librknnrt.so", "root-armhf", "fakenpu-armhf.so", "models")
    qemu = shutil.which("qemu-arm-static") or shutil.which("qemu-arm")
    if not qemu:
        pytest.skip("vendors' runtimes: qemu-arm is not installed")
    root = place / "root-armhf"
    env = {
        "FAKENPU": str(place / "fakenpu-armhf.so"),
        "BENCH": str(place),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RKNN_LOG_LEVEL": "0",
        "MALLOC_PERTURB_": "85",  # what was freed is overwritten
        "PATH": os.environ["PATH"],
        "MAIXMEM_PROGRAMS": os.environ.get("MAIXMEM_PROGRAMS", "0 10"),  # rknn_programs.py
    }
    inside = ["-E", f"LD_LIBRARY_PATH={place / 'lib' / f'armhf-{version}'}"]
    preload = " ".join(filter(None, (before, env["FAKENPU"])))
    inside += ["-E", f"LD_PRELOAD={preload}"] if driver else []
    python = str(root / "usr" / "bin" / "python3.11")
    start = [qemu, "-L", str(root), *inside, python]
    env["BENCH_PYTHON"] = json.dumps(start)  # rknn_ends.py
    command = [*start, str(HERE / script), str(paths.ROOT)]
    return subprocess.run(
        [*command, *arguments],
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=int(os.environ.get("MAIXMEM_BENCH_SECONDS", "300")),
        check=False,
    )


def on_stand_in(script: str, version: str, folder: Path) -> list[Any]:
    """The rows of a program on the stand-in of that version."""
    command = [sys.executable, str(HERE / script), str(paths.ROOT), version, str(folder)]
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return rows(done)


def maixpy(script: str, *arguments: str) -> Any:
    """A script under the real maix wheel."""
    libraries = "root-amd64/usr/lib/x86_64-linux-gnu"
    place = need("maix/maix", f"{libraries}/ld-linux-x86-64.so.2", "models")
    python = "/usr/bin/python3.11"
    if not Path(python).exists():
        pytest.skip(f"vendors' runtimes: the maix wheel needs {python}")
    where = place / libraries
    env = {
        "PYTHONPATH": str(place / "maix"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": os.environ.get("HOME", "/"),
    }
    loader = [str(where / "ld-linux-x86-64.so.2"), "--library-path"]
    command = [*loader, f"{where}:/usr/lib/x86_64-linux-gnu", python, str(HERE / script)]
    return subprocess.run(
        [*command, str(paths.ROOT), *arguments],
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
