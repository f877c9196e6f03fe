# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem auto on boards in software: the program that runs after a start has the line before
it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import invoke
from emulated import answer, each_image, model, needs_cc, only_thorough
from maixmem_cli.emulator.connect import connect
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import RawRepl

pytestmark = [needs_cc, only_thorough]
_WHOSE = "\nimport KPU\nwhose = KPU.__name__\n"
_THREAD = """
import maixmem_auto, KPU, time
try:
    import _thread
except ImportError:
    _thread = None
done = []
def work():
    try:
        done.append(KPU.load(0x300000).model_size())
    except BaseException as e:
        done.append(repr(e))
if _thread:
    _thread.start_new_thread(work, ())
    while not done:
        time.sleep_ms(20)
print(done)
"""
_FILES = "import os\nprint([sorted(os.listdir('/flash')), open(%r).read()])"


def _program(board: RawRepl) -> str:
    """Writes what tells whose KPU it gets as the program that runs after a start: main.py, or
    boot.py on boards that have no other (M5StickV)."""
    for name in ("/flash/main.py", "/flash/boot.py"):
        board.write_file(name, _WHOSE.encode())
        board.hard_reset()
        if not board.run("whose")[1]:
            return name
        board.check(f"import os\nos.remove({name!r})")
    raise AssertionError("neither main.py nor boot.py runs")


@each_image
def test_install_and_remove(image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # a board that no other test has
    port = f"emu:{image}"
    with connect(port + ",new") as board:
        name = _program(board)
        before = answer(board, _FILES % name)
        firmware = answer(board, "import KPU\nprint(repr(KPU.__name__))")
    done = invoke("auto", "--install", "--port", port, "--json")
    told = json.loads(done.stdout)
    assert told["changed"] and told["boot"] == "/flash/boot.py", told
    assert not [f for f in told["findings"] if "maixmem" in f["cause"]], told["findings"]
    with connect(port) as board:
        board.hard_reset()
        assert answer(board, "print(repr(whose))") == "maixmem_kpu"
        if told["gc_heap"]["now"]:
            stored = answer(board, "from Maix import utils\nprint(utils.gc_heap_size())")
            assert stored == told["gc_heap"]["now"] > told["gc_heap"]["before"]
    gone = json.loads(invoke("auto", "--remove", "--port", port, "--json").stdout)
    assert gone["changed"]
    with connect(port) as board:
        board.hard_reset()
        assert answer(board, _FILES % name) == before
        assert answer(board, "print(repr(whose))") == firmware


@each_image
def test_a_thread_that_says_nothing_of_its_stack_loads_a_model(image: Path) -> None:
    """The firmware's 4096 bytes would hang the board."""
    mnist = model("v3_mnist_maixpy.kmodel")
    with booted(image, [(0x300000, mnist)], files_of_library()) as board:
        done = answer(RawRepl(image.name, SerialPort(board)), _THREAD)
    if not done:
        pytest.skip(f"{image.name}: no threads")
    assert done == [mnist.stat().st_size]
