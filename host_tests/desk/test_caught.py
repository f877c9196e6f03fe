# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors that a program caught itself: which of them say that the run lacked something."""

from __future__ import annotations

import pytest
from maixmem_cli.record.record import CARD, DEVICE, MODEL, PLACE, SENSOR, Place
from maixmem_cli.runs import caught, tracing

_SOURCE = "MODEL = 0x300000\nLOG = '/sd/log.txt'\n"
_BLANK = "KModelError: offset 0x0: the identifier is 0xffffffff, blank flash: burn a model"
_NO_FILE, _NO_CARD = caught.error("OSError", 2), caught.error("OSError", 19)


def _found(error: str, *lines: str, blank: int | None = None):
    at = [Place("main.py", n, "", text) for n, text in enumerate(lines, 7)]
    return caught.caught([(error, at, blank)], _SOURCE)


@pytest.mark.parametrize(
    ("error", "lines", "kind", "name"),
    [
        (_BLANK, ("read_info(address)", "if not add(MODEL):"), MODEL, "0x300000"),
        ("ValueError: [MAIXPY]kpu: load error:2002", ("kpu.load(0x600000)",), MODEL, "0x600000"),
        (_NO_FILE, ("with open(LOG) as f:",), CARD, "/sd/log.txt"),
        (_NO_CARD, ("f = open('/sd/a.txt')",), CARD, "/sd/a.txt"),
        (_NO_CARD, ("i2c.writeto(52, b'x')",), DEVICE, ""),
        ("OSError: Reset Failed", ("sensor.reset()",), SENSOR, ""),
    ],
)
def test_what_was_lacking_is_named(error, lines, kind, name) -> None:
    (found,) = _found(error, *lines)
    assert found.missing and (found.missing.kind, found.missing.name) == (kind, name)
    assert found.at[0].line == 7 and found.error == error


@pytest.mark.parametrize(
    ("source", "line", "kind"),
    [
        ("a = open('/flash/a', 'w')\nb = open('/flash/b', 'w')\nc = open('/flash/a')", 3, PLACE),
        (
            "try:\n    c = open(LOG, mode='a')\nexcept OSError:\n    pass\nLOG = '/flash/l.txt'",
            2,
            PLACE,
        ),
        ("open('/flash/%d.txt' % n, 'w')", 1, PLACE),
        ("a = open('/flash/a')", 1, CARD),
        ("def f():\n    open('/flash/a', 'w')\na = open('/flash/a')", 3, CARD),
    ],
)
def test_a_third_open_file_of_the_flash_is_no_missing_one(source: str, line: int, kind) -> None:
    at = [Place("main.py", line, "", source.splitlines()[line - 1].strip())]
    (found,) = caught.caught([(_NO_FILE, at, None)], source)
    assert found.missing and found.missing.kind == kind


def test_where_flash_was_blank_counts_more_than_a_name() -> None:
    (found,) = _found(_BLANK, "add(MODEL)", blank=0x500000)
    assert found.missing and found.missing.name == "0x500000"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ("ImportError: no module named 'uasyncio'", "import uasyncio"),
        (_NO_FILE, "os.remove('/sd/old.txt')"),
        ("KeyError: a", "d['a']"),
        ("ValueError: invalid syntax for integer with base 10", "int(text)"),
        ("OSError: [Errno 5] EIO", "raise OSError(5)"),
        (_NO_CARD, "if n % 3 == 0: raise OSError(19)"),
        ("MemoryError: no place", "raise MemoryError('no place')"),
    ],
)
def test_what_a_program_may_well_catch(error: str, line: str) -> None:
    assert not _found(error, line)


def test_a_ctrl_c_at_the_limit_is_not_sought_in_the_table_of_errors(monkeypatch) -> None:
    """To read the table takes as long as some hundred pictures."""
    monkeypatch.setattr(caught.ending, "missing", lambda *_: pytest.fail("sought"))
    assert not _found(caught.error("KeyboardInterrupt", None), "work(n)")


def test_want_of_memory_is_kept_without_anything_missing() -> None:
    (found,) = _found("MemoryError: memory allocation failed, allocating 9000 bytes", "x = y()")
    assert found.missing is None


def test_each_error_once() -> None:
    at = [Place("main.py", 7, "", "open(LOG)")]
    assert len(caught.caught([(_NO_FILE, at, None)] * 3, _SOURCE)) == 1


def test_handlers_say_that_they_run() -> None:
    source = "try:\n    f()\nexcept OSError: pass\nexcept Exception:\n    if g():\n        h()\n"
    lines = tracing.marked(source).splitlines()
    assert [tracing.CAUGHT in x for x in lines] == [False, False, True, False, True, False]
    compile(tracing.marked(source), "main.py", "exec")
