# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a script may take where its run did not come to."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from maixmem_cli.kmodel import example
from maixmem_cli.plan import judge, unreached
from maixmem_cli.record import record
from maixmem_cli.record.record import GC, HEAP, Board, End, Least, Level, Record, Step

_QVGA, _QUARTER = 320 * 240 * 2, 160 * 120 * 2
_OBJECT = 64  # bytes of an image object


def _record(source: str, *skipped: str, gc: int = 60_000, heap: int = 200_000) -> Record:
    """A run of that script in which the lines with these words did not run."""
    lines = source.splitlines()
    ran = [n for n, line in enumerate(lines, 1) if not any(word in line for word in skipped)]
    assert len(ran) < len(lines) or not skipped
    return Record(
        "main.py",
        Board(record.IMAGE, "maixpy.bin"),
        End(record.LIMIT),
        pictures=50,
        asked=50,
        steps=(Step(record.CAMERA, size=(320, 240), frame="QVGA"),),
        least=(Least(GC, Level(500_000, gc)), Least(HEAP, Level(3_000_000, heap))),
        reached=tuple(ran),
    )


def _want(source: str, *skipped: str, **left: int) -> tuple[int, str, int] | None:
    found = unreached.too_much(_record(source, *skipped, **left), source)
    return (found.line, found.heap, found.nbytes) if found else None


_BRANCH = """while True:
    img = sensor.snapshot()
    if found:
        {}
"""


@pytest.mark.parametrize(
    ("line", "nbytes"),
    [
        ("part = img.cut(d.x(), d.y(), d.w(), d.h())", _QVGA + _OBJECT),
        ("old = img.copy()", _QVGA + _OBJECT),
        ("new = image.Image(size=(320, 240))", _QVGA + _OBJECT),
        ("new = img.to_grayscale(1)", 4 * 320 * 240 + _OBJECT),
        ("small.pix_to_ai()", 320 * 240 * 3),
        ("work = bytearray(320 * 240)", 320 * 240),
        ("table = [0] * 20000", 80_000),
    ],
)
def test_a_branch_that_was_not_taken_wants_more_than_is_left(line: str, nbytes: int) -> None:
    assert _want(_BRANCH.format(line), line) == (4, GC, nbytes)
    assert _want(_BRANCH.format(line)) is None, "it ran"
    assert _want(_BRANCH.format(line), line, gc=nbytes) is None, "there is room for it"


@pytest.mark.parametrize(
    "line",
    [
        "part = img.resize(16, 16)",
        "part = img.copy(roi=(0, 0, 80, 60))",
        "img.to_grayscale()",
        "img.draw_string(0, 0, name)",
        "data = bytearray(100)",
        "lcd.display(img)",
        "img = image.Image('a.bmp', copy_to_fb=True)",
    ],
)
def test_what_has_room_is_no_want(line: str) -> None:
    assert _want(_BRANCH.format(line), line) is None


def test_a_copy_of_a_list_is_no_picture() -> None:
    source = "old = []\n" + _BRANCH.format("new = old.copy()")
    assert _want(source, "new = old") is None


def test_the_size_of_a_picture_is_that_of_its_name() -> None:
    source = _BRANCH.format("small = cut.resize(64, 64)\n        small.pix_to_ai()")
    assert _want(source, "small") is None
    assert _want(source, "small", gc=8192 + 64 + 12288) is None
    assert _want(source, "small", gc=8192 + 64 + 12287) == (5, GC, 8192 + 64 + 12288)


def test_a_branch_keeps_what_it_made_before() -> None:
    line = "= img.resize(160, 120)"
    twice = _BRANCH.format(f"a {line}\n        b {line}")
    assert _want(twice, line) == (5, GC, 2 * (_QUARTER + _OBJECT))
    shown = "lcd.display(img.resize(160, 120))"
    assert _want(_BRANCH.format(f"{shown}\n        {shown}"), shown) is None, "nothing holds them"


_SHOT = "shots.append(img.resize(160, 120))"


def test_a_list_that_only_grows_is_full_one_day() -> None:
    source = f"shots = []\n{_BRANCH.format(_SHOT)}"
    found = unreached.too_much(_record(source, _SHOT, gc=400_000), source)
    assert found == unreached.Want(5, GC, _QUARTER + _OBJECT, more=True)
    told = judge.judge(_record(source, _SHOT, gc=400_000), source)
    assert told.kind == judge.CANNOT_TELL and "37.5 KiB of the GC heap each time" in told.lines[0]


def test_a_list_that_only_grows_is_full_one_day_whatever_it_keeps() -> None:
    """A line that a picture has and the stand-in's has not: 96 bytes each time."""
    added = "log.append(line)"
    source = f"log = []\n{_BRANCH.format(added)}"
    found = unreached.too_much(_record(source, added, gc=400_000), source)
    assert found == unreached.Want(5, GC, 0, more=True)
    told = judge.judge(_record(source, added, gc=400_000), source)
    assert told.kind == judge.CANNOT_TELL
    assert f"{added} did not run, and adds to a list each time" in told.lines[0]
    limited = f"{source}        if len(log) > 50: log.pop(0)\n"
    assert unreached.too_much(_record(limited, added, gc=400_000), limited) is None


@pytest.mark.parametrize(
    "also",
    [
        "        shots.pop(0)",
        "        del shots[0]",
        "        if len(shots) > 5: shots = []",
        "        break",
        "    shots.clear()",
    ],
)
def test_a_list_that_something_limits_may_fit(also: str) -> None:
    source = f"shots = []\n{_BRANCH.format(_SHOT)}{also}\n"
    assert _want(source, _SHOT, also, gc=400_000) is None
    other = f"shots = []\ndef other():\n    return shots.pop()\n{_BRANCH.format(_SHOT)}"
    assert _want(other, _SHOT, gc=400_000) is None


def test_a_list_of_no_endless_loop_grows_once() -> None:
    source = f"shots = []\nfor i in range(9):\n    if found:\n        {_SHOT}\n"
    assert _want(source, _SHOT, gc=400_000) is None


def test_of_two_branches_one_is_taken() -> None:
    source = (
        "if a:\n    x = img.resize(160, 120)\nelif b:\n    y = img.resize(160, 120)\n"
        "else:\n    pass\nz = 1\n"
    )
    assert _want(source, "x =", "elif", "y =", "else", "pass", "z") is None
    more = source + "v = img.resize(160, 120)\n"
    missed = ("x =", "elif", "y =", "else", "pass", "z", "v =")
    assert _want(more, *missed) == (8, GC, 2 * (_QUARTER + _OBJECT))


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    a = work()\nexcept MemoryError:\n    b = img.copy()\n",
        "while True:\n    a = work()\nb = img.copy()\n",
        "def f():\n    b = img.copy()\na = work()\n",
        "def f():\n    g()\ndef g():\n    b = img.copy()\na = work()\n",
        "def f():\n    return 1\n    b = img.copy()\nf()\n",
    ],
)
def test_what_no_run_comes_to_is_left_out(source: str) -> None:
    """A handler of an error that did not come, what is behind an endless loop or a return, a
    function that nobody calls."""
    missed = [line for line in source.splitlines() if "b = " in line or "g()" in line]
    assert _want(source, *missed) is None


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            "try:\n    a = work()\nexcept OSError:\n    c = 1\n    if c:\n        b = img.copy()",
            6,
        ),
        ("while True:\n    if work():\n        break\nb = img.copy()\n", 4),
        ("for k in range(900):\n    a = work()\nb = img.copy()\n", 3),
        ("def f():\n    b = img.copy()\nbutton.irq(f)\n", 2),
        ("class A:\n    def f(self):\n        b = img.copy()\nif A().g():\n    A().f()\n", 3),
    ],
)
def test_what_another_run_may_come_to_counts(source: str, line: int) -> None:
    assert _want(source, "b = ", ".f()") == (line, GC, _QVGA + _OBJECT)


@pytest.fixture
def loads(tmp_path):
    """A script that loads a model in a branch, and its record, with so much of it loaded."""
    (tmp_path / "m.kmodel").write_bytes(example.data(400_000))

    def made(line: str, keeps: int = 0) -> tuple[int, str, int] | None:
        source = _BRANCH.format(line)
        of = _record(source, line)
        model = record.Model("m.kmodel", 400_000, 0x300000, keeps=keeps)
        more = (Step(record.LOAD, model=model),) if keeps else ()
        flash = {"0x500000": str(tmp_path / "m.kmodel")}
        of = replace(of, board=replace(of.board, flash=flash), steps=(*of.steps, *more))
        found = unreached.too_much(of, source)
        return (found.line, found.heap, found.nbytes) if found else None

    return made


def test_a_model_that_was_not_loaded_wants_of_the_system_heap(loads) -> None:
    line, heap, nbytes = loads("net = kpu.load(0x500000)")
    assert (line, heap) == (4, HEAP) and nbytes > 400_000
    assert loads("net = kpu.load(0x600000)") is None, "this board has none there"
    assert loads("kpu.deinit(net); net = kpu.load(0x500000)", 550_000) is None


def test_the_verdict_names_the_line_and_what_it_wants() -> None:
    source = _BRANCH.format("old = img.copy()")
    of = _record(source, "old =")
    found = judge.judge(of, source)
    assert (found.kind, found.status) == (judge.CANNOT_TELL, 4)
    assert found.lines[0] == (
        "CANNOT TELL: main.py:4: old = img.copy() did not run, and may take up to 150.0 KiB of "
        "the GC heap"
    )
    assert "at the least 58.5 KiB were left, before its first line" in found.lines[1]
    assert judge.judge(replace(of, reached=None), source).fits, "it was not seen what ran"
    stand_in = replace(of, board=Board(record.STAND_IN, "full", build="full"))
    near = "part = img.resize(160, 162)"
    source = _BRANCH.format(near)
    of = _record(source, near)
    assert judge.judge(of, source).fits
    of = replace(of, board=stand_in.board)
    assert judge.judge(of, source).kind == judge.CANNOT_TELL, "its figures are not so exact"


def test_every_kind_of_statement_is_walked() -> None:
    """A picture that is made in the head or the body of any of them."""
    for text in (
        "with img.copy() as x:\n    pass\n",
        "for x in img.copy():\n    pass\n",
        "while img.copy():\n    pass\n",
        "try:\n    x = img.copy()\nfinally:\n    pass\n",
        "return_ = [img.copy() for k in range(3)]\n",
        "class A:\n    x = img.copy()\n",
    ):
        ast.parse(text)
        lines = text.splitlines()
        assert _want(text + "y = 1\n", *lines), text
