# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A pytest fixture: a simulated K210 board for the tests of your own scripts, on CPython.

One line in your conftest.py:

    pytest_plugins = ["maixmem_shims.pytest_k210"]

and then

    def test_my_script(k210):
        k210.power_on("full", models={0x300000: "a.kmodel"})
        names = k210.run("main.py", frames=3)
        assert names["count"] == 3
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_SHIMS = Path(__file__).resolve().parent
for _folder in (*(_SHIMS / "k210" / part for part in ("api", "chip", "sim")), _SHIMS):
    if str(_folder) not in sys.path:  # behind everything else: with modules named as the board's
        sys.path.append(str(_folder))

import k210_board  # noqa: E402
import k210_start  # noqa: E402
import k210_time  # noqa: E402

DeviceCrash = k210_board.DeviceCrash
HardReset = k210_board.HardReset


class K210:
    """A board that is on. Scripts run in this process, see the board's modules and files, and
    nothing of the host's."""

    DeviceCrash = DeviceCrash  #: what a script raises where the board would hang: .cause, .cure
    HardReset = HardReset  #: machine.reset()

    def __init__(self) -> None:
        self.faults = k210_board.faults
        self.power_on()

    def power_on(
        self,
        firmware: str = "full",
        *,
        models: dict[int, Any] | None = None,
        files: dict[str, Any] | None = None,
        gc_heap: int | None = None,
        card: bool = False,
        camera: bool = True,
        serial: dict[int, bytes] | None = None,
        folder: str | Path | None = None,
    ) -> None:
        """A fresh board.

        `models` {flash address: path or bytes}; `files` {"/flash/x" or "/sd/x": path or bytes};
        `serial` {UART: bytes that wait}; `folder` has the modules that your scripts import.
        DeviceCrash where the board does not start.
        """
        k210_time.passed.restart()
        k210_board.state.frames_end = None
        k210_board.reset(
            firmware,
            gc_heap=gc_heap,
            flash={a: _source(m) for a, m in (models or {}).items()},
            files={n: _source(f) for n, f in (files or {}).items()},
            camera=camera,
            card=card,
        )
        k210_board.state.serial.update(serial or {})
        self._folder = folder
        self._card = card
        k210_board.faults.clear()

    def run(self, script: str | Path, frames: int | None = None) -> dict[str, Any]:
        """Runs a script as the board's prompt does; returns its global names.

        With `frames` the run ends, without an error, when the script asks for one picture more.
        What the script raises comes out of here.
        """
        path = Path(script)
        session = k210_start.Session(self._card, [str(self._folder or path.resolve().parent)])
        session.enclose(__import__)
        k210_board.state.frames_end = None if frames is None else self.frames + frames
        try:
            session.run(path.read_text(encoding="utf-8"), str(path))
        except k210_board.RunEnded:
            k210_board.state.dead = None
        return session.names

    @property
    def frames(self) -> int:
        """Pictures that were taken since power-on."""
        return k210_board.state.frames

    def heap_free(self) -> int:
        """Maix.utils.heap_free(), in bytes."""
        return k210_board.heap.heap_free()

    def lowest(self) -> int:
        """The least that heap_free() was since power-on, in bytes."""
        return k210_board.heap.lowest()

    def models(self) -> dict[str, int]:
        """{address or path: bytes of the system heap} of the models that are loaded."""
        return {
            net.path or f"{net.address:#x}": net.live() for net in k210_board.nets() if net.loaded
        }


def _source(given: Any) -> Any:
    return str(given) if isinstance(given, Path) else given


@pytest.fixture
def k210() -> Iterator[K210]:
    """A fresh board; afterwards the stand-in is fresh again."""
    yield K210()
    k210_board.state.frames_end = None
    k210_board.faults.clear()
    k210_board.reset()
