# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board's C is made of layers, as the picture in board.h says: each includes and calls only
those below it; a new device is one file and one row."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import dev
import pytest
import register_programs
from emulated import needs_cc
from maixmem_cli.emulator import compiler
from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.cores import Native

_FILES = sorted(f for f in dev.C.rglob("*.*") if f.suffix in (".c", ".h", ".def"))
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
#: inside the highest of the folders too: each knows only what is left of it
_TRACE = ("events", "calls", "live guard", "trace")


def _picture() -> list[str]:
    """The layers, the highest first."""
    text = (dev.C / "board.h").read_text()
    return [
        name.strip("/").partition(".")[0] for name in re.findall(r"^//   (\w\S*)  ", text, re.M)
    ]


def _layer(file: Path) -> str:
    first = file.relative_to(dev.C).parts[0]
    return first.partition(".")[0]


def _rank(file: Path) -> int:
    """0 is the lowest layer."""
    return len(_picture()) - 1 - _picture().index(_layer(file))


def test_the_picture_names_every_layer() -> None:
    assert _picture() == ["board", "trace", "hart", "devices", "bus", "ram"]
    assert {_layer(f) for f in _FILES} == set(_picture())
    assert len(_FILES) > 40


def test_a_layer_includes_only_those_below() -> None:
    wrong, seen = [], 0
    for file in _FILES:
        for name in _INCLUDE.findall(file.read_text()):
            included = (file.parent / name).resolve()
            seen += 1
            if _rank(included) > _rank(file):
                wrong.append(f"{file.name} includes {name}")
    assert wrong == []
    assert seen > len(_FILES) // 2


def _symbols(objects: Path) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Who defines a symbol, and which symbols each file takes from others."""
    defined: dict[str, str] = {}
    taken: dict[str, set[str]] = {}
    for file in objects.glob("*.o"):
        lines = subprocess.check_output(["nm", str(file)], text=True).splitlines()
        rows = [line.split()[-2:] for line in lines]
        defined.update((name, file.stem) for kind, name in rows if kind in "TDBRC")
        taken[file.stem] = {name for kind, name in rows if kind == "U"}
    return defined, taken


@pytest.mark.skipif(
    not (compiler.compiler() and shutil.which("nm")),
    reason="NO C COMPILER or nm here: who calls whom in the board's C is not known",
)
def test_a_layer_calls_only_those_below(tmp_path: Path) -> None:
    sources = {f.stem: f for f in _FILES if f.suffix == ".c"}
    assert len(sources) == len([f for f in _FILES if f.suffix == ".c"]), "two of one name"
    cc = (compiler.compiler() or "cc").split()
    command = [*cc, "-c", "-O0", *compiler.FLAGS, *map(str, sources.values())]
    subprocess.run(command, check=True, cwd=tmp_path)
    defined, taken = _symbols(tmp_path)
    calls = [
        (user, defined[name], name) for user in taken for name in taken[user] if name in defined
    ]
    up = [c for c in calls if _rank(sources[c[1]]) > _rank(sources[c[0]])]
    assert up == []
    place = {name: i for i, names in enumerate(_TRACE) for name in names.split()}
    inside = [c for c in calls if c[0] in place and c[1] in place and c[0] != c[1]]
    assert [c for c in inside if place[c[1]] >= place[c[0]]] == []
    assert len(calls) > 200 and len(inside) > 10


def test_each_device_has_its_row() -> None:
    rows = re.findall(r"^ROW\((\w+)\)$", (dev.C / "devices" / "devices.def").read_text(), re.M)
    texts = [f.read_text() for f in (dev.C / "devices").glob("*.c")]
    found = [n for text in texts for n in re.findall(r"^const Device (\w+)_device = ", text, re.M)]
    assert sorted(rows) == sorted(found)
    assert len(rows) > 20


_NEW_DEVICE = """\
#include "devices.h"

static Registers registers[1];

static u64 read(int unit, u32 o, u64 stored) { return stored + 42; }

const Device adder_device = {
    .name = "adder",
    .base = {0x50470000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .registers = registers,
};
"""


@needs_cc
def test_a_new_device_is_one_file_and_one_row(tmp_path: Path) -> None:
    if not compiler.compiler():
        pytest.skip("NO C COMPILER: a new device is not tried")
    c = shutil.copytree(dev.C, tmp_path / "c", ignore=shutil.ignore_patterns("*.wasm"))
    (c / "devices" / "adder.c").write_text(_NEW_DEVICE)
    with (c / "devices" / "devices.def").open("a") as rows:
        rows.write("ROW(adder)\n")
    library = tmp_path / "board.so"
    cc = (compiler.compiler() or "cc").split()
    files = map(str, sorted(c.rglob("*.c")))
    command = [*cc, "-shared", "-fPIC", "-O0", *compiler.FLAGS, "-o", str(library), *files, "-lm"]
    subprocess.run(command, check=True)
    # 7 into its register, then DMA from there into the RAM
    device, channel, to = 0x50470010, 0x50000100, 0x80200000
    stores = [(device, 7), (0x50000010, 1), (channel, device), (channel + 0x08, to)]
    stores += [(channel + 0x10, 0), (channel + 0x18, 2 << 8 | 2 << 11), (0x50000018, 0x101)]
    with Board(register_programs.chip(stores, {}), core=Native(library)) as board:
        register_programs.until_it_hangs(board)
        assert bytes(board.ram[0x200000:0x200008]) == (7 + 42).to_bytes(8, "little")
