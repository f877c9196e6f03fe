# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a board says about itself: asked once, by one script, for every command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maixmem_cli.serial.repl import RawRepl
from maixmem_cli.serial.visit import ask


@dataclass(frozen=True)
class Identity:
    """`bytecode` is the .mpy version that the interpreter names, None when it names none; `folder`
    where it works."""

    implementation: str
    version: tuple[Any, ...]
    platform: str
    machine: str
    build: str
    bytecode: int | None
    path: tuple[str, ...]
    folder: str
    free: int

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
        (measured on the firmware v0.6.2_84). Others: the first folder called lib.
        """
        if self.kind == "maixpy":
            return self.folder if self.folder in ("/sd", "/flash") else "/flash"
        return next((p for p in self.path if p.startswith("/") and p.endswith("/lib")), "/")

    def __str__(self) -> str:
        name = {"maixpy": self.platform, "circuitpython": "CircuitPython"}.get(
            self.kind, "MicroPython"
        )
        return f"{name} {'.'.join(str(n) for n in self.version)}, {self.machine}"


def identity(board: RawRepl) -> Identity:
    """Asks who it is. Collects the board's garbage."""
    name, version, platform, machine, build, mpy, path, folder, free = ask(
        board, "who", "who", doing="asking the board who it is"
    )
    code = mpy & 0xFF if mpy > 0 else None
    return Identity(
        name, version, platform, machine, build, code, tuple(path), folder or "/", free
    )
