# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board in C stays small enough to be read: its lines, their width, and that no file is
long."""

from __future__ import annotations

import paths

_LINES, _COLUMNS, _A_FILE = 3000, 100, 400


def _files() -> dict[str, list[str]]:
    folder = paths.ROOT / "tools" / "k210board"
    return {f.name: f.read_text().splitlines() for f in sorted(folder.glob("*.[ch]"))}


def test_no_line_is_wider_and_no_file_longer() -> None:
    files = _files()
    assert len(files) > 15
    wide = [
        (n, i) for n, ls in files.items() for i, line in enumerate(ls, 1) if len(line) > _COLUMNS
    ]
    assert wide == []
    assert {n: len(ls) for n, ls in files.items() if len(ls) > _A_FILE} == {}


def test_lines_in_all() -> None:
    assert sum(map(len, _files().values())) <= _LINES
