# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The two ways to run the board's C give the same bits, a snapshot is all of a board, and no
program on it ends more than the board."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest
import register_programs
from emulated import each_image, only_thorough, started
from kpu_layers import ARGUMENT, Layer
from maixmem_cli.emulator import compiler, pictures
from maixmem_cli.emulator.board import Board, BoardStopped, Snapshot
from maixmem_cli.emulator.cores import Core, CoreFailed, Native, Wasm
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.serial.repl import RawRepl

needs_wasm = pytest.mark.skipif(
    importlib.util.find_spec("wasmtime") is None,
    reason="NO WASM: pip install wasmtime",
)
needs_both = pytest.mark.skipif(
    importlib.util.find_spec("wasmtime") is None or compiler.compiler() is None,
    reason="CORES NOT COMPARED: they need wasmtime and a C compiler",
)
_WORK = """
import math, sensor, lcd
import KPU as kpu
s = 0.1
for i in range(1, 500):
  s += math.sqrt(s * 3.7) / i - math.sin(s)
lcd.init()
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
lcd.display(sensor.snapshot())
print(s, 1e300 * 1e300, sum(range(1000)))
"""


def _after(image: Path, core: Core) -> tuple[str, Snapshot]:
    with started(image, camera=pictures.film("pattern"), core=core) as (board, repl):
        for c in _WORK.encode() + b"\x04":
            board.type(bytes((c,)))
            board.run(20)
        for _ in range(200):
            board.run()
        return bytes(board.unread).decode(), board.snapshot()


@needs_both
@each_image
def test_wasm_and_native_are_equal(image: Path) -> None:
    """RAM, flash, registers of both cores, instructions, pixels: all that a board is."""
    (said, one), (told, two) = _after(image, Wasm()), _after(image, Native())
    assert "499500" in said
    assert said == told
    assert [a == b for a, b in zip(one.parts, two.parts)] == [True] * len(one.parts)


@needs_wasm
@each_image
def test_a_fork_goes_on_where_the_board_was(image: Path) -> None:
    with started(image) as (board, repl):
        repl.check("n = 41")
        kept = Snapshot.unpack(board.snapshot().pack())
        repl.check("n = 7")
        with Board(kept) as other:
            assert RawRepl("fork", SerialPort(other)).check("print(n + 1)") == "42\n"
        assert repl.check("print(n)") == "7\n"
        board.restore(kept)
        assert repl.check("print(n)") == "41\n"


def test_a_snapshot_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="another"):
        Snapshot.unpack(b"0" * 100)


_BASES = (
    0x40800000, 0x50000000, 0x50210000, 0x50240000, 0x50280000, 0x502C0000, 0x502D0000,
    0x50430000, 0x50440000, 0x50460000, 0x52000000, 0x53000000, 0x54000000, 0x0C200000,
    0x02004000, 0x38000000, 0x38001000, 0x50250000,
)  # fmt: skip


def _garbage(seed: int) -> bytearray:
    """A program that writes registers at random; every third one starts from a layer."""
    r = random.Random(seed)
    stores = Layer(seed).stores() if seed % 3 == 0 else []
    for i in range(1, len(stores)):
        if r.random() < 0.2:
            stores[i] = (ARGUMENT, r.getrandbits(64))
    for _ in range(r.randrange(1, 200)):
        at = r.choice(_BASES) + 8 * r.randrange(r.choice((4, 20, 0x80)))
        small, ram = r.getrandbits(r.choice((1, 4, 16, 64))), 0x80000000 + r.getrandbits(23)
        stores.append((at, r.choice((small, ram, 0x40800030, 0x101))))
    return register_programs.chip(stores, {})


@needs_wasm
@only_thorough
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_garbage_ends_the_board_at_most(first: int) -> None:
    core = Wasm()
    for seed in range(first, first + 100):
        try:
            board = Board(_garbage(seed), core=core)
            for _ in range(5):
                board.run(200)
            board.said()
        except BoardStopped:
            core = Wasm()


class _Broken(Native):
    def __init__(self) -> None: ...

    def call(self, name: str, *args: int) -> int:
        raise CoreFailed("out of bounds memory access")


def test_a_trap_is_a_sentence() -> None:
    with pytest.raises(BoardStopped, match="board in software failed: out of bounds"):
        Board(bytearray(), core=_Broken())
