# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem auto on boards in software: the program that runs after a start has the line before
it."""

from __future__ import annotations

import json
from pathlib import Path

from commands import invoke
from emulated import answer, each_image, needs_cc, only_thorough
from maixmem_cli.emulator.connect import connect
from maixmem_cli.serial.repl import RawRepl

pytestmark = [needs_cc, only_thorough]
_WHOSE = "\nimport KPU\nwhose = KPU.__name__\n"
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
def test_install_and_remove(image: Path, tmp_path: Path) -> None:
    port = f"emu:{image}"
    with connect(port + ",new") as board:
        name = _program(board)
        before = answer(board, _FILES % name)
        firmware = answer(board, "import KPU\nprint(repr(KPU.__name__))")
    done = invoke("auto", "--install", "--port", port, "--json")
    told = json.loads(done.stdout)
    assert told["changed"] and told["boot"] == "/flash/boot.py", told
    assert not [f for f in told["findings"] if "maixmem" in f["what"]], told["findings"]
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
