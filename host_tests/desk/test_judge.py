# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The verdict on a record: it fits, it does not, or the run cannot tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from maixmem_cli.plan import advice, judge
from maixmem_cli.plan.endless import is_endless
from maixmem_cli.record import record
from maixmem_cli.record.record import (
    GC,
    HEAP,
    Board,
    Caught,
    End,
    Growth,
    Least,
    Level,
    Line,
    Missing,
    Place,
    Record,
    Refused,
    Step,
)

_AT = (Place("main.py", 3, "<module>", "net = kpu.load(0x300000)"),)
_SOURCE = "import sensor\nimport KPU as kpu\nnet = kpu.load(0x300000)\nimg = sensor.snapshot()\n"
_RAN = Record(
    "main.py",
    Board(record.IMAGE, "maixpy.bin"),
    End(record.LIMIT),
    pictures=50,
    rounds=25,
    asked=50,
    steps=(Step(record.LOAD, _AT),),
    lines=(Line(HEAP, _AT[0], 400000, 400000, 400000, 4),),
    least=(
        Least(GC, Level(500000, 100000, collected=True), _AT),
        Least(HEAP, Level(3000000, 200000, 150000), _AT),
    ),
)
_ENDLESS = "import sensor\nwhile True:\n    net.append(sensor.snapshot())\n"
_GREW = (Growth(GC, _AT[0], 1000, 400),)


def _ended(kind: str, **more: object) -> Record:
    return replace(_RAN, end=End(kind, _AT, **more))  # type: ignore[arg-type]


def test_what_ran_without_its_lines_is_not_judged_on_the_stand_in() -> None:
    """A busy desk ended the run that sees what grows, and fit said FITS of a leak."""
    board = Board(record.STAND_IN, "full", build="full")
    found = judge.judge(replace(_RAN, board=board, unknown=("the line of each step",)))
    assert found.kind == "CANNOT TELL" and "main.py: nobody saw" in found.lines[0]
    done = replace(_RAN, end=End(record.DONE), board=board, unknown=("the line of each step",))
    assert judge.judge(done).fits


def test_jpegs_of_the_emulated_cameras_pattern_are_said_to_be() -> None:
    packed = replace(_RAN, packs=True)
    of_pattern, as_well = judge.judge(packed).lines[3:]
    assert of_pattern.startswith("its JPEGs are as large as of the emulated camera's pattern")
    assert as_well.endswith("full of detail it ran as well on the stand-in")
    assert judge.judge(packed).fits
    refused = Refused(GC, 32768, Level(500000, 9000, 9000), _AT)
    found = judge.judge(replace(packed, detail=End(record.RAISED, _AT, refused=refused)))
    assert found.kind == "CANNOT TELL" and "it depends on what the camera sees" in found.lines[0]
    assert "32.0 KiB and dies on the stand-in" in found.lines[1]
    assert "those of the emulated camera's pattern not" in found.lines[1]
    died = replace(packed, end=End(record.RAISED, _AT, "MemoryError:", refused=refused))
    assert of_pattern in judge.judge(died).lines


def test_what_ran_fits_with_its_numbers() -> None:
    found = judge.judge(_RAN, _SOURCE)
    assert (found.kind, found.status) == ("FITS", 0)
    assert "maixpy.bin, the firmware itself, 50 pictures" in found.lines[0]
    assert found.lines[1].startswith("GC heap: at the least 97.6 KiB left, main.py:3: net = kpu.")
    assert len(found.lines) == 3, "nothing more is to be said"


def test_a_stand_in_is_no_firmware() -> None:
    found = judge.judge(replace(_RAN, board=Board(record.STAND_IN, "full", build="full")))
    assert "the stand-in with the memory of full, which is no firmware" in found.lines[0]


@pytest.mark.parametrize(("kind", "named"), [(record.DONE, "webai"), (record.LIMIT, "0x300000")])
def test_verdict_and_answer_name_one_cause(kind: str, named: str) -> None:
    """Of two things that a program went on without: what it printed when it ended, or, where it
    goes on, the first."""
    lacked = Caught("ValueError: load error:2002", _AT, Missing(record.MODEL, "0x300000"))
    error, missing = "ImportError: no module named 'webai'", Missing(record.MODULE, "webai")
    end = End(kind, (Place("<string>", 3),), error, caught=True, missing=missing)
    of = replace(_RAN, end=end, caught=(lacked,))
    verdict, answer = judge.judge(of, _SOURCE), advice.of_run(of, "en")
    assert verdict.kind == judge.CANNOT_TELL and named in verdict.lines[0]
    assert answer and named in answer.cause


@pytest.mark.parametrize("kind", [record.DONE, record.LIMIT])
def test_a_stack_that_was_overrun_does_not_fit(kind: str) -> None:
    """Though nothing came of it."""
    of = _ended(kind, overflow=True)
    found, answer = judge.judge(of), advice.of_run(of, "en")
    assert (found.kind, found.status) == ("DOES NOT FIT", 1) and not of.ends_well
    assert found.lines[0].endswith("0x300000) takes more than a thread's stack")
    assert answer and answer.key == "stack_overran" and answer.step
    assert answer.step.key == "stack"


def test_a_load_that_was_not_reached_is_named() -> None:
    source = _SOURCE + "if False:\n    kpu.load(0x600000)\n"
    (last,) = judge.judge(_RAN, source).lines[3:]
    assert last == "not reached, so nothing is said of it: main.py:6: kpu.load(0x600000)"


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (End(record.HANGS, _AT, refused=Refused(HEAP, 262274, Level(9, 8, 7), _AT)), 3),
        (End(record.NO_START, words=("the board does not start again",)), 3),
        (End(record.RAISED, _AT, "MemoryError: x", refused=Refused(GC, 1000)), 1),
        (End(record.DONE, _AT, "MemoryError: x", caught=True, refused=Refused(GC, None)), 1),
        (End(record.LIMIT, _AT, "MemoryError: x", caught=True, refused=Refused(GC, None)), 1),
    ],
)
def test_what_dies_for_want_of_memory_does_not_fit(end: End, status: int) -> None:
    found = judge.judge(replace(_RAN, end=end), _SOURCE)
    assert (found.kind, found.status) == ("DOES NOT FIT", status)


def test_who_has_the_rest_is_said() -> None:
    refused = Refused(HEAP, 262274, Level(3000000, 200000, 150000), _AT)
    said = "\n".join(judge.judge(_ended(record.HANGS, refused=refused)).lines)
    assert "the board hangs at main.py:3: net = kpu.load(0x300000) after 50 pictures" in said
    assert "requested 256.1 KiB of system heap, free were 195.3 KiB, at most 146.4 KiB" in said
    assert "  390.6 KiB have main.py:3: net = kpu.load(0x300000)" in said


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (
            End(record.RAISED, _AT, "x", missing=Missing(record.MODEL)),
            "a model that this run does not have",
        ),
        (End(record.RAISED, _AT, "x", missing=Missing(record.CARD)), "a file or a card"),
        (End(record.RAISED, _AT, "x", missing=Missing(record.MODULE, "abc")), "(abc)"),
        (End(record.RAISED, _AT, "NameError: x"), "not for want of memory"),
        (End(record.DONE, _AT, "NameError: x", caught=True), "not for want of memory"),
        (End(record.STUCK, _AT), "waits for what does not come"),
        (End(record.HANGS, _AT, missing=Missing(record.DEVICE)), "a device that is not in"),
        (End(record.INTERRUPTED), "ended early"),
    ],
)
def test_what_was_not_reached_is_never_said_to_fit(end: End, said: str) -> None:
    found = judge.judge(replace(_RAN, end=end), _SOURCE)
    assert (found.kind, found.status) == ("CANNOT TELL", 4)
    assert said in found.lines[0] and "not reached" in found.lines[-1]


def test_no_picture_in_the_time_that_there_is() -> None:
    none = replace(_RAN, pictures=0, seconds=20.0)
    assert judge.judge(none, _SOURCE).status == 4
    assert judge.judge(none, "import time\n").status == 0, "it takes none"


def test_growth_is_named_with_the_round_that_it_ends() -> None:
    found = judge.judge(replace(_RAN, growth=_GREW), _ENDLESS)
    assert found.status == 1 and "keeps 1000 B more each round" in found.lines[0]
    assert "is full in round 400" in found.lines[0]
    done = judge.judge(replace(_RAN, growth=_GREW, end=End(record.DONE)), _SOURCE)
    assert done.status == 0 and "kept 1000 B more each round up to the end" in done.lines[3]


def test_growth_of_a_loop_that_may_end_before_is_not_told() -> None:
    grew = replace(_RAN, growth=_GREW)
    found = judge.judge(grew, _ENDLESS.replace("while True:", "for n in range(300):"))
    assert found.status == 4 and "is full in round 400" in found.lines[0]
    assert found.lines[0].startswith("CANNOT TELL: main.py:3: ")
    for end, status in ((End(record.RAISED, _AT), 1), (End(record.HANGS, _AT), 3)):
        found = judge.judge(replace(grew, later=end, later_pictures=790), "")
        assert found.status == status and "after 790 pictures: main.py:3" in found.lines[1]


def test_growth_whose_long_run_was_cut_is_not_told() -> None:
    """By a busy desk: how fast it is must not make a list that is bounded one that grows."""
    found = judge.judge(replace(_RAN, growth=_GREW, cut=True), _ENDLESS)
    assert found.status == 4 and "if that goes on, the GC heap is full" in found.lines[0]


def test_growth_is_counted_by_pictures_where_rounds_were_not_seen() -> None:
    found = judge.judge(replace(_RAN, rounds=None, growth=_GREW), _ENDLESS)
    assert "more each picture; the GC heap is full in picture 400" in found.lines[0]
    assert found.lines[-1].startswith("seen in 50 pictures on ")


def test_the_round_is_the_latest_where_the_heap_has_no_pieces() -> None:
    """Of a text that grows the heap holds two copies, and pieces between: full much earlier."""
    grew = replace(_RAN, board=Board(record.STAND_IN, "full"), growth=_GREW)
    assert "is full by round 400" in judge.judge(grew, _ENDLESS).lines[0]
    assert "it is full by round 400." in advice.of_run(grew, "en").cause


@pytest.mark.parametrize(
    ("source", "line", "endless"),
    [
        ("while 1:\n    a()\n", 2, True),
        ("while True:\n    for x in y:\n        a()\n", 3, True),
        ("for x in y:\n    a()\nwhile True:\n    b()\n", 2, False),
        ("def a():\n    k.append(1)\nwhile True:\n    a()\n", 2, True),
        ("def a():\n    k.append(1)\nwhile go:\n    a()\n", 2, False),
        ("while True\n", 1, False),
    ],
)
def test_a_loop_that_has_no_end(source: str, line: int, endless: bool) -> None:
    assert is_endless(source, line) is endless


@pytest.mark.parametrize("kind", [record.DONE, record.LIMIT])
def test_what_was_absent_is_never_fits_whoever_caught_it(kind: str) -> None:
    lacked = Caught("ValueError: load error:2002", _AT, Missing(record.MODEL, "0x300000"))
    found = judge.judge(replace(_ended(kind), caught=(lacked,)), _SOURCE)
    assert (found.kind, found.status) == ("CANNOT TELL", 4)
    assert found.lines[0].startswith(
        "CANNOT TELL: main.py:3: net = kpu.load(0x300000) needs a model (0x300000) that this run"
    )


def test_memory_that_a_program_caught_is_named_with_the_verdict() -> None:
    found = judge.judge(replace(_RAN, caught=(Caught("MemoryError: x", _AT),)), _SOURCE)
    assert found.fits and "caught by the script: main.py:3: " in found.lines[-1]


def test_a_picture_that_a_model_does_not_take_does_not_fit() -> None:
    error = "ValueError: [MAIXPY]kpu: check img format err!"
    found = judge.judge(_ended(record.RAISED, error=error), _SOURCE)
    assert (found.kind, found.status) == ("DOES NOT FIT", 1)
    assert found.lines[1] == error


def test_what_a_thread_that_did_not_run_may_free_is_no_growth_of_the_program() -> None:
    """One that had no turn on the stand-in; what writes over its stack has run."""
    grew = replace(_RAN, growth=_GREW, later=End(record.RAISED, _AT, refused=Refused(GC)))
    thread = Step(record.THREAD, _AT)
    found = judge.judge(replace(grew, steps=(thread,)), _ENDLESS)
    assert found.kind == judge.CANNOT_TELL and "main.py:3" in found.lines[0]
    over = replace(thread, nbytes=5120)
    assert judge.judge(replace(grew, steps=(over,)), _ENDLESS).kind == judge.NOT
    full = replace(_RAN, end=End(record.RAISED, _AT, refused=Refused(GC)), steps=(thread,))
    assert judge.judge(full, _ENDLESS).kind == judge.CANNOT_TELL


def test_what_a_little_more_or_less_heap_decides_is_too_close() -> None:
    """The stand-in's pieces lie not to the byte where the board's do."""
    board = Board(record.STAND_IN, "full", build="full")
    refused = Refused(GC, 153600, Level(500000, 166000, 140000), _AT)
    error = "MemoryError: Out of normal MicroPython Heap Memory!"
    of = replace(_ended(record.RAISED, error=error, refused=refused), board=board)
    assert judge.judge(of, _SOURCE).kind == judge.NOT
    found = judge.judge(replace(of, close=True), _SOURCE)
    assert found.kind == judge.CANNOT_TELL
    assert found.lines[0].startswith("CANNOT TELL: too close: main.py:3: net = kpu.load(0x300000)")
    assert "requested 150.0 KiB of the GC heap, free were 162.1 KiB, at most" in found.lines[0]
    assert "with 8.0 KiB more it runs" in found.lines[1]
    of = replace(_RAN, board=board)
    assert judge.judge(of, _SOURCE).fits
    found = judge.judge(replace(of, close=True), _SOURCE)
    assert found.kind == judge.CANNOT_TELL and "with 8.0 KiB less it does" in found.lines[1]


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ("    if len(net) > 150000:\n        net = ''\n", judge.CANNOT_TELL),
        ("", judge.NOT),
        ("    other = ''\n", judge.NOT),
    ],
)
def test_a_text_that_begins_anew_may_have_room_in_other_pieces(more: str, kind: str) -> None:
    """One of up to 150 KB ran on the firmware; on the stand-in it lacked 102 bytes of a piece at
    100 KB."""
    board = Board(record.STAND_IN, "full", build="full")
    refused = Refused(GC, 103000, Level(500000, 306600, 102898), _AT)
    later = End(record.RAISED, _AT, error="MemoryError: ", refused=refused)
    of = replace(_RAN, board=board, growth=_GREW, later=later)
    found = judge.judge(of, "import sensor\nwhile True:\n    net += 'line'\n" + more)
    assert found.kind == kind
    assert ("the largest lacks 102 bytes" in " ".join(found.lines)) == (kind != judge.NOT)


@pytest.mark.parametrize(
    ("asked", "free", "largest", "kind"),
    [
        (19200, 27000, 18200, judge.CANNOT_TELL),  # a small object in another piece
        (19200, 27000, 14000, judge.NOT),
        (153600, 179456, 145117, judge.CANNOT_TELL),  # beside histograms: the firmware runs it
        (38400, 101488, 25100, judge.NOT),  # likewise: there the firmware dies, too
        (19200, 19000, 18200, judge.NOT),  # full
        (600, 4000, 500, judge.NOT),  # what grows by little fills each piece
    ],
)
def test_a_piece_that_lacks_little_is_too_close(
    asked: int, free: int, largest: int, kind: str
) -> None:
    refused = Refused(GC, asked, Level(500000, free, largest), _AT)
    of = _ended(record.RAISED, error="MemoryError: ", refused=refused)
    board = Board(record.STAND_IN, "full", build="full")
    found = judge.judge(replace(of, board=board), _SOURCE)
    assert found.kind == kind
    lacks = f"the largest lacks {asked - largest} bytes"
    assert (lacks in " ".join(found.lines)) == (kind != judge.NOT)
    assert judge.judge(of, _SOURCE).kind == judge.NOT, "an image's own"
