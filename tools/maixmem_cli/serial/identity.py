# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a board says about itself: one script, run once for every command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maixmem_k210_chip import PAGE, SPI_EXTRA
from maixmem_text import Text, fill

from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.serial.visit import ask

_READ = 4 * PAGE + SPI_EXTRA  # what a look into a K210's /flash takes of malloc, unchecked
_DOING = "asking the board for its system heap"


@dataclass(frozen=True)
class Identity:
    """`bytecode` is the .mpy version that the interpreter names, None when it names none; `folder`
    where it works; `port` the NAME of maixmem_NAME that the library finds there."""

    implementation: str
    version: tuple[Any, ...]
    platform: str
    machine: str
    build: str
    bytecode: int | None
    path: tuple[str, ...]
    folder: str
    free: int
    port: str

    @property
    def kind(self) -> str:
        """ "maixpy", "circuitpython" or "micropython"."""
        if self.implementation == "circuitpython":
            return "circuitpython"
        return "maixpy" if self.platform in ("MaixPy", "CanMV") else "micropython"

    @property
    def target(self) -> str:
        """Where modules are found at the prompt.

        MaixPy finds them in its working folder only: /sd when it booted with a card, else /flash
        (measured on the firmware v0.6.2_84). Others: the first folder called lib, else the first
        (/sdcard on the K230).
        """
        if self.kind == "maixpy":
            return self.folder if self.folder in ("/sd", "/flash") else "/flash"
        searched = [p for p in self.path if p.startswith("/")]
        return next((p for p in searched if p.endswith("/lib")), (*searched, "/")[0])

    def __str__(self) -> str:
        name = {"maixpy": self.platform, "circuitpython": "CircuitPython"}.get(
            self.kind, "MicroPython"
        )
        return f"{name} {'.'.join(str(n) for n in self.version)}, {self.machine}"


class DamagedHeap(BoardError):
    """malloc's lists on a K210 are not whole: any call of the firmware that allocates from the
    system heap may hang, an access to /flash first. `said` has the steps."""

    def __init__(self, url: str, said: Text) -> None:
        super().__init__(f"{url}: {said}")
        self.said = said


def check_heap(board: RawRepl) -> None:
    """BoardError where any question about files would hang a K210: DamagedHeap, or too little of
    its system heap is left to look into /flash. Holes that might do are not known; the break grows
    by pages."""
    if ask(board, "room", "platform", doing=_DOING) == "MaixPy":
        found = ask(board, "damage", "damaged", doing=_DOING)
        if found:
            raise DamagedHeap(board.url, fill(*found[0]))  # type: ignore[arg-type]
    free = ask(board, "room", "room", doing=_DOING)
    if 0 <= free < _READ + PAGE:
        raise BoardError(
            f"{board.url}: {free} bytes of the system heap are left. A look into /flash takes "
            f"{_READ} and hangs the board where they are missing. Next: reset the board, then "
            "ask again before it loads its models"
        )


def identity(board: RawRepl) -> Identity:
    """Asks who it is. Collects the board's garbage. BoardError: see check_heap()."""
    check_heap(board)
    name, version, platform, machine, build, mpy, path, folder, free, port = ask(
        board, "who", "who", doing="asking the board who it is"
    )
    code = mpy & 0xFF if mpy > 0 else None
    return Identity(
        name, version, platform, machine, build, code, tuple(path), folder or "/", free, port
    )
