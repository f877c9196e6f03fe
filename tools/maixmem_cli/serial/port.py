# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Opens the port of a real board, by pyserial: a serial port, a pty, socket://HOST:PORT."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import Any

from maixmem_cli.text.needs import require

_BAUD = 115200
_SILICON_LABS = 0x10C4  # CP210x


#: where a plugged board shows no port, by sys.platform; from documentation, untested but on Linux
_DRIVERS = {
    "win32": "then still none: the Device Manager shows a warning sign until the driver of its "
    "USB chip (CH340, CP210x, FTDI) is installed, from the maker of the chip",
    "darwin": "then still none: `ls /dev/tty.*`; the driver of its USB chip (CH340, CP210x, "
    "FTDI) comes from the maker of the chip",
    "linux": "then still none: `lsusb` says whether the cable works, `sudo dmesg` which driver "
    "took it; CH340 on Ubuntu: sudo apt remove brltty",
}


def driver() -> str:
    """What to do on this machine about a board that is plugged in and has no port."""
    return _DRIVERS.get(sys.platform, "then still none: another cable, another USB socket")


def why_closed(path: str) -> str:
    """Why this user may not open a port, with the next step; empty where he may."""
    if os.name != "posix" or os.access(path, os.R_OK | os.W_OK):
        return ""
    error = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return f"may not be opened by you. Next: {next_step(path, error)}"


def open_serial(url: str) -> Any:
    """What reads and writes the bytes of a port; raises what pyserial raises.

    DTR and RTS are set as mpremote sets them: by pyserial, both. The driver of a CP210x on Windows
    would set one after the other at its first opening, which resets a board whose reset hangs on
    them: there it opens with both clear. From mpremote's source (1.29); untested on Windows.
    """
    options = {"baudrate": _BAUD, "timeout": 0.05, "write_timeout": 5, "exclusive": True}
    port = require("serial").serial_for_url(url, do_not_open=True, **options)
    one_by_one = sys.platform == "win32" and _vendor(url) == _SILICON_LABS
    if one_by_one:
        port.dtr = port.rts = False
    port.open()
    if one_by_one:
        port.dtr = True
        port.rts = True
    return port


def close_serial(port: Any) -> None:
    """Closes a port so that no board is reset: RTS first, as mpremote does; Windows clears DTR
    first. Raises what pyserial raises."""
    for line in ("rts", "dtr"):
        if hasattr(port, line):
            with contextlib.suppress(OSError):  # a pty has none
                setattr(port, line, False)
    port.close()


def _vendor(url: str) -> int | None:
    found = require("serial.tools.list_ports").comports()
    return next((p.vid for p in found if p.device == url), None)


def next_step(url: str, error: Exception) -> str:
    """What to do about a port that cannot be opened."""
    code = getattr(error, "errno", None)
    text = str(error).lower()
    if code in (errno.EACCES, errno.EPERM) or "denied" in text:
        if sys.platform.startswith("linux"):
            return f"sudo usermod -a -G {_group_of(url)} $USER, then log in again"
        return "close what else uses the port (an IDE, another terminal)"
    if code == errno.EBUSY or "busy" in text or "lock" in text:
        return "close what else uses the port (an IDE, another terminal)"
    if code == errno.ENOENT or "no such file" in text or "could not open port" in text:
        return (
            "maixmem ports lists what is there; none: cable, and the driver of its USB chip "
            "(CH340, CP210x, FTDI)"
        )
    return "check the port's name and that nothing else uses it"


def _group_of(path: str) -> str:
    """The group that may open a device: dialout on Debian, uucp on Arch."""
    try:
        import grp

        return grp.getgrgid(os.stat(path).st_gid).gr_name
    except (ImportError, OSError, KeyError):
        return "dialout"
