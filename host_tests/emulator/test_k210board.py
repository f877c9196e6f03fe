# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board in software with real firmware: it boots, its devices work, its heaps are what the
firmware says."""

from __future__ import annotations

import hashlib
import struct
import zlib
from pathlib import Path

import emulated
import pytest
from emulated import answer, each_image, needs_cc, needs_image, started
from maixmem_cli.emulator import pictures, sd_image
from maixmem_cli.emulator.board import Board, BoardStopped
from maixmem_cli.emulator.ports import SerialPort, at_prompt
from maixmem_cli.emulator.readers import knowledge
from maixmem_cli.flash import image as flash_image
from maixmem_cli.heap import heaps
from maixmem_cli.serial.repl import RawRepl

pytestmark = needs_cc

_CAMERA = """sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
"""
_SCENES = (
    ("boot", "pass"),
    ("load", "a = kpu.load(0x300000)"),
    ("load second", "b = kpu.load(0x400000)"),
    ("free lower", "kpu.deinit(a)"),
    ("free upper", "kpu.deinit(b)"),
    ("bytearrays", "x = [bytearray(n * 100) for n in range(50)]"),
    ("image", "i = image.Image()\nj = i.resize(100, 90)"),
    ("camera", _CAMERA + "k = sensor.snapshot()"),
    ("after gc", "x = i = j = None\ngc.collect()"),
)


@each_image
def test_boots_and_answers(image: Path) -> None:
    with started(image) as (board, repl):
        assert "MaixPy" in repl.check("import os\nprint(os.uname())")
        assert repl.check("print(sum(range(1000)), 7.5 / 2)").split() == ["499500", "3.75"]
        assert not board.state()["hangs"]


@each_image
def test_what_is_learned_of_a_firmware_is_complete(image: Path) -> None:
    chip = flash_image.build(image)
    found = knowledge.learn(chip, image.name)
    assert found.missing == []
    assert set(found.functions) == {"malloc", "free", "realloc"}
    assert {kind for kind, _ in found.marks} >= {"gc", "load", "deinit", "snapshot"}


def _says(repl: RawRepl) -> list[int]:
    said = repl.check("print(utils.heap_free(), gc.mem_alloc(), gc.mem_free())")
    return [int(n) for n in said.split()[-3:]]


@pytest.mark.parametrize(
    "image",
    [pytest.param(p, id=p.stem) for p in emulated.modern()]
    or [pytest.param(None, marks=needs_image)],
)
def test_every_byte_of_both_heaps_is_accounted_for(image: Path) -> None:
    files = (
        (0x300000, emulated.model("v3_mnist_maixpy.kmodel")),
        (0x400000, emulated.model("v3_face_ld5.kmodel")),
    )
    with started(image, files, camera=pictures.film("pattern")) as (board, repl):
        repl.check("import gc, image, sensor\nimport KPU as kpu\nfrom Maix import utils")
        finder = heaps.Finder()
        for name, code in _SCENES:
            repl.check(code)
            heap_free, gc_used, gc_free = _says(repl)
            system, gc = finder.system(board.ram), finder.gc(board.ram)
            used, holes = sum(c.size for c in system.used), sum(c.size for c in system.holes)
            assert used + holes + system.top_size == system.end - system.base, name
            assert (system.heap_free, gc.used, gc.free) == (heap_free, gc_used, gc_free), name


@each_image
def test_sd_card(image: Path, tmp_path: Path) -> None:
    data = bytes(range(256)) * 500
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a name that is longer than 8.3.bin").write_bytes(data)
    card = sd_image.build(tmp_path)
    with started(image, sd=card) as (_, repl):
        names = answer(repl, "import os\nprint(os.listdir('/sd/deep/er'))")
        assert names == ["a name that is longer than 8.3.bin"]
        code = """import uhashlib
h = uhashlib.sha256()
f = open('/sd/deep/er/a name that is longer than 8.3.bin', 'rb')
while True:
  b = f.read(1000)
  if not b: break
  h.update(b)
print(h.digest())"""
        assert answer(repl, code) == hashlib.sha256(data).digest()
        assert (
            answer(
                repl,
                "f = open('/sd/new', 'w')\nf.write('x' * "
                "5000)\nf.close()\nprint(os.stat('/sd/new')[6])",
            )
            == 5000
        )


@each_image
def test_flash_keeps_what_is_written(image: Path) -> None:
    with started(image) as (board, repl):
        repl.write_file("/flash/kept.bin", b"kept" * 700)
        chip = bytes(board.flash)
    with Board(chip) as board:
        repl = at_prompt(SerialPort(board), image.name)
        assert answer(repl, "print(open('/flash/kept.bin', 'rb').read())") == b"kept" * 700


@each_image
def test_camera_and_display(image: Path, tmp_path: Path) -> None:
    picture = tmp_path / "red.ppm"
    picture.write_bytes(b"P6\n2 2\n255\n" + bytes((255, 0, 0)) * 4)
    camera = pictures.film(str(picture))
    with started(image, camera=camera) as (board, repl):
        repl.check(
            "import sensor, lcd\nlcd.init()\nsensor.reset()\nsensor.set_pixformat(sensor.RGB565)\n"
            "sensor.set_framesize(sensor.QVGA)\nsensor.run(1)\ni = "
            "sensor.snapshot()\nlcd.display(i)"
        )
        red, green, blue = answer(repl, "print(i.get_pixel(100, 100))")
        assert red > 240 and green < 9 and blue < 9
        shown = memoryview(board.picture()).cast("H")
        assert shown[0] * shown[1] == len(shown) - 2
        assert shown.tolist().count(0xF800) > 10000


@each_image
def test_a_reset_of_the_camera_takes_its_picture_away_at_any_time(image: Path) -> None:
    with started(image, camera=pictures.film("pattern")) as (board, repl):
        repl.check(
            "import sensor, time\nfor ms in range(10, 46, 4):\n  sensor.reset()\n"
            "  sensor.set_pixformat(sensor.RGB565)\n  sensor.set_framesize(sensor.QVGA)\n"
            "  time.sleep_ms(ms)"
        )
        assert heaps.Finder().system(board.ram).heap_free > 0


@each_image
def test_reset_boots_again(image: Path) -> None:
    with started(image) as (board, repl):
        repl.hard_reset()
        assert board.state()["resets"] == 2
        assert repl.check("print(6 * 7)").strip() == "42"


@needs_image
def test_a_register_without_a_model_is_named_once() -> None:
    with started(emulated.IMAGES[0]) as (board, repl):
        # uctypes reads registers: the watchdog's, twice
        repl.check(
            "import uctypes\nfor _ in range(2):\n  v = uctypes.bytearray_at(0x50400000, 4)[0]"
        )
        assert board.said().count("not modelled") == 1
        assert "watchdog" in board.said()


def test_a_flash_without_firmware_ends_with_a_sentence() -> None:
    with (
        Board(bytearray(b"\xff" * flash_image.FLASH_SIZE)) as board,
        pytest.raises(BoardStopped, match="no firmware"),
    ):
        board.run()


def test_png_is_a_png() -> None:
    data = pictures.png(struct.pack("<HHHH", 2, 1, 0xF800, 0x07E0))
    assert data and data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (2, 1)
    at = data.index(b"IDAT")
    size = struct.unpack(">I", data[at - 4 : at])[0]
    assert zlib.decompress(data[at + 4 : at + 4 + size]) == b"\0\xff\0\0\0\xff\0"
