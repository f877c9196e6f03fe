# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is generated from the table of errors: the modules of lib/ that advise() reads, and the page of the
manual."""

from __future__ import annotations

from collections import Counter

from maixmem_cli.errors.table import Row, rows
from maixmem_cli.errors.words import bare_of

#: module of lib/ -> the boards whose rows it has
MODULES = {
    "maixmem_known_k210": ("k210",),
    "maixmem_known_canmv": ("canmv",),
    "maixmem_known_openmv": ("openmv",),
    "maixmem_known_k230": ("k230",),
    "maixmem_known_mpy": ("micropython", "esp32", "rp2040", "circuitpython"),
    "maixmem_known_linux": ("linux",),
}
_HEAD = '''\
# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors known on {boards}: made of tools/maixmem_cli/errors/rows by `maixmem build`."""

'''
_TAIL = '''

def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
'''
_PAGE = """\
# Errors by their text

`maixmem explain TEXT` knows these and [more](hang.md) on your computer, `maixmem_advice.advise(error)` on the board. Errors of this
library end with `Next:` and the steps, which are data as well: `e.args[-1].steps`; the platform's own number is in `e.code`. This
page is generated from the table in `tools/maixmem_cli/errors/rows` by `maixmem build`.
"""
_SECTIONS = (
    ("This library's", lambda row: row.ours),
    ("MaixPy's on the K210", lambda row: "k210" in row.on),
    ("Other MicroPython boards'", lambda row: "micropython" in row.on or "esp32" in row.on),
    ("Other boards' and compilers'", lambda row: True),
)
_KEYS_SHOWN = 4


def device_module(boards: tuple[str, ...]) -> str:
    """The text of the module of lib/ with the rows of some boards."""
    mine = [row for row in rows() if row.board and not row.on.isdisjoint(boards)]
    count = Counter(step for row in mine for step in _steps(row, boards))
    shared = [step for step, n in count.items() if n > 1]
    text = _HEAD.format(boards=", ".join(boards)) + "ROWS = (\n"
    for row in sorted(mine, key=lambda row: not row.ours):
        steps = [
            str(shared.index(step)) if step in shared else step for step in _steps(row, boards)
        ]
        lines = [("!" if row.ours else "") + row.means, *steps]
        text += f'    """{_keys(row)}\n' + "\n".join(lines) + '""",\n'
    return text + ")\n" + _tuple(shared) + _TAIL


def _tuple(steps: list[str]) -> str:
    """The shared steps as a tuple; one alone stays on its line, as the formatter has it."""
    if len(steps) == 1:
        return f'STEPS = ("{steps[0]}",)\n'
    return "STEPS = (\n" + "".join(f'    "{step}",\n' for step in steps) + ")\n"


def _steps(row: Row, boards: tuple[str, ...]) -> list[str]:
    """The steps that can be done on each of these boards that the row is for."""
    of_each = [row.steps_on(board, "board") for board in boards if board in row.on]
    return [step for step in of_each[0] if all(step in steps for steps in of_each)]


def _keys(row: Row) -> str:
    """What a text is looked for on a board, which asks for no whole word or text ("=TEXT") and
    takes no code of a K230 apart; its texts are ASCII."""
    left_out = ("=", "media:", "ax:", "says:")
    match = [bare_of(key) for key in row.match if not key.startswith(left_out)]
    match = [key for key in match if key.isascii()]
    keys = "|" + "|".join(match)
    return keys if len(keys) <= 80 else "\n".join(f"|{key}" for key in match)


def page() -> str:
    """docs/errors.md."""
    text, left = _PAGE, [row for row in rows() if row.kind == "error"]
    for title, wanted in _SECTIONS:
        here = [row for row in left if wanted(row)]
        left = [row for row in left if row not in here]
        text += f"\n## {title}\n\n| text | what it means | what to do |\n|---|---|---|\n"
        text += "".join(_line(row) for row in here)
    return text


def _line(row: Row) -> str:
    named = [shown(key) for key in row.match]
    keys = ", ".join(f"`{key}`" for key in named[:_KEYS_SHOWN])
    sure = "" if row.sure == "certain" else f" ({row.sure})"
    board = next(b for b in ("k210", "canmv", "esp32", *sorted(row.on)) if b in row.on)
    todo = row.says or " ".join(row.steps_on(board))
    more = f" [More]({row.page})." if row.page else ""
    cells = (keys, row.means + sure, todo + more)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def shown(key: str) -> str:
    """A key as it is in a message."""
    kind, _, number = key.partition(":")
    if kind == "says":
        return f"({number}, in your own words)"
    if kind == "media":  # that of the video buffers stands for all
        return f"0xa0048{number.zfill(3)}"
    if kind == "ax":  # that of its models' engine for all
        return f"0x800601{number.zfill(2)}"
    key = bare_of(key)
    shown = {"error": f"load error:{number}", "errno": f"[Errno {number}]"}
    return shown.get(kind, key) if number.lstrip("-").isdigit() else key.lstrip("=")
