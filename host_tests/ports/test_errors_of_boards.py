# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What advise() says on boards other than the K210, from the table that lies in their own package;
and that the desk says the same."""

from __future__ import annotations

import json
from types import SimpleNamespace

import maixmem
import maixmem_advice
import paths
import pytest
from maixmem_cli.errors import table

#: port, boards that have it
_BOARDS = {
    "generic": ("micropython", "esp32", "rp2040", "circuitpython"),
    "openmv": ("openmv",),
    "k230": ("k230",),
}
_CASES = [
    ("generic", OSError("Wifi Out of Memory"), "Connect first"),
    ("generic", OSError("WiFi Out of Memory"), "Connect first"),
    ("generic", OSError(-32512, "MBEDTLS_ERR_SSL_ALLOC_FAILED"), "Connect first"),
    ("generic", RuntimeError("ESP_ERR_NO_MEM"), "Connect first"),
    ("generic", OSError(-257), "Connect first"),
    ("generic", MemoryError("Out of memory"), "CIRCUITPY_RESERVED_PSRAM"),
    ("generic", "E (118749) cam_hal: cam_dma_config(280): frame buffer malloc failed", "smaller"),
    ("generic", MemoryError("Unable to allocate frame buffer"), "smaller buffer"),
    ("generic", RuntimeError("pystack exhausted"), "CIRCUITPY_PYSTACK_SIZE"),
    ("generic", RuntimeError("Pystack exhausted"), "CIRCUITPY_PYSTACK_SIZE"),
    ("generic", RuntimeError("maximum recursion depth exceeded"), "loop instead of recursion"),
    ("generic", ValueError("Failed to allocate tensors"), "int8"),
    ("generic", MemoryError("memory allocation failed, allocating 9 bytes"), "early|first"),
    ("openmv", MemoryError("Out of fast frame buffer stack memory"), "smaller picture"),
    ("openmv", MemoryError("Out of fast Frame Buffer Stack Memory!"), "smaller picture"),
    ("openmv", MemoryError("Out of temporary Frame Buffer Heap Memory!"), "smaller picture"),
    ("openmv", RuntimeError("Frame buffer overflow, try reducing the frame size."), "smaller"),
    ("openmv", MemoryError("Out of memory"), "smaller picture"),
    ("openmv", MemoryError("Transient pool in use"), "Run the model first"),
    ("openmv", RuntimeError("Failed to load network"), "Compile it again"),
    ("openmv", ValueError("Failed to allocate tensors"), "int8"),
    ("k230", RuntimeError("MediaManager, vb config failed(-1610317806)"), "MediaManager.deinit"),
    ("k230", RuntimeError("MediaManager, vb config failed(18), at now please"), "deinit"),
    ("k230", "vb ret 0xa0048012", "MediaManager.deinit"),
    ("k230", RuntimeError("MediaManager, vb init failed(-1610317812)"), "check_media"),
    ("k230", MemoryError("image mmz alloc failed: 614400"), "check_media"),
    ("k230", "0xa0048010", "MediaManager.init"),
    ("k230", "kd_mpi_vb_create_pool failed, 0xa0048040", "Fewer channels"),
]


@pytest.mark.parametrize(("port", "error", "word"), _CASES, ids=str)
def test_it_is_known_on_the_board(port: str, error, word: str, monkeypatch) -> None:
    package = {"generic": "micropython"}.get(port, port)
    there = {name for name, _ in json.loads((paths.LIB / f"{package}.json").read_text())["urls"]}
    run_once = maixmem_advice.run_once

    def of_package(name: str, *args):
        if f"maixmem_{name}.py" not in there:
            raise ImportError(name)
        return run_once(name, *args)

    monkeypatch.setattr(maixmem_advice, "run_once", of_package)
    interpreter = SimpleNamespace(implementation=SimpleNamespace(name="micropython"))
    monkeypatch.setattr(maixmem_advice, "sys", interpreter)
    monkeypatch.setattr(maixmem, "_port", SimpleNamespace(name=port))
    meaning, steps = maixmem_advice.find(error)
    said = " ".join(steps)
    assert any(w in said for w in word.split("|")), (meaning, steps)
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    if not isinstance(error, OSError):  # CPython's OSError tells its number its own way
        on_desk = [row.means for b in _BOARDS[port] for row in table.find(text, b)[:1]]
        assert meaning in on_desk, on_desk


def test_what_is_not_the_gc_heap_is_not_cured_by_collecting(monkeypatch) -> None:
    """explain gave the steps of the GC heap for OpenMV's frame buffer memory."""
    for text in (
        "Out of fast frame buffer stack memory",
        "Out of memory",
        "Transient pool in use",
    ):
        (row,) = table.find(f"MemoryError: {text}", "openmv")
        assert not [s for s in row.steps_on("openmv") if s.startswith("gc.collect()")], row.id


#: the error codes of the K230's SDK manual, without 0xa0: VB, MMZ, SYS
_MEDIA = (
    "048006 04800c 04800d 048005 048003 048010 048012 048009 048040 "
    "038003 038006 038008 038009 03800c 038010 038011 038012 "
    "058003 058006 058008 058009 058010 058011 05800c"
)


@pytest.mark.parametrize("code", _MEDIA.split())
def test_the_desk_knows_each_documented_code_of_the_k230(code: str) -> None:
    """As it is written, and as Python prints it: a signed number of 32 bits."""
    number = int("a0" + code, 16)
    found = {
        table.find(t, "k230")[0].id for t in (f"ret {number:#x}", f"failed({number - 2**32})")
    }
    last = {"12": "busy", "0c": "nomem", "0d": "nomem", "05": "order", "09": "order"}
    assert found == {f"k230-{last.get(code[-2:], 'order' if code[-2:] == '10' else 'argument')}"}
