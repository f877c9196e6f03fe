# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What goes wrong between add() and use() on firmware: each ends in a sentence that names what it
is about, or works; nothing hangs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import emulated
import pytest
from emulated import each_image, needs_cc
from maixmem_cli.emulator import sd_image
from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import RawRepl

pytestmark = needs_cc

_ON_BOARD = Path(emulated.__file__).with_name("mishaps_on_board.py")
PLACES = {0x300000: "v3_face_ld5.kmodel", 0x500000: "v3_mnist_maixpy.kmodel"}
ON_CARD = {
    "small": "v3_face_ld5.kmodel",
    "large": "v3_trash.kmodel",
    "gone": "v3_mnist_maixpy.kmodel",
}


@pytest.fixture
def board(image: Path) -> Iterator[Board]:
    """With two models in flash, and three on a card where the firmware has one."""
    models = [(address, emulated.model(name)) for address, name in PLACES.items()]
    with tempfile.TemporaryDirectory() as temp:
        for name, path in files_of_library().items():
            Path(temp, name).write_bytes(path.read_bytes())
        for name, model in ON_CARD.items():
            Path(temp, f"{name}.kmodel").write_bytes(emulated.model(model).read_bytes())
        sd = sd_image.build(Path(temp))
    with booted(image, models, files_of_library(), sd=sd) as board:
        RawRepl(image.name, SerialPort(board)).check(_ON_BOARD.read_text(), timeout=60)
        yield board


def ended(board: Board, *calls: str) -> tuple[str, str]:
    """How the last of the calls ended; those before come through."""
    repl = RawRepl("board", SerialPort(board))
    for call in calls[:-1]:
        repl.check(call, timeout=100)
    kind, text = emulated.answer(repl, f"ended({calls[-1]})")
    return kind, text


@each_image
def test_each_ends_in_a_sentence_or_works(image: Path, board: Board) -> None:
    start = board.snapshot()
    sizes = {a: emulated.model(n).stat().st_size for a, n in PLACES.items()}
    told = image not in emulated.modern()
    adds = [f"add({a}, {a}, {n if told else None})" for a, n in sizes.items()]
    # plain models, freed without init_yolo2
    assert ended(board, *adds, "take_turns, 12") == ("ok", "")
    kind, text = ended(board, "wrong_picture")
    assert kind == "TypeError" and "Next:" in text, text
    if emulated.answer(RawRepl("board", SerialPort(board)), "print(bare_deinit)"):
        board.restore(start)
        kind, text = ended(board, adds[0][:-1] + ", setup=deinits)", f"m.use, {0x300000}")
        assert kind in ("ok", "RuntimeError", "ModelReleasedError"), (kind, text)
    for piece in (7000, 1500):
        board.restore(start)
        assert ended(board, f"in_pieces, {piece}") == ("ok", "")
    board.restore(start)
    if "'sd'" not in RawRepl("board", SerialPort(board)).check("print(os.listdir('/'))"):
        pytest.skip(f"{image.name} has no card")
    added = [f"add({n!r}, '/sd/{n}.kmodel')" for n in ON_CARD]
    kind, text = ended(board, *added, "os.remove('/sd/gone.kmodel')", "m.use, 'gone'")
    assert (kind, "/sd/gone.kmodel" in text, "Next:" in text) == ("OSError", True, True), text
    # a file that took the place of a small one is looked at again: it comes through or is refused
    kind, text = ended(board, "swap('/sd/small.kmodel', '/sd/large.kmodel')", "m.use, 'small'")
    assert kind == "ok" or (kind == "NoRoom" and "1882" in text.replace(" ", "")), (kind, text)
