# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Threads on the stand-in take turns as on the firmware (host_tests/kits/threads), and what of
them it cannot know is said."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import paths
import pytest
import sim_both
from commands import invoke

_FOLDER = paths.KITS / "threads"
_CAMERA = """\
import sensor, time, _thread
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
"""
_MAIN = """\
while True:
    img = sensor.snapshot()
    time.sleep_ms(20)
"""


def _turns(*options: str) -> str:
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(_FOLDER / "turns.py"), *options]
    done = subprocess.run(command, cwd=paths.TOOLS, capture_output=True, timeout=120, check=False)
    said = done.stdout.decode().replace("\r", "")
    return re.sub(r'(?<=File ").*?(?=")|(?<= at 0x)\w+', "", said)


@sim_both.needs_unix_port
def test_threads_take_turns_as_on_the_firmware() -> None:
    assert _turns() == (_FOLDER / "turns.txt").read_text()


@pytest.mark.skipif(sim_both.firmware("full") is None, reason=sim_both.NO_IMAGE)
def test_the_firmware_takes_them_as_it_did() -> None:
    said = _turns("--firmware", str(sim_both.firmware("full")))
    assert said == (_FOLDER / "turns.txt").read_text()


def _fit(tmp_path: Path, source: str) -> tuple[int, str]:
    script = tmp_path / "main.py"
    script.write_text(source)
    with pytest.MonkeyPatch.context() as here:
        here.delenv("MAIXMEM_FIRMWARE", raising=False)  # else it would be that
        done = invoke("fit", str(script), "--frames", "30")
    return done.exit_code, done.output


@sim_both.needs_unix_port
def test_what_a_thread_keeps_is_found_at_its_line(tmp_path: Path) -> None:
    work = "kept = []\ndef work():\n    while True:\n        kept.append(bytes(600))\n"
    source = _CAMERA + work + "        time.sleep_ms(5)\n_thread.start_new_thread(work, ())\n"
    status, said = _fit(tmp_path, source + _MAIN)
    assert status == 1 and "DOES NOT FIT: main.py:9: kept.append(bytes(600)) keeps" in said
    assert "\nDo this: Keep the last 10 of kept alone, line 9:" in said


@sim_both.needs_unix_port
def test_a_thread_that_gets_no_memory_does_not_fit_though_main_goes_on(tmp_path: Path) -> None:
    work = "def work():\n    kept = []\n    while True:\n        kept.append(bytes(90000))\n"
    source = _CAMERA + work + "        time.sleep_ms(5)\n_thread.start_new_thread(work, ())\n"
    status, said = _fit(tmp_path, source + _MAIN)
    assert status == 1 and "main.py:9: kept.append(bytes(90000))" in said and "MemoryError" in said
    assert "\nDo this: Keep the last 3 of kept alone, line 9:" in said, "a heap of 512 KiB has 5"


@sim_both.needs_unix_port
@pytest.mark.parametrize(
    ("size", "told"),
    [("", "may take more than the 5120 bytes of a thread's stack"), ("32768", "FITS")],
)
def test_a_small_stack_below_large_calls_cannot_be_told(
    size: str, told: str, tmp_path: Path
) -> None:
    work = "def a(): return img.copy().compress(quality=50)\ndef b(): return a()\n"
    work += "def c(): return b()\ndef work():\n    c()\n    time.sleep_ms(5)\n"
    source = _CAMERA + "img = sensor.snapshot()\n" + work
    source += f"_thread.stack_size({size})\n_thread.start_new_thread(work, ())\n" + _MAIN
    status, said = _fit(tmp_path, source)
    assert told in said and status == (0 if size else 4), said
    assert size or "main.py:7: def a()" in said


@sim_both.needs_unix_port
def test_threads_that_all_wait_are_a_hang(tmp_path: Path) -> None:
    source = "import _thread, time\na = _thread.allocate_lock()\na.acquire()\n"
    source += "_thread.start_new_thread(a.acquire, ())\ntime.sleep_ms(5)\na.acquire()\n"
    status, said = _fit(tmp_path, source)
    assert status == 3 and "main.py:6: a.acquire()" in said


@sim_both.needs_unix_port
def test_a_write_to_the_flash_takes_more_than_a_small_stack(tmp_path: Path) -> None:
    """6.3 KB of it (host_tests/kits/threads/stack.py): the default is 5,120 bytes."""
    source = _CAMERA + 'def work():\n    with open("{}", "w") as f:\n        f.write("x")\n'
    source += "_thread.start_new_thread(work, ())\n" + _MAIN
    status, said = _fit(tmp_path, source.format("/flash/log.txt"))
    assert status == 4 and 'main.py:7: with open("/flash/log.txt", "w") as f may take' in said
    assert _fit(tmp_path, source.format("/sd/log.txt"))[0] != 0, "no card is in"


@sim_both.needs_unix_port
def test_calls_leave_no_garbage_where_there_may_be_threads(tmp_path: Path) -> None:
    """The library finds the GC heap by its length, which is the sum of two calls."""
    source = "import gc, _thread\nstart = _thread.start_new_thread\ngc.collect()\n"
    source += "seen = {gc.mem_alloc() + gc.mem_free() for _ in range(40)}\nprint(len(seen))\n"
    script = tmp_path / "main.py"
    script.write_text(source)
    assert invoke("sim", str(script)).stdout == "1\n"
