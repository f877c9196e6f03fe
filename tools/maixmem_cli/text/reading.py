# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Texts as editors and shells write them: UTF-8 with a byte order mark or without, UTF-16 (what
PowerShell's > makes), the code page of a Windows console."""

from __future__ import annotations

import codecs
import ctypes
import locale
import sys
from pathlib import Path

import click

from maixmem_cli.text.output import printable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOK = 4096  # bytes in which zeros tell UTF-16
_NOTE = (
    "maixmem: {} is not plain UTF-8 but {}, which MaixPy does not read from a file. Next: save "
    "it as UTF-8 before you copy it to a board"
)
_said: set[Path] = set()


def code_pages() -> list[str]:
    """What text of a console may be in here, when it is no UTF-8."""
    if sys.platform != "win32":
        return [locale.getpreferredencoding(False)]
    kernel = ctypes.windll.kernel32
    return [f"cp{n}" for n in (kernel.GetConsoleOutputCP(), kernel.GetOEMCP(), kernel.GetACP())]


def encoding_of(data: bytes) -> tuple[str, int]:
    """(its encoding, the bytes of the mark before it), by what it begins with."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    head = data[:_LOOK]
    half = len(head) // 2
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if half and head[first::2].count(0) > half // 2 and not head[1 - first :: 2].count(0):
            return encoding, 0
    return "utf-8", 0


def decoded(data: bytes) -> tuple[str, str]:
    """(the text, its encoding). UnicodeDecodeError where it is in none that is known."""
    encoding, mark = encoding_of(data)
    try:
        return data[mark:].decode(encoding), encoding + (" with a mark" if mark else "")
    except UnicodeDecodeError:
        for page in code_pages():
            try:
                return data[mark:].decode(page), page
            except (UnicodeDecodeError, LookupError):
                continue
        raise


def plain(data: bytes) -> bytes:
    """The same in UTF-8, without a mark; what is in no encoding that is known stays as it is."""
    try:
        return decoded(data)[0].encode()
    except UnicodeDecodeError:
        return data


def text(path: Path) -> str:
    """The text of a file, with \\n for line ends. OSError, UnicodeDecodeError."""
    return _lines(decoded(path.read_bytes())[0])


def script(path: Path) -> str:
    """The text of a script. What a board would not read from this file is reported on stderr,
    once."""
    found, encoding = decoded(path.read_bytes())
    if encoding != "utf-8" and path not in _said:
        _said.add(path)
        click.echo(_NOTE.format(printable(str(path)), encoding), err=True)
    return _lines(found)


def _lines(found: str) -> str:
    return found.replace("\r\n", "\n").replace("\r", "\n")
