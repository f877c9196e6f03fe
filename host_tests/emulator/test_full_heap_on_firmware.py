# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The library on firmware with next to nothing left of the system heap: its parts lie in flash,
and to read one there takes malloc, unchecked. Nothing hangs."""

from __future__ import annotations

from pathlib import Path

import emulated
import pytest
from emulated import each_image, needs_cc
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.identity import identity
from maixmem_cli.serial.repl import BoardError, PortError, RawRepl

pytestmark = needs_cc

_ON_BOARD = Path(emulated.__file__).with_name("full_heap_on_board.py")
PLACES = {0x300000: "v3_face_ld5.kmodel", 0x500000: "v3_mnist_maixpy.kmodel"}
READ = 16514  # bytes of one block, for a look into /flash
# what a program calls, and whether it has to say that there is no room to read a part
CALLS = {
    "maixmem.report()": True,
    "print(maixmem.message('keep', 0))": True,
    "Watch()": True,
    "m.use('nonsense')": True,
    "m.status()": True,
    "m.using('a').__enter__()": True,
    "FlashMap().scan()": True,
    "ImagePool(3200, 2400, 'rgb565', 1)": True,
    "m.add('c', 0x300000)": False,
    "m.use('a')": False,
    "m.use('b')": False,
    "check_camera(640, 480)": False,
    "p.reads and p.read_flash(0, 16)": False,
    "m.release_all()": False,
}


@each_image
def test_nothing_hangs_where_no_part_can_be_read(image: Path) -> None:
    models = [(address, emulated.model(name)) for address, name in PLACES.items()]
    with booted(image, models, files_of_library()) as board:
        repl = RawRepl(image.name, SerialPort(board))
        repl.check(_ON_BOARD.read_text(), timeout=60)
        start = board.snapshot()
        for left in (READ + 32, READ - 32, 6000):
            board.restore(start)
            repl = RawRepl(image.name, SerialPort(board))
            largest = int(repl.check(f"leave({left})", timeout=60).split()[-1])
            short = largest < READ
            exact = left < READ or image in emulated.modern()  # by flash_read()
            assert short == (left < READ) or not exact, f"{largest} bytes are left, not {left}"
            before = board.snapshot()
            if image in emulated.modern():  # there is a heap_free() to ask
                with pytest.raises(BoardError, match=f"{READ} and hangs the board"):
                    identity(RawRepl(image.name, SerialPort(board)))
            for call, tells in CALLS.items():
                board.restore(before)
                out, error = RawRepl(image.name, SerialPort(board)).run(call, timeout=60)
                said = f"/flash takes {READ} bytes of system heap, {largest} free: "
                assert (said + "release()" in out + error) == (tells and short), (call, error)
                assert "b" not in call or not error or "NoRoom" in error or tells, (call, error)
        board.restore(before)
        with pytest.raises(PortError, match="hang"):
            RawRepl(image.name, SerialPort(board)).run("import maixmem_text", timeout=60)
