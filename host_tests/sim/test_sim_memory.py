# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem sim: the GC heap to the block, an end for endless scripts, flash as one chip,
docs/simulator.md."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import k210_table
import kmodel_build
import paths
import pytest
import sim_both
from maixmem_cli.library import places

NEEDS_UNIX = pytest.mark.skipif(places.micropython() is None, reason="no MicroPython unix port")
_CAMERA = """
import sensor, lcd
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
lcd.init()
while True:
    {}
"""


@pytest.fixture
def sim(tmp_path: Path):
    """Runs a script with maixmem sim; (exit status, stdout, stderr)."""

    def run(source: str, *options: str) -> tuple[int, str, str]:
        done = subprocess.run(
            _command(tmp_path, source, *options),
            cwd=paths.TOOLS,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def _command(folder: Path, source: str, *options: str) -> list[str]:
    script = folder / "script.py"
    script.write_text(source, encoding="utf-8")
    return [sys.executable, "-m", "maixmem_cli", "sim", str(script), *options]


# asked from the firmware (v0.6.2_84) with this very program
_BOARD = {"128K": (125000, 122300), "512K": (513400, 504500), "1M": (1031550, 1022800)}


@NEEDS_UNIX
@pytest.mark.parametrize("build", ["minimum", "openmv_v4", "full", "lvgl"])
@pytest.mark.parametrize("heap", list(_BOARD))
def test_the_gc_heap_is_the_boards(sim, build: str, heap: str) -> None:
    status, out, _ = sim(sim_both.ASK_GC, "--firmware", build, "--board-heap", heap)
    assert status == 0
    for found, board in zip(map(int, out.split()[1::2]), _BOARD[heap]):
        assert abs(found - board) <= 8192


@NEEDS_UNIX
def test_mem_alloc_and_mem_free_are_the_whole_heap(sim) -> None:
    _, out, _ = sim("import gc\nprint(gc.mem_alloc() + gc.mem_free())")
    assert int(out) == 518144


@NEEDS_UNIX
def test_a_camera_frame_is_not_in_the_gc_heap(sim) -> None:
    """It is in the system heap, as on the board: v0.6.2_84 takes 64 bytes for the object."""
    body = "import gc; gc.collect(); n = gc.mem_free(); a = sensor.snapshot()\n    break"
    status, out, err = sim(_CAMERA.format(body) + "print(n - gc.mem_free())")
    assert status == 0 and 0 < int(out.split()[-1]) < 512, (out, err)


# -- an end


@pytest.mark.parametrize(
    "body", ["lcd.display(sensor.snapshot())", "try: sensor.snapshot()\n    except: pass"]
)
def test_frames_end_a_camera_loop_with_a_table(sim, body: str) -> None:
    status, out, _ = sim(_CAMERA.format(body), "--frames", "100")
    assert status == 0
    lines = out.splitlines()
    assert lines[-5].split() == ["used", "free", "largest"]
    assert "heap_free() = 2048000" in out and lines[-1].startswith("100 frames, ")


@pytest.mark.parametrize("body", ["pass", "sensor.snapshot()", "import time; time.sleep(1)"])
def test_seconds_end_any_loop(sim, body: str) -> None:
    began = time.monotonic()
    status, out, _ = sim(_CAMERA.format(body), "--seconds", "2")
    assert status == 0 and "of the board's clock" in out.splitlines()[-1]
    assert time.monotonic() - began < 60


def test_ctrl_c_is_one_line(tmp_path: Path) -> None:
    source = 'print("up")\n' + _CAMERA.format("sensor.snapshot()")
    child = subprocess.Popen(
        _command(tmp_path, source),
        cwd=paths.TOOLS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(3)
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert err.strip().splitlines()[-1] == "maixmem: script.py: stopped by Ctrl-C"
    assert "Traceback" not in err


# -- flash


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.kmodel"
    path.write_bytes(kmodel_build.v3((28, 28, 1), [("conv", 16)]).to_bytes())
    return path


def test_a_model_over_the_firmware_keeps_the_board_from_starting(sim, model: Path) -> None:
    options = ("--flash", f"0x200000={model}")
    status, out, err = sim("print(1)", *options)
    assert status == 3 and "1" not in out.splitlines()
    assert "the board hangs" in err and "it does not start" in err
    assert "overwrites the firmware full, which ends at 0x2046e5" in err
    assert sim("print(1)", "--firmware", "minimum", *options)[:2] == (0, "1\n")


def test_a_model_in_the_file_system_is_formatted_away(sim, model: Path) -> None:
    status, out, err = sim("import KPU\nKPU.load(0xD40000)", "--flash", f"0xD40000={model}")
    assert status == 1 and "load error:2002" in out
    assert "the firmware formats that" in err


def test_a_serial_port_reads_its_file(sim, tmp_path: Path) -> None:
    (tmp_path / "gps.txt").write_bytes(b"$GPRMC\n$END\n")
    source = (
        "from machine import UART\nu = UART(UART.UART1, 9600)\nprint(u.any(), u.readline(), "
        "u.read(), u.read())"
    )
    _, out, _ = sim(source, "--uart", f"1={tmp_path / 'gps.txt'}")
    assert out == "12 b'$GPRMC\\n' b'$END\\n' None\n"


def test_a_timer_calls_back_while_the_script_sleeps(sim) -> None:
    source = """
from machine import Timer
import time
rings = []
t = Timer(Timer.TIMER0, Timer.CHANNEL0, mode=Timer.MODE_PERIODIC, period=100,
          unit=Timer.UNIT_MS, callback=rings.append)
began = time.ticks_ms()
time.sleep(2)
t.stop()
print(len(rings), rings[0] is t, 2000 <= time.ticks_diff(time.ticks_ms(), began) < 4000)
"""
    began = time.monotonic()
    _, out, _ = sim(source)
    count, *rest = out.split()
    assert 19 <= int(count) <= 21 and rest == ["True", "True"]
    assert time.monotonic() - began < 30


# -- docs


def test_the_page_has_the_table_as_it_is() -> None:
    page = (paths.ROOT / "docs" / "simulator.md").read_text(encoding="utf-8")
    text = (paths.SIM / "k210_names.txt").read_text(encoding="utf-8")
    for section in k210_table.sections(text.splitlines(), "full"):
        kinds = [entry.kind for entry in section.entries.values()]
        names = " ".join(f"`{name}`" for name in section.names)
        row = f"| {names} | {kinds.count(k210_table.KEPT)} | {kinds.count(k210_table.QUIET)} | "
        assert row in page, row


_GARBAGE = """
import gc, image
big, small = image.Image(size=(320, 240)), image.Image(size=(160, 120))
def garbage(call):
    gc.collect()
    before = gc.mem_alloc()
    kept = call()
    found = gc.mem_alloc()
    gc.collect()
    return found - gc.mem_alloc()
for img in small, big:
    print(
        garbage(lambda: img.resize(60, 40)), garbage(lambda: img.cut(1, 1, 100, 60)),
        garbage(lambda: img.copy((0, 0, 90, 50))), garbage(lambda: img.copy()),
        garbage(lambda: img.draw_image(img, 0, 0)), garbage(img.clear),
    )
"""


@NEEDS_UNIX
def test_the_garbage_of_an_image_call_is_not_more_with_more_pixels(sim) -> None:
    status, out, _ = sim(_GARBAGE)
    small, big = (list(map(int, line.split())) for line in out.splitlines())
    assert status == 0 and all(abs(a - b) <= 64 for a, b in zip(small, big))
