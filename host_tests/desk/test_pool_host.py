# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pools on the host: interrupted at every line, out of memory, and in an example."""

from __future__ import annotations

import os
import subprocess
import sys

import paths
import pool_sweep
import pytest
from maixmem_pool import BufferPool

CLEAN = {"works", "out of memory", "no start"}


def interrupted(pool: BufferPool, job, at: int) -> bool:
    """Runs job(pool) with KeyboardInterrupt before the at-th line of the library; False when it
    has fewer lines."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        if "maixmem_pool" not in frame.f_code.co_filename:
            return None
        if event == "line":
            count += 1
            if count == at:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        job(pool)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def take_and_give(pool: BufferPool) -> None:
    first, second = pool.acquire("a"), pool.acquire("b")
    pool.release(first, "a")
    pool.release(second)


def lend(pool: BufferPool) -> None:
    with pool.borrow("a"), pool.borrow("b"):
        pass


@pytest.mark.parametrize("job", [take_and_give, lend])
def test_an_interrupt_before_any_line_leaves_a_whole_pool(job) -> None:
    lines = 0
    while True:
        pool = BufferPool(4, 3)
        if not interrupted(pool, job, lines + 1):
            break
        lines += 1
        assert pool.check() == pool.in_use <= 2
        for buf in [b for b in pool._free[1 : 4 - pool.in_use]]:
            assert not pool._held[id(buf)]
        left = [pool.acquire() for _ in range(3 - pool.in_use)]
        assert len({id(b) for b in left}) == len(left)
        for buf in left:
            pool.release(buf)
    assert lines > 20


def test_the_sweep_ends_clean_in_every_heap() -> None:
    if not paths.micropython():
        pytest.skip("no MicroPython unix port here: the out-of-memory sweep did not run")
    found = pool_sweep.sweep(1024, works=1)
    wrong = {heap: text for heap, text in found.items() if text not in CLEAN}
    assert not wrong
    assert set(found.values()) == CLEAN


@pytest.mark.parametrize("python", [False, True], ids=["micropython", "cpython"])
def test_the_camera_example_comes_through_with_pools(python: bool) -> None:
    if not python and not paths.micropython():
        pytest.skip("no MicroPython unix port here: examples/camera_pool.py ran on CPython only")
    path = [str(p) for p in (paths.LIB, *paths.SHIM_PATH)]
    # 1.1 MiB: the stand-in's own modules and the camera's frame are on this heap too
    unix = [str(paths.micropython()), "-X", "heapsize=1100k"]
    command = [*([sys.executable] if python else unix), str(paths.EXAMPLES / "camera_pool.py")]
    env = dict(
        os.environ, PYTHONPATH=os.pathsep.join(path), MICROPYPATH=":".join([*path, ".frozen"])
    )
    done = subprocess.run(
        command, check=False, env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pooled: 1000 frames, at most 6 cut-outs at once" in done.stdout
