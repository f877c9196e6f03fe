# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit SCRIPT.py`: what a script shows becomes a project.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from fit_kit import run, three_models
from maixmem_cli.firmware.builds import IMAGE_START
from maixmem_cli.plan.program.project import Camera, read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return three_models(tmp_path)


_SCRIPT = """
import sensor, lcd
import KPU as kpu
from maixmem_pool import ImagePool
FACE = 0x300000
sensor.reset(dual_buff=True)
sensor.set_framesize(sensor.QVGA)
sensor.set_windowing((224, 224))
lcd.init()
task = kpu.load(FACE)
other = kpu.load("/sd/small.kmodel")
big = kpu.load_flash(5 * 0x100000, 1, 0xC000, 80000000)
frames = ImagePool(224, 224, "rgb565", 2, ai=True)
small = sensor.snapshot().resize(28, 28)
small.pix_to_ai()
"""


def test_a_script_becomes_a_project(folder: Path) -> None:
    script = folder / "main.py"
    script.write_text(_SCRIPT)
    done = run(script)
    assert done.exit_code == 0, done.output
    for name in ("model_0x300000.kmodel", "model_0x500000.kmodel"):
        assert f'file = "{name}"   # your copy of it' in done.output
        (folder / name).write_bytes((folder / "small.kmodel").read_bytes())
    assert 'file = "small.kmodel"\n' in done.output, "it is there: no question"
    path = folder / "project.toml"
    path.write_text(done.output)
    wanted = read(path)
    assert wanted.camera == Camera("QVGA", (224, 224), True)
    assert wanted.steps == ("camera", "lcd", "models", "pools", "images")
    assert [(m.address, m.path, m.stream) for m in wanted.models] == [
        (0x300000, "", False),
        (None, "/sd/small.kmodel", False),
        (0x500000, "", True),
    ]
    (pool,), (image,) = wanted.pools, wanted.images
    assert (pool.size, pool.count, pool.ai) == ((224, 224), 2, True)
    assert (image.size, image.make, image.ai) == ((28, 28), "resize", True)
    assert run(path).exit_code in (0, 1)


def test_a_script_with_a_manager(folder: Path) -> None:
    script = folder / "main.py"
    script.write_text(
        "from maixmem_models import ModelManager\nimport maixmem\nmaixmem.set_gc_heap(1 << 20)\n"
        "with ModelManager() as models:\n    models.add('a', 0x300000, pin=True)\n    "
        "models.add('b', which)\n"
    )
    text = run(script).output
    assert "gc_heap = 1048576" in text
    assert 'name = "a"\nresident = true' in text
    assert 'name = "b"' in text and "# which model, and where?" in text


def test_flash_says_which_model_a_script_loads(folder: Path) -> None:
    script, small = folder / "main.py", folder / "small.kmodel"
    script.write_text("import KPU\na = KPU.load(0x300000)\ndef more(at):\n    KPU.load(at)\n")
    big = folder / "large.kmodel"
    given = f"--flash={small}@0x300000", f"--flash={big}@0x800000"
    text = run(script, *given).output
    assert (
        "line 4: it loads what the text does not tell" in text and "which model, and" not in text
    )
    path = folder / "project.toml"
    path.write_text(text)
    assert [(m.address, m.file) for m in read(path).models] == [
        (0x300000, small),
        (0x800000, big),
    ]
    script.write_text("import KPU\na = KPU.load(0x300000)\n")
    assert f"--flash {big}@0x800000: no line loads it" in run(script, *given).output


def test_flash_gives_a_project_its_models(folder: Path) -> None:
    path, small = folder / "project.toml", folder / "small.kmodel"
    path.write_text('firmware = "full"\n[[model]]\naddress = 0x300000\nfile = "gone.kmodel"\n')
    assert run(path).exit_code == 2
    assert run(path, f"--flash={small}@0x300000").exit_code == 0
    done = run(path, f"--flash={small}@0x300000", f"--flash={small}@0x500000")
    assert done.exit_code == 2 and "no [[model]] has this address" in done.output


def test_a_script_that_is_no_python(folder: Path) -> None:
    script = folder / "main.py"
    script.write_text("def (\n")
    done = run(script)
    assert done.exit_code == 2 and "line 1" in done.output
    script.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in run(script).output
    assert "cannot be read" in run(folder / "none.py").output


def test_the_firmware_of_the_option_goes_into_the_project(folder: Path) -> None:
    (folder / "main.py").write_text("import lcd\nlcd.init()\n")
    image = folder / "build.bin"
    image.write_bytes(IMAGE_START + bytes(4096) + b"v0.6.2-84-g8fcd84a58\0" + bytes(4096))
    done = run(str(folder / "main.py"), "--firmware", str(image))
    assert f'firmware = "{image.resolve().as_posix()}"' in done.output, done.output


def test_the_firmware_of_the_option_stands_for_one_that_is_gone(folder: Path) -> None:
    path = folder / "gone.toml"
    path.write_text('firmware = "gone.bin"\norder = ["lcd"]\nlcd = true\n')
    assert run(str(path)).exit_code == 2
    done = run(str(path), "--firmware", "full")
    assert done.exit_code == 0 and "firmware full" in done.output, done.output
