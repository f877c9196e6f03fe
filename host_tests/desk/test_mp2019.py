# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The MicroPython of 2019, compiled from its bytecode, does what it does as it comes: the same
answers, the same bytes of heap."""

from __future__ import annotations

from pathlib import Path

import interpreters
import paths
import pytest

MP2019 = {i.name: i for i in interpreters.ALL}["mp2019"]
pytestmark = pytest.mark.skipif(bool(MP2019.missing), reason=MP2019.missing)

#: what is left of the heap on the way, where it ends, how deep calls go, what leaves functions by
#: an exception, and what a closed generator does
HEAP = """
import gc, time
def free(what):
    print(what, gc.mem_free(), gc.mem_alloc())
def deep(n):
    return 1 + deep(n - 1) if n else 0
def thrown(n):
    try:
        return thrown(n - 1) if n else 1 // n
    except ZeroDivisionError as e:
        free(n)
        raise ValueError(n)
    finally:
        free(-n)
def generated():
    try:
        for i in range(9):
            yield i, str(i) * 50, i / 7, 3 ** (i * 20)
    finally:
        free("closed")
def filled():
    kept = []
    try:
        while True:
            kept.append(bytearray(5000))
    except MemoryError as e:
        print(len(kept), e)
        free("full")
gc.collect()
free("first")
filled()
gc.collect()
free("empty")
try:
    deep(500)
except RuntimeError as e:
    print(e)
for n in range(5):
    try:
        print(deep(n * 10), thrown(n))
    except ValueError as e:
        print(e)
for row in generated():
    print(row)
    if row[0] == 5:
        break
gc.collect()
free("collected")
began = time.ticks_ms()
time.sleep_ms(100)
print(time.ticks_ms() - began >= 100)
"""


@pytest.fixture(scope="module")
def heap_script(tmp_path_factory) -> Path:
    script = tmp_path_factory.mktemp("mp2019") / "heap.py"
    script.write_text(HEAP, encoding="utf-8")
    return script


@pytest.mark.parametrize("name", ["heap", "library", "modules"])
def test_compiled_it_says_the_same(name: str, heap_script: Path, monkeypatch) -> None:
    script = heap_script if name == "heap" else paths.KITS / "language" / f"{name}.py"
    now = MP2019.run(script, heap="1m")
    monkeypatch.setenv("MP2019_AS_IT_COMES", "1")
    before = MP2019.run(script, heap="1m")
    assert now.returncode == before.returncode == 0, now.stdout + before.stdout
    assert now.stdout == before.stdout
    assert len(now.stdout.splitlines()) > 20
