# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board in software behind a pseudo-terminal, for programs that open a serial port by name.

with Cable("emu:maixpy.bin,faces.kmodel@0x600000", folder / "port") as port:
    subprocess.run(["mpremote", "connect", port, "exec", "print(1)"])
"""

from __future__ import annotations

import os
import pty
import select
import threading
import tty
from pathlib import Path

from maixmem_cli.emulator.connect import open_port

_MUCH = 4096


class Cable:
    """Carries bytes between a pseudo-terminal, whose name is the link, and the board at `url`."""

    def __init__(self, url: str, link: Path) -> None:
        self._url, self._link = url, link
        self._plugged = True
        self._thread = threading.Thread(target=self._carry, daemon=True)

    def __enter__(self) -> str:
        self._near, self._far = pty.openpty()
        tty.setraw(self._far)
        os.set_blocking(self._near, False)
        self._link.symlink_to(os.ttyname(self._far))
        self._thread.start()
        return str(self._link)

    def __exit__(self, *error: object) -> None:
        self._plugged = False
        self._thread.join()
        self._link.unlink()
        os.close(self._near)
        os.close(self._far)

    def _carry(self) -> None:
        board = open_port(self._url)
        waiting = b""  # for whoever reads the terminal
        try:
            while self._plugged:
                waiting += board.read(_MUCH)  # the board runs meanwhile, 50 ms at most
                writable = [self._near] if waiting else []
                readable, writable, _ = select.select([self._near], writable, [], 0)
                if readable:
                    board.write(os.read(self._near, _MUCH))
                if writable:
                    waiting = waiting[os.write(self._near, waiting) :]
        finally:
            board.close()
