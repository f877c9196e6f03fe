# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `maixmem fit` says against what the firmware does: generated projects, run as scripts on
the board in software.

Needs MaixPy images: MAIXMEM_FIRMWARE names files or folders. MAIXMEM_FIT_PROJECTS=N runs N
projects instead of 40.
"""

from __future__ import annotations

import array
import itertools
import os
import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import fit_projects
import fit_script
import pytest
from commands import maixmem
from maixmem_cli.emulator import pictures, sd_image
from maixmem_cli.emulator.connect import connect
from maixmem_cli.emulator.cores import missing
from maixmem_cli.emulator.ports import Hangs, SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.firmware.builds import FIRMWARES, Firmware, FirmwareError, choose
from maixmem_cli.plan.fit import Fit, fit
from maixmem_cli.plan.program import project
from maixmem_cli.plan.program.project import Model
from maixmem_cli.serial.repl import BoardError, RawRepl

_PAGE = 4096
_MEMTEST = re.compile(r"(@ [^\n]*) memtest (\d+)\n.*?free sys heap memory *: *(\d+) KB", re.DOTALL)
# A free end of the heap below this stays unseen by heap_free() where something small lies above
# it: after a model is freed the board may show less than there is, and shows it again after the
# next.
_LEFT_AT_THE_TOP = 131072
_COUNT = int(os.environ.get("MAIXMEM_FIT_PROJECTS", "40"))


def images() -> list[Path]:
    """MaixPy images of $MAIXMEM_FIRMWARE, each once."""
    found: dict[Path, None] = {}
    for name in filter(None, os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep)):
        place = Path(name)
        for path in (
            sorted([*place.glob("*.bin"), *place.glob("*.kfpkg")]) if place.is_dir() else [place]
        ):
            found[path.resolve()] = None
    return list(found)


IMAGES = images()
pytestmark = [
    pytest.mark.skipif(
        not IMAGES, reason="no MaixPy images ($MAIXMEM_FIRMWARE): fit not compared with them"
    ),
    pytest.mark.skipif(
        missing() is not None, reason=f"fit not compared with firmware: {missing()}"
    ),
]


def builds() -> list[tuple[Path, Firmware]]:
    """The images whose build is in the table, with its entry: an image of that length."""
    by_length = {f.image: f for f in FIRMWARES.values()}
    return [(p, by_length[p.stat().st_size]) for p in IMAGES if p.stat().st_size in by_length]


def swapped(data: bytes) -> bytes:
    """A model as load_flash reads it: each word of four bytes turned around."""
    words = array.array("I", data.ljust(-(-len(data) // 4) * 4, b"\0"))
    words.byteswap()
    return words.tobytes()


def card(models: tuple[Model, ...]) -> bytes | None:
    """A card with the models that lie on /sd; None where there is none."""
    files = {m.path.split("/")[-1]: m.file for m in models if m.path.startswith("/sd/")}
    if not files:
        return None
    with tempfile.TemporaryDirectory() as empty:
        return sd_image.build(Path(empty), files)


def run(image: Path, answer: Fit) -> tuple[list[tuple[str, int, int]], bool]:
    """[(step, heap_free, mem_free) after it], and whether the program came to its end."""
    models = answer.project.models
    named = {m.path.split("/")[-1]: m.file for m in models if m.path.startswith("/flash/")}
    modules = {**files_of_library(), **named}
    camera = pictures.film("pattern")
    with booted(image, (), modules, sd=card(models), camera=camera) as board:
        for m in models:
            if m.address is not None:
                data = m.file.read_bytes()
                board.write_flash(m.address, swapped(data) if m.stream else data)
        repl = RawRepl(image.name, SerialPort(board))
        try:
            out, _ = repl.run(fit_script.script(answer), timeout=300, limit=600)
        except BoardError as e:
            if not isinstance(e.__cause__, Hangs):  # only a slow desk
                raise
            out = ""
    out = _MEMTEST.sub(lambda m: f"{m[1]} {int(m[3]) * 1024} {m[2]}", out)
    rows = [line[2:].rsplit(" ", 2) for line in out.splitlines() if line.startswith("@ ")]
    return [(r[0], int(r[1]), int(r[2])) for r in rows if len(r) == 3], "@ end" in out


def differences(answer: Fit, rows: list[tuple[str, int, int]], gc_room: int = _PAGE) -> list[str]:
    """Steps before which fit says other free bytes than the board had."""
    names = [name for name, _, _ in rows]
    found = []
    for step in answer.steps:
        at = names.index(step.what) - 1 if step.what in names else -1
        if at < 0:
            continue
        said = rows[at][1] if step.region == "heap" else rows[at][2]
        after_a_model = rows[at][0].startswith("without ")
        room = _PAGE if step.region == "heap" else gc_room
        if step.region == "heap" and after_a_model and step.free > said:
            room = _LEFT_AT_THE_TOP
        if step.what == "program":
            room += _PAGE  # the text of the script itself is there before its `program` is
        if abs(step.free - said) > room:
            found.append(f"{step.what}: fit says {step.free}, the board {said} ({step.region})")
    return found


@pytest.mark.parametrize("seed", range(_COUNT))
def test_fit_against_the_firmware(seed: int, tmp_path: Path) -> None:
    there = builds()
    if not there:
        pytest.skip(
            "no image of a build of the table ($MAIXMEM_FIRMWARE): fit not compared with them"
        )
    image, build = there[seed % len(there)]
    path = tmp_path / "project.toml"
    path.write_text(fit_projects.project(seed, [build.name], fit_projects.models(tmp_path)))
    answer = fit(project.read(path))
    rows, ended = run(image, answer)
    wrong = [s for s in answer.steps if not s.fits]
    assert ended == answer.fits, f"{build.name}: {wrong or 'FITS'}; the board came to {rows[-1:]}"
    assert differences(answer, rows) == []


@pytest.mark.parametrize("image", IMAGES, ids=lambda p: p.name)
def test_an_image_and_the_board_with_it_give_equal_figures(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model, a camera, a pool, and calls that each build has: the free bytes that fit says for
    the image file are those that it has."""
    try:
        build = choose(str(image)).measured()
    except FirmwareError as e:
        pytest.skip(f"{image.name}: {e}")
    text = fit_projects.project(1, ["minimum"], fit_projects.models(tmp_path))
    text = text.replace("lcd = false", "lcd = true")
    path = tmp_path / "project.toml"
    path.write_text(text)
    answer = fit(replace(project.read(path), firmware=build, gc_heap=build.gc_heap))
    rows, ended = run(image, answer)
    assert ended == answer.fits
    # what the library keeps was measured on v0.6.2_84; on early firmware it has other parts
    assert differences(answer, rows, gc_room=2 * _PAGE) == []
    saved = tmp_path / "board.toml"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # a board that no other test has
    maixmem("doctor", "--port", f"emu:{image},new", "--save", str(saved))
    board = choose(str(saved))
    assert (board.heap, board.gc_heap, board.v4) == (build.heap, build.gc_heap, build.v4)
    assert board.lcd == build.lcd
    same = fit(replace(project.read(path), firmware=board, gc_heap=board.gc_heap))
    assert differences(same, rows, gc_room=2 * _PAGE) == []


@pytest.mark.parametrize("image", IMAGES[:1], ids=lambda p: p.name)
def test_a_busy_desk_measures_the_same_board(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A boot is waited for by the board's clock: the firmware's own program is not cut short."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # a board that no other test has
    boards = []
    for slow in (False, True):
        with connect(f"emu:{image},new") as board:
            with monkeypatch.context() as patch:
                if slow:  # much of the desk's time passes with each step of the board
                    times = itertools.count(0, 0.045)
                    patch.setattr(time, "monotonic", lambda: next(times))
                board.hard_reset(5)
            boards.append(board.check("import KPU\nKPU.memtest()"))
    assert boards[0] == boards[1]


@pytest.mark.parametrize("image", IMAGES[:1], ids=lambda p: p.name)
def test_what_lies_on_the_users_board_is_neither_measured_nor_lost(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """emu:IMAGE keeps its flash for its user; an image is measured on a board of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "first"))
    as_built = choose(str(image)).measured()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "second"))
    with connect(f"emu:{image},new") as board:
        board.write_file("/flash/main.py", b"kept = bytearray(50000)\n")
    measured = choose(str(image)).measured()
    assert replace(measured, source="") == replace(as_built, source="")
    with connect(f"emu:{image}") as board:
        assert "kept" in board.check("print(open('/flash/main.py').read())")
