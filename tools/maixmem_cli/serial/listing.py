# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The serial ports of this machine, and whose chip is behind each."""

from __future__ import annotations

from typing import Any

from maixmem_cli.text.needs import require

#: USB vendor -> the maker of the chip
_CHIPS = {
    0x1A86: "CH340, CH55x",
    0x0403: "FTDI",
    0x10C4: "CP210x",
    0x303A: "Espressif",
    0x2E8A: "Raspberry Pi",
    0x239A: "Adafruit",
    0x0525: "USB gadget",
}


def listed() -> list[dict[str, Any]]:
    """The ports, USB ones first."""
    found = [
        {
            "port": p.device,
            "usb": f"{p.vid:04x}:{p.pid:04x}" if p.vid is not None else None,
            "chip": _CHIPS.get(p.vid),
            "description": p.description,
        }
        for p in require("serial.tools.list_ports").comports()
    ]
    return sorted(found, key=lambda p: (p["usb"] is None, p["port"]))
