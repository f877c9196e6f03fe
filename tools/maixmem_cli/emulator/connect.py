# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Opens what a user calls a port: that of a real board, or emu:IMAGE, a board in software."""

from __future__ import annotations

from typing import Any, Callable

from maixmem_cli.serial.port import next_step, open_serial
from maixmem_cli.serial.repl import PORT_ERRORS, PortError, RawRepl

#: ports that who runs the command has himself: name -> what opens it
given: dict[str, Callable[[], Any]] = {}


def connect(url: str) -> RawRepl:
    """An open connection in the raw REPL; PortError or ConnectionLost when there is none."""
    board = open_board(url)
    try:
        board.enter()
    except BaseException:
        board.close()
        raise
    return board


def open_board(url: str) -> RawRepl:
    """The board at a port; nothing was sent to it yet. PortError when it cannot be opened."""
    try:
        return RawRepl(url, open_port(url))
    except PORT_ERRORS + (ValueError,) as e:
        raise PortError(f"{url}: cannot be opened: {e}. Next: {next_step(url, e)}") from e


def open_port(url: str) -> Any:
    """What reads and writes the bytes of a port; raises what pyserial raises."""
    if url in given:
        return given[url]()
    if url.startswith("emu:"):
        from maixmem_cli.emulator import ports

        return ports.open_port(url)
    return open_serial(url)
