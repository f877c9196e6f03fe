# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""profile --guard names the line that damages the system heap's books, and nothing else; a damaged
heap is described. On real firmware."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import emulated
import pytest
import random_scripts
import register_programs
from commands import invoke
from emulated import each_image, needs_cc
from k210_model.heap import RAM_START
from maixmem_cli.emulator.board import EVENT, Board
from maixmem_cli.emulator.readers import tracer
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.heap import heaps
from maixmem_cli.profiler import profile

pytestmark = needs_cc
_SPOILS = """
import uctypes
def spoil(b):
  b[{at}] = {value}
spoil(uctypes.bytearray_at({head}, 16))
kept = bytearray(100)
"""
_RECURSION = """
def deep(n):
  return deep(n + 1)
try:
  deep(0)
except RuntimeError:
  print('caught')
"""
_FINE = """
import KPU as kpu, image, gc, os
for i in range(3):
  model = kpu.load(0x300000)
  im = image.Image(size=(100, 80))
  im.pix_to_ai()
  kpu.deinit(model)
  gc.collect()
  kept = [bytearray(n) for n in range(0, 4000, 400)]
os.listdir('/flash')
"""


def guarded(image: Path, folder: Path, source: str, **more: object) -> profile.Profile:
    script = folder / "main.py"
    script.write_text(source)
    with Session(image, script, Options(**more)) as session:  # type: ignore[arg-type]
        if "{head}" in source:
            chunk = session.finder.system(session.board.ram).used[-1]
            byte = chunk.size >> 8 & 255 ^ 0x41
            session.source = source.format(head=chunk.address - 16, at=9, value=byte)
        return profile.run(session, lambda text: None, guard=True)


@each_image
def test_a_store_into_a_head_is_told(image: Path, tmp_path: Path) -> None:
    result = guarded(image, tmp_path, _SPOILS.lstrip())
    assert result.outcome.error == ""
    assert result.damage[1:3] == [
        "at main.py:3: b[9] = " + result.session.source.split("b[9] = ")[1].splitlines()[0],
        "   called by main.py:4: " + result.session.source.splitlines()[3],
    ]
    assert result.damage[0].startswith("the system heap was damaged: the size of the chunk at 0x")
    assert result.damage[3].startswith("by the instruction at 0x800")
    assert result.unexplained is None


_HEAP, _TOP_AT, _COPY = RAM_START + 0x200000, RAM_START + 0x1FF000, RAM_START + 0x1FE000
_AMOSWAP = (0x00B53023, 0x08B5302F)  # sd a1, 0(a0); amoswap.d zero, a1, (a0)
_DMA = 0x50000000
_STORES = {
    "a store": [(_HEAP + 0x48, 0x99)],
    "an atomic instruction": [(_HEAP + 0x48, 0x99)],
    "DMA": [
        (_DMA + 0x10, 3),
        *((_DMA + 0x100 + at, n) for at, n in ((0, _COPY), (8, _HEAP + 0x48), (16, 0))),
        (_DMA + 0x118, 3 << 8 | 3 << 11),
        (_DMA + 0x18, 0x101),
    ],
}


@pytest.mark.parametrize("way", _STORES)
@pytest.mark.parametrize("harm", [0x99, 0x41])
def test_whoever_stores(tmp_path: Path, way: str, harm: int) -> None:
    """A heap of two chunks and a top: what changes the second's size is told, the same size
    (0x41) is not."""
    stores = [(at, harm if what == 0x99 else what) for at, what in _STORES[way]]
    flash = register_programs.chip(stores, {_COPY: struct.pack("<Q", harm)})
    if way == "an atomic instruction":
        old, new = (struct.pack("<I", code) for code in _AMOSWAP)
        assert flash.count(old) == 1
        flash = flash.replace(old, new)
    heap = b"".join(struct.pack("<2Q", 0, n | 1).ljust(n, b"\0") for n in (64, 64, 4096))
    with Board(flash) as board, (tmp_path / "events").open("wb") as events:
        board.events = events
        for at, data in ((_HEAP, heap), (_TOP_AT, struct.pack("<Q", _HEAP + 128))):
            board.ram[at - RAM_START :][: len(data)] = data  # type: ignore[index]
        board.trace(_TOP_AT, 0, 0)
        board.guard(_HEAP, _TOP_AT)
        register_programs.until_it_hangs(board)
        assert bytes(board.ram[_HEAP + 0x48 - RAM_START :][:8]) == struct.pack("<Q", harm)
    found = [e for e in EVENT.iter_unpack((tmp_path / "events").read_bytes())]
    told = [(e[3], e[4]) for e in found if e[1] == tracer.DAMAGED]
    assert told == ([(_HEAP + 0x48, harm)] if harm == 0x99 else [])


@each_image
def test_what_is_fine_is_no_damage(image: Path, tmp_path: Path) -> None:
    files = ((0x300000, emulated.model("v3_face_ld5.kmodel")),)
    result = guarded(image, tmp_path, _FINE, files=files)
    assert (result.outcome.error, result.damage, result.unexplained) == ("", [], 0)


@each_image
def test_random_scripts_damage_nothing(image: Path, tmp_path: Path) -> None:
    """MAIXMEM_SEED and MAIXMEM_SEQUENCES: others, more; each prints its seed where it fails."""
    first, number = (
        int(os.environ.get(f"MAIXMEM_{name}", usual))
        for name, usual in (("SEED", 1), ("SEQUENCES", 2))
    )
    files = ((0x300000, emulated.model("v3_face_ld5.kmodel")),)
    for seed in range(first, first + number):
        said: list[str] = []
        script = tmp_path / f"seed{seed}.py"
        script.write_text(random_scripts.script(seed))
        with Session(image, script, Options(files=files)) as session:
            result = profile.run(session, said.append, guard=True)
        assert (result.outcome.error, result.damage, result.unexplained) == ("", [], 0), seed
        assert "".join(said).endswith("end\n"), seed


@each_image
def test_an_endless_recursion(image: Path, tmp_path: Path) -> None:
    """Where it runs over its task's stack into the books, its line is named; and the heap's state
    is described with and without knowledge of what it was before."""
    result = guarded(image, tmp_path, _RECURSION.lstrip())
    script = tmp_path / "main.py"
    with Session(image, script, Options()) as session:
        before = session.finder.system(session.board.ram)
        session.run(lambda text: None)
        try:
            session.finder.system(session.board.ram)
            assert result.damage == []
        except heaps.Damaged as e:
            assert result.damage[1].startswith("at main.py:2: return deep(n + 1), ")
            assert result.damage[2] == "   called by main.py:4: deep(0)"
            address = result.damage[0].split("chunk at ")[1].split()[0]
            address = address.rstrip(",")
            assert f"the chunk at {address}, after " in str(e)
            assert int(address, 16) in [c.address for c in before.used]
            with pytest.raises(heaps.Damaged) as anew:
                heaps.Finder().system(session.board.ram)
            assert str(anew.value) == str(e)
            done = invoke("heap", f"emu:{image}", "--run", str(script))
            assert "system heap: malloc's lists are not whole" in done.stdout
            done = invoke("profile", str(script), "--firmware", str(image))
            assert done.exit_code == 1 and str(e) in done.stdout
