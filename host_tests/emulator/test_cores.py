# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The two ways to run the board's C give the same bits, a snapshot is all of a board, and no
program on it ends more than the board."""

from __future__ import annotations

import hashlib
import importlib.util
import random
from pathlib import Path

import commands
import kpu_tiny
import paths
import pytest
import register_programs
from emulated import IMAGES, each_image, needs_cc, needs_image, only_thorough, started
from kpu_layers import ARGUMENT, Layer
from maixmem_cli.emulator import compiler, pictures, sd_image
from maixmem_cli.emulator.board import EVENT, HANGS, Board, BoardStopped, Snapshot
from maixmem_cli.emulator.cores import Core, CoreFailed, Native, Wasm
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.readers import knowledge
from maixmem_cli.emulator.readers.tracer import Tracer
from maixmem_cli.flash import image as flash_image
from maixmem_cli.heap import heaps
from maixmem_cli.serial.repl import RawRepl

needs_wasm = pytest.mark.skipif(
    importlib.util.find_spec("wasmtime") is None,
    reason="NO WASM: pip install wasmtime",
)
needs_both = pytest.mark.skipif(
    importlib.util.find_spec("wasmtime") is None or compiler.compiler() is None,
    reason="CORES NOT COMPARED: they need wasmtime and a C compiler",
)
_INFERENCE = """
import gc, image
import KPU as kpu
net = out = shown = None
gc.collect()
net = kpu.load({at})
shown = image.Image(size={size})
{out}shown.draw_rectangle(10, 10, 60, 50, fill=True)
shown.pix_to_ai()
out = kpu.forward(net, shown)
print(out[0], out[9])
kpu.deinit(net)
"""
_SCENES = {
    "floats and a loop": """
import math
s = 0.1
for i in range(1, 500):
  s += math.sqrt(s * 3.7) / i - math.sin(s)
print(s, 1e300 * 1e300, sum(range(1000)))
""",
    "camera and display": """
import sensor, lcd
lcd.init()
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
lcd.display(sensor.snapshot())
print('shown')
""",
    "card": """
f = open('/sd/new', 'w')
print(f.write('x' * 3000))
f.close()
f = open('/sd/a.txt')
print(f.read())
f.close()
""",
    "tiny V3": kpu_tiny.script(0x300000),
    "V3": "print('inference')\n" + _INFERENCE.format(at=0x400000, size=(320, 240), out=""),
    "V4": "print('inference')\n"
    + _INFERENCE.format(
        at=0x600000, size=(112, 112), out="shown = shown.to_grayscale()\n"
        "kpu.set_outputs(net, 0, 1, 1, 10)\n"
    ),
    "core dump": "i = image.Image(size=(64, 64)).copy()\nprint('inference')\ni.pix_to_ai()\n"
    "import uctypes\nprint(uctypes.bytearray_at(0x7000000000, 4)[0])\n",  # nothing is there
}  # fmt: skip
_MOST_RUNS, _DONE = 1000, b"\x04>"
_SAYS = {"floats and a loop": "499500", "camera and display": "shown", "card": "card's text"}


def _through_all_scenes(image: Path, core: Core, folder: Path) -> dict[str, list[str]]:
    """After each scene: what was said, and checksums of all that a board is."""
    found: dict[str, list[str]] = {}
    folder.mkdir()
    (folder / "a.txt").write_text("card's text")
    chip, card = bytearray(flash_image.build(image)), sd_image.build(folder)
    known = knowledge.learn(bytes(chip), image.name)
    for at, path in _models(folder):
        flash_image.place(chip, path, at)
    with Board(chip, camera=pictures.film("pattern"), sd=card, core=core) as board:
        _runs_until(board, b"\n>>> ")
        board.type(b"\r\x01")
        _runs_until(board, b"CTRL-B to exit\r\n>")
        tracer = Tracer(board, known, folder)
        tracer.start(heaps.Finder(), gc=True)
        for name, code in _SCENES.items():
            for c in code.encode() + b"\x04":
                board.type(bytes((c,)))
                board.run(20)
            for _ in range(_MOST_RUNS):
                if board.run() & HANGS or _DONE in board.unread:
                    break
            parts = [hashlib.sha256(part).hexdigest() for part in board.snapshot().parts]
            found[name] = [bytes(board.unread).decode(errors="replace"), *parts]
            del board.unread[:]
        tracer.stop()
        found["trace"] = [str(tracer.written()), (folder / "events").read_bytes().hex()]
        tracer.close()
    return found


def _runs_until(board: Board, end: bytes) -> None:
    """By the board's clock alone: a slow machine types nothing twice."""
    for _ in range(_MOST_RUNS):
        board.run()
        if end in board.unread:
            del board.unread[:]
            return
    raise AssertionError(bytes(board.unread[-200:]))


def _models(folder: Path) -> list[tuple[int, Path]]:
    """The tiny one, and real ones where they are given."""
    tiny = folder / "tiny.kmodel"
    tiny.write_bytes(kpu_tiny.model())
    real = paths.models()
    more = ((0x400000, "v3_facedetect_fcaro.kmodel"), (0x600000, "v4_mnist_cnn.kmodel"))
    return [(0x300000, tiny), *((at, real / name) for at, name in more if real)]


@needs_both
@each_image
def test_wasm_and_native_are_equal(image: Path, tmp_path: Path) -> None:
    """RAM, flash, card, registers of both cores, instructions, pixels, the trace's state: all
    that a board is, and what was traced."""
    one = _through_all_scenes(image, Wasm(), tmp_path / "wasm")
    two = _through_all_scenes(image, Native(), tmp_path / "native")
    assert {name: words for name, words in _SAYS.items() if words not in one[name][0]} == {}
    assert str(kpu_tiny.expected())[1:-1] in one["tiny V3"][0]
    assert "sys_exit" in "".join(said for said, *_ in one.values())
    assert {name for name in one if one[name] != two[name]} == set()
    assert int(one["trace"][0]) > 100 * EVENT.size


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


def _lives(program: bytearray, core: Core) -> bool:
    """False: the board ended, with a sentence. The process that runs it is there in any case."""
    try:
        board = Board(program, core=core)
        for _ in range(5):
            board.run(200)
        board.said()
        assert board.state()["resets"] >= 1
    except BoardStopped as e:
        assert "the board in software failed: " in str(e)
        return False
    return True


@needs_both
@only_thorough
@pytest.mark.parametrize("kind", [Wasm, Native])
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_garbage_ends_the_board_at_most(first: int, kind: type[Core]) -> None:
    """A trap ends a board, which costs no process; the shared library has none to lose."""
    core, ended = kind(), []
    for seed in range(first, first + 100):
        if not _lives(_garbage(seed), core):
            ended.append(seed)
            core = kind()
    core.close()
    assert len(ended) < 10 and (kind is Wasm or not ended), ended


@needs_cc
def test_endless_blocks_of_dma_give_the_host_its_turn() -> None:
    """As Audio.play() without a device starts them: 4,194,304 items to where all go nowhere."""
    dma, channel, blocks = 0x50000000, 0x50000500, 6
    stores = [(dma + 0x10, 3), (channel, 0x80000000), (channel + 0x08, 0x502501C8)]
    stores += [(channel + 0x10, 0x3FFFFF), (channel + 0x18, 0x1244)]
    with Board(register_programs.chip([*stores, *[(dma + 0x18, 0x1010)] * blocks], {})) as board:
        runs = 1
        while not board.run() & HANGS:
            runs += 1
        assert blocks <= runs < 100
        assert board.state()["cycles"] > blocks << 22, "a cycle for each item"


# A depthwise layer with more outputs than inputs: it once read past what it had allocated.
_TWELVE = (
    1 | 1 << 3, 0x4000 << 32, 0 | 1023 << 32, 7 | 5 << 10 | (7 | 5 << 10) << 32,
    1 | 0x80500000 << 32, 1 | 0x80510000 << 32, 0, 6 | 1 << 16 | 4 << 28 | 0x80520000 << 32,
    6 | 1 << 16 | 4 << 20, 0, 0, 0,
)  # fmt: skip
_TWELVE_WRITES = """
import uctypes
argument = uctypes.struct({at}, {{"v": uctypes.UINT64 | 0}}, uctypes.NATIVE)
for v in {words}:
  argument.v = v
print('still here')
"""


@needs_image
def test_twelve_register_writes_of_a_script_end_no_process(tmp_path: Path) -> None:
    script = tmp_path / "twelve.py"
    script.write_text(_TWELVE_WRITES.format(at=ARGUMENT, words=_TWELVE))
    done = commands.invoke("sim", str(script), "--firmware", str(IMAGES[0]))
    said = done.stdout + done.stderr
    assert done.exit_code == 0 and "still here" in said
    assert "depthwise has more outputs than inputs: 1024" in said
    assert "Traceback" not in said


class _Broken(Native):
    def __init__(self) -> None: ...

    def call(self, name: str, *args: int) -> int:
        raise CoreFailed("out of bounds memory access")


def test_a_trap_is_a_sentence() -> None:
    with pytest.raises(BoardStopped, match="board in software failed: out of bounds"):
        Board(bytearray(), core=_Broken())
