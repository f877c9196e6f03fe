# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""MaixCAM and MaixCAM2: what memory_info() says, and what the port makes of it."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys as python_sys
from pathlib import Path

import paths
import pytest
from linux_boards import every_fault
from maixcam_kit import GIB, MIB, board, port, sys, writer


@pytest.fixture(autouse=True)
def fresh_board() -> None:
    board.reset()


@pytest.fixture
def files(tmp_path: Path):
    return writer(tmp_path)


# --- memory_info ---


def test_memory_info_has_these_keys_in_bytes_and_used_is_not_what_is_free():
    board.reset("maixcam2")
    info = sys.memory_info()
    assert set(info) == {
        "total",
        "used",
        "hw_total",
        "cmm_total",
        "cmm_used",
        "cma_total",
        "cma_used",
    }
    # the sample of the vendor's page
    assert (
        info["cmm_total"] == 2147483648
        and info["cmm_used"] == 177512448
        and info["hw_total"] == 4294967296
    )
    assert info["total"] == 2060726272 and info["used"] == 339562496
    assert info["cma_total"] == info["cma_used"] == 0
    text = board.read_text("/proc/meminfo")
    free = int(text.split("MemFree:")[1].split()[0]) * 1024
    assert info["total"] - info["used"] != free


@pytest.mark.parametrize(
    ("heap", "cmm", "hw"),
    [
        (2060726272, 2147483648, 4 * GIB),
        (2 * GIB, GIB + MIB, 4 * GIB),  # 3.001 GiB: the bound of 3.9 is 3 in fact
        (2 * GIB, GIB, 3 * GIB),  # not above 3
        (2 * GIB, 2 * GIB, 4 * GIB),
        (2 * GIB, 2 * GIB + MIB, 4 * GIB + MIB),  # 4.1 is 4: beyond, the plain sum
        (GIB // 2, GIB // 2 - 8 * MIB, GIB),
        (GIB // 4, GIB // 4, GIB // 2),
    ],
)
def test_hw_total_is_rounded_as_the_real_one_does_it(heap: int, cmm: int, hw: int):
    board.reset("maixcam2", heap=heap, cmm=cmm, cmm_used=0)
    assert sys.memory_info()["hw_total"] == hw


def test_closed_files_are_an_empty_dict_a_zero_or_a_missing_key():
    board.reset("maixcam", proc_open=False)
    assert sys.memory_info() == {}
    board.reset("maixcam", debugfs_open=False)
    assert sys.memory_info()["cmm_total"] == 0 and sys.memory_info()["hw_total"] == 256 * MIB
    board.reset("maixcam2", debugfs_open=False)
    assert "hw_total" not in sys.memory_info() and sys.memory_info()["cmm_total"] == 0
    board.reset("linux")
    assert sys.memory_info()["hw_total"] == sys.memory_info()["total"]


@pytest.mark.parametrize("chip", ["maixcam", "maixcam2", "linux"])
@pytest.mark.parametrize("proc", [True, False])
@pytest.mark.parametrize("debugfs", [True, False])
def test_the_port_takes_zero_and_absent_for_unknown(chip: str, proc: bool, debugfs: bool):
    board.reset(chip, debugfs_open=debugfs, proc_open=proc)
    heap, cmm = port().regions()[:2]
    if proc:
        assert (heap.total, heap.used) == (
            board.heap.total,
            board.heap.used(),
        ) and heap.free == heap.total - heap.used
    else:
        assert (heap.total, heap.used, heap.free) == (None, None, None)
    if proc and debugfs and chip != "linux":
        assert (cmm.total, cmm.free) == (board.cmm.total, board.cmm.total - board.cmm.used())
        assert not port().warnings()
    else:
        assert (cmm.total, cmm.used, cmm.free) == (None, None, None)
        assert any("cmm: its size cannot be read" in text for text in port().warnings())


def test_the_peak_comes_from_the_ion_summary_where_it_can_be_read(files):
    p = port()
    p.unload(p.load(files("a.cvimodel", MIB)))
    assert p.peak() == {"cmm": MIB + 300} and p.regions()[1].used == 0
    board.debugfs = False
    assert p.peak() == {}
    board.reset("maixcam2")
    assert port().peak() == {}


def test_a_watch_keeps_the_low_water_mark(files):
    from maixmem import Watch, set_port

    p = port()
    set_port(p)
    try:
        watch = Watch()
        model = p.load(files("a.cvimodel", 5 * MIB))
        watch.sample()
        p.unload(model)
        watch.sample()
        assert watch.high_water()["cmm"] == 5 * MIB + 300
    finally:
        set_port(None)


def test_the_largest_block_is_asked_of_the_vendors_library_on_maixcam2_only():
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint32)
    )
    answers = []

    def answer(_, size):
        size[0] = 123456
        return answers[0]

    class Library:
        AX_SYS_MemGetMaxFreeRegionInfo = staticmethod(kind(answer))

    for chip, code, largest in (
        ("maixcam2", 0, 123456),
        ("maixcam2", -1, None),
        ("maixcam", 0, None),
    ):
        board.reset(chip)
        answers[:] = [code]
        p = port()
        assert p.regions()[1].largest is None  # there is no such library here
        p._ax_sys = Library
        assert p.regions()[1].largest == largest


# --- failure injection ---


@pytest.mark.parametrize(
    "exc", [MemoryError, OSError, KeyboardInterrupt, RuntimeError, -1], ids=str
)
@pytest.mark.parametrize("chip", ["maixcam", "maixcam2"])
def test_every_fault_point_of_load_switch_and_unload(
    files, tmp_path: Path, chip: str, exc, capsys
):
    first, second = files("a.cvimodel", 5000, 700), files("b.cvimodel", 3000, 900)
    if chip == "maixcam2":
        first, second = str(tmp_path / "a.axmodel"), str(tmp_path / "b.axmodel")
        for path, size in ((first, 8192), (second, 4096)):
            Path(path).write_bytes(bytes(size))

    def prepare():
        board.reset(chip)
        p = port()
        held = []

        def run():
            held.append(p.load(first))
            p.unload(held[0])
            held[0] = p.load(second, dual_buff=True)

        def check():
            gc.collect()
            alive = [m for m in held if m._net is not None]
            assert board.cmm.live() == sum(
                p.inspect(m.source, dual_buff=m.source == second).need["cmm"] for m in alive
            )
            assert board.heap.live() == 0 and bool(p._shared.blocks) == (
                bool(alive) and chip == "maixcam"
            )
            for m in alive:
                p.unload(m)
            p.unload(p.load(first))
            assert board.cmm.live() == 0

        return run, check

    count = every_fault(prepare, board.faults, exc)
    with capsys.disabled():
        print(
            f"\n{chip} {exc}: {count} failures of load, switch and unload: nothing leaked", end=" "
        )


def test_the_port_does_not_hide_pythons_sys():
    """maix has a module sys; whoever imports the port still has Python's under that name."""
    code = (
        "import maixmem_maixcam, sys; print(sys.version_info[0], hasattr(maixmem_maixcam, 'sys'))"
    )
    env = {"PYTHONPATH": f"{paths.LIB}:{paths.SHIMS / 'maixcam'}"}
    done = subprocess.run(
        [python_sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["3", "False"]


def test_images_of_early_2025_have_another_name_for_the_carve_out(monkeypatch):
    figures = {"total": 4 * MIB, "used": MIB, "custom_total": 2 * MIB, "custom_used": MIB}
    monkeypatch.setattr(sys, "memory_info", lambda: figures)
    cmm = [r for r in port().regions() if r.name == "cmm"][0]
    assert (cmm.total, cmm.used, cmm.free) == (2 * MIB, MIB, MIB)
