# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""DTR and RTS: what a port sees of us is what it sees of mpremote, on each system and USB chip."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest
import serial
import serial.tools.list_ports
from maixmem_cli.serial import port as ports
from maixmem_cli.serial.repl import RawRepl
from mpremote import transport_serial

CHIPS = {"CP210x": 0x10C4, "CH340": 0x1A86, "FTDI": 0x0403}


class Port:
    """pyserial's, as far as its lines go: both are set by opening, unless they were set before."""

    def __init__(self, seen: list[str]) -> None:
        self.__dict__.update(seen=seen, is_open=False, dtr=True, rts=True)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("dtr", "rts"):
            self.seen.append(f"{name}={value}{'' if self.is_open else ' before'}")
        self.__dict__[name] = value

    def open(self) -> None:
        self.is_open = True
        self.seen.append(f"open dtr={self.dtr} rts={self.rts}")

    def isOpen(self) -> bool:
        return self.is_open

    def close(self) -> None:
        self.seen.append("close")


def ours() -> None:
    ports.close_serial(ports.open_serial("COM3"))


def theirs() -> None:
    transport_serial.SerialTransport("COM3").close()


@pytest.mark.parametrize("system", ["win32", "linux", "darwin"])
@pytest.mark.parametrize("chip", CHIPS)
def test_the_lines_move_as_mpremote_moves_them(
    monkeypatch: pytest.MonkeyPatch, chip: str, system: str
) -> None:
    found = [SimpleNamespace(device="COM3", vid=CHIPS[chip])]
    monkeypatch.setattr(serial.tools.list_ports, "comports", lambda: found)
    monkeypatch.setattr(serial.tools.list_ports, "grep", lambda name: found)
    name = "nt" if system == "win32" else "posix"
    monkeypatch.setattr(transport_serial, "os", SimpleNamespace(name=name, stat=os.stat))
    monkeypatch.setattr(ports, "sys", SimpleNamespace(platform=system))
    seen = {}
    for use in (ours, theirs):
        events: list[str] = []
        monkeypatch.setattr(serial, "serial_for_url", lambda url, to=events, **more: Port(to))
        use()
        seen[use] = [e for e in events if "before" not in e]  # the port is closed: no line moves
    assert seen[ours] == seen[theirs]
    apart = system == "win32" and chip == "CP210x"
    begins = "open dtr=False rts=False" if apart else "open dtr=True rts=True"
    assert seen[ours][0] == begins
    assert seen[ours][-3:] == ["rts=False", "dtr=False", "close"]


def test_a_port_without_lines_closes() -> None:
    """A pty refuses both; a board in software has none."""
    seen: list[str] = []

    class Pty(Port):
        def __setattr__(self, name: str, value: Any) -> None:
            raise OSError(25, "Inappropriate ioctl for device")

    for port in (Pty(seen), SimpleNamespace(close=lambda: seen.append("close"))):
        ports.close_serial(port)
    assert seen == ["close", "close"]


def test_a_board_that_goes_on_is_left_with_its_lines_in_the_same_order() -> None:
    seen: list[str] = []
    port = Port(seen)
    port.open()
    RawRepl("COM3", port).leave()
    assert seen[1:] == ["rts=False", "dtr=False", "close"]
