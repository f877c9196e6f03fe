# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""sim on the stand-in: what comes before the script, and what a GC heap, a camera and the slots of
work buffers do, as they did on the firmware."""

from __future__ import annotations

from pathlib import Path

import pytest
import sim_both

pytestmark = sim_both.needs_unix_port


def test_what_raises_before_the_script_keeps_it_from_nothing(sim, tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    (card / "boot.py").write_text("b = 5\nopen('/flash/none')\n")
    (card / "main.py").write_text("m = b + 1\nx = f'{m}'\n")
    status, out, _ = sim("print(b, 'm' in globals())\n", "--sd", str(card))
    lines = out.splitlines()
    assert status == 0 and lines[-1] == "5 False"
    assert '  File "boot.py", line 2, in <module>' in lines
    assert lines[-3:-1] == ['  File "main.py", line 2', "SyntaxError: invalid syntax"]


_SMALL = "from Maix import utils\nimport gc, machine\nif utils.gc_heap_size() != {0}:\n"
_SMALL += "    utils.gc_heap_size({0})\n    machine.reset()\nprint('up', gc.mem_free())\n"


@pytest.mark.parametrize("nbytes", [1000, 8192])
def test_a_gc_heap_that_does_not_come_to_the_prompt_is_a_hang(sim, nbytes: int) -> None:
    status, out, err = sim(_SMALL.format(nbytes))
    assert status == 3 and "up" not in out
    assert f"{nbytes} bytes" in err and "Do this: Erase /flash" in err


@pytest.mark.parametrize(("nbytes", "free"), [(8448, 5152), (14000, 10528), (32768, 26336)])
def test_a_small_one_has_what_the_firmware_had(sim, nbytes: int, free: int) -> None:
    status, out, _ = sim(_SMALL.format(nbytes))
    assert status == 0 and abs(int(out.split()[-1]) - free) <= 2048


def test_a_camera_of_pictures_is_a_ramp_here_and_that_is_said_once(sim) -> None:
    source = "import sensor\nsensor.reset()\nsensor.set_pixformat(sensor.RGB565)\n"
    source += "sensor.set_framesize(sensor.QVGA)\nprint(sensor.snapshot().to_bytes()[250:260])\n"
    for camera in ("pattern", "no/such/file.png"):
        status, out, err = sim(source, "--camera", camera, "--frames", "2")
        assert status == 0 and repr(bytearray([250, 251, 252, 253, 254, 255, 0, 1, 2, 3])) in out
        assert err.count("shows the same ramp") == 1 and "--firmware IMAGE" in err


def test_work_buffers_run_out_of_slots_as_on_the_board(sim) -> None:
    """With so large a GC heap no work buffer finds room."""
    source = """
import image
img = image.Image(size=(16, 16))
last, said = 0, []
for k in range(150):
    try:
        img.flood_fill(1, 1)
    except MemoryError as e:
        if str(e) != last:
            last = str(e)
            said.append((k, last[:16]))
for name in ("compressed", "find_rects"):
    try:
        getattr(img, name)()
    except MemoryError as e:
        said.append((name, str(e)[:16]))
print(said)
"""
    words = [(0, "Out of Memory! P"), (100, "Too many fb_allo")]
    words += [("compressed", "Out of Memory! P")]
    status, out, err = sim(source, "--board-heap", "2824K", "--heap", "8M")
    assert status == 0, err
    assert eval(out.splitlines()[-1])[:3] == words
