# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Tables that lose nothing on a narrow terminal: columns while they fit, else one value a line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Tuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_GAP = 2

Row = Tuple[Sequence[str], str]  # the cells, and the style of the row


@dataclass(frozen=True)
class Column:
    """A column: `extra` ones are left out where there is no room for all; `name` heads a row that
    is folded."""

    head: str
    right: bool = False
    extra: bool = False
    name: bool = False


def show_table(
    out: Console, columns: Sequence[Column], rows: Iterable[Row], legend: str = ""
) -> None:
    """Prints rows under their heads; a legend below names the marks of an extra column."""
    for text in lines(out.width, columns, rows, legend):
        out.print(text, soft_wrap=True)


def lines(
    width: int, columns: Sequence[Column], rows: Iterable[Row], legend: str = ""
) -> list[Text]:
    """The table as lines that are no wider than `width`, as far as its words are not."""
    rows = list(rows)
    for shown in (list(columns), [c for c in columns if not c.extra]):
        places = [columns.index(c) for c in shown]
        widths = [_width(c.head, [cells[i] for cells, _ in rows]) for c, i in zip(shown, places)]
        if sum(widths) + _GAP * (len(widths) - 1) <= width:
            found = _in_columns(shown, [([r[i] for i in places], s) for r, s in rows], widths)
            whole = legend and len(shown) == len(columns)
            return found + (_folded_text(legend, width) if whole else [])
    return _one_a_line(width, columns, rows)


def _width(head: str, cells: list[str]) -> int:
    return max([cell_len(head), *map(cell_len, cells)])


def _folded_text(text: str, width: int) -> list[Text]:
    return [Text(line, style="dim") for line in textwrap.wrap(text, max(20, width))]


def _in_columns(columns: list[Column], rows: list[Row], widths: list[int]) -> list[Text]:
    found = []
    heads: Row = ([c.head for c in columns], "bold")
    for cells, style in [heads, *rows]:
        parts = []
        for cell, column, width in zip(cells, columns, widths):
            space = " " * (width - cell_len(cell))
            parts.append(space + cell if column.right else cell + space)
        found.append(Text((" " * _GAP).join(parts).rstrip(), style=style))
    return found


def _one_a_line(width: int, columns: Sequence[Column], rows: list[Row]) -> list[Text]:
    """A line with the name of each row, then its values, as many a line as fit; long ones are
    wrapped."""
    found = []
    shown = [c for c in columns if not c.extra]
    head = next((c for c in shown if c.name), shown[0])
    for cells, style in rows:
        found.append(Text(cells[columns.index(head)], style=style or "bold"))
        line = ""
        for column in shown:
            cell = cells[columns.index(column)]
            if column is head or not cell:
                continue
            part = f"{column.head} {cell}".strip()
            if line and 2 + cell_len(line) + _GAP + cell_len(part) > width:
                found += _indented(line, width)
                line = ""
            line += (", " if line else "") + part
        found += _indented(line, width)
    return found


def _indented(line: str, width: int) -> list[Text]:
    return [Text("  " + part) for part in textwrap.wrap(line, max(20, width - 2))]
