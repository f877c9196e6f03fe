# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One run of a script that leaves a record, on a firmware image where there is one, else on the
stand-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from pathlib import Path

from maixmem_cli.emulator.pictures import PATTERN
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.firmware.builds import FIRMWARES, Firmware
from maixmem_cli.library import places
from maixmem_cli.profiler import growth, run_on
from maixmem_cli.profiler.growth import LEAST
from maixmem_cli.record.record import GC, LIMIT, MODEL, RAISED, STAND_IN, Board, End, Record
from maixmem_cli.runs import image_record, standin_record
from maixmem_cli.runs.run_firmware import failing
from maixmem_cli.runs.run_standin import LINGERS
from maixmem_cli.text import reading

_ON = 10  # times as many pictures on an image, where something grows
_BEYOND = 1.25  # times the round in which a heap is to be full
_FAR = 30_000  # pictures that the stand-in is run on for, at most
_STATEMENTS = 6_000_000  # of the script, which takes some ten seconds of a quiet desk
_PICTURE = 200  # statements that take as long as one picture does
_LONG, _MINUTE = 10.0, 60.0  # seconds in which that is over, on a busy desk too
WORTH = 3_000  #: pictures in which what is bounded is looked for, which takes seconds
_LESS = 4  # a part of the pictures, where so many were too many
_SETTLED = 2  # times the picture from which on nothing grows: tables grow in such steps
_FIRST = 5  # times as many, in which it is looked for first
_APART = 4  # times as far goes on after it: else that alone
_NEAR = 32768  #: bytes of the GC heap: with more left its pieces hardly decide
_PIECES = 4  # times the largest picture: with so much left one that is lost does not either
_PACKS = "compress"  # begins what makes a JPEG on the GC heap
_SAME = 0.9  # of what was seen to grow: there it grew as long, and is the same


@dataclass(frozen=True)
class Place:
    """What a script is run on: the build whose memory it has, its image (None: the stand-in), and
    what is put there."""

    build: Firmware
    image: Path | None
    options: Options


def run(script: Path, place: Place) -> Record:
    """Runs the script, which says nothing here; its record. One that grows is run on: it may end
    by itself before that matters. WrongUse where the board cannot be prepared."""
    found = _run_on(script, place)
    if place.image:
        return _of_pattern(script, place, found)
    return replace(found, detail=_with_detail(script, place, found)) if found.packs else found


def _of_pattern(script: Path, place: Place, found: Record) -> Record:
    """A run on an image whose JPEGs are of the emulated camera's own picture, with that: the
    stand-in sees whether it makes some, and whether others end it."""
    own = place.options.camera == PATTERN and _PACKS in reading.script(script)
    if not own or not places.micropython():
        return found
    on = replace(place, build=place.build.of_table() or FIRMWARES["full"], image=None)
    black = once(script, on, brief=True)
    detail = _with_detail(script, on, found) if black.packs and black.ran else None
    return replace(found, packs=black.packs, detail=detail)


def _with_detail(script: Path, place: Place, found: Record) -> End | None:
    """How a run that went well ends on the stand-in with JPEGs of pictures full of detail, where
    it dies of them: those of a camera lie between these and black ones."""
    asked = place.options.frames
    if not found.ran or found.later or (found.first_full and found.end.kind == LIMIT):
        return None
    if asked and found.pictures > asked:
        place = _longer(place, found.pictures, asked, _MINUTE)
    end = once(script, place, brief=True, detail=True).end
    return end if end.refused or end.hangs else None


def _run_on(script: Path, place: Place) -> Record:
    """The run, and a longer one where something grows."""
    found = once(script, place)
    if place.image is None:
        found = replace(found, close=_is_close(script, place, found))
        found = replace(found, lingers=_lingers(script, place, found))
    full, asked = _full_in(found), place.options.frames
    if not full or not asked or 2 * found.pictures < asked:
        return found  # its time was over: of that ten times as much is long
    if place.image is None:
        return _on_and_on(script, place, found, min(_FAR, full, _affordable(found)))
    bound = bounded(script, place, asked, full) if full > _ON * asked else None
    if not bound or not bound.sure:
        return _on(script, place, found, min(_ON * asked, full))
    return replace(_on(script, place, found, bound.pictures), settled=bound.settled)


def _is_close(script: Path, place: Place, found: Record) -> bool:
    """Whether a run on the stand-in ends otherwise with a GC heap that is larger, or smaller, by
    as much as its figures may differ: where pieces lie decides it."""
    refused, least = found.end.refused, found.least_of(GC)
    heap, by = found.board.gc_heap, standin_record.WITHIN
    if refused and refused.heap == GC and found.end.kind == RAISED:
        return again(script, place, heap + by).ran
    if found.ran and least and by <= least.level.free < _NEAR:
        other = again(script, place, heap - by).end
        return bool(other.refused and other.refused.heap == GC)
    return False


def _lingers(script: Path, place: Place, found: Record) -> bool:
    """Whether a run on the stand-in that went well does not where one picture that the program
    lost is still on the GC heap: a word on the board's C stack may keep it there, of 36 programs
    with room for no other in nine."""
    least = found.least_of(GC)
    most = max((x.largest for x in found.lines if x.heap == GC and x.count > 1), default=0)
    if found.close or not (found.ran and least):
        return False
    if least.level.free >= _PIECES * most:
        return False
    ends = (once(script, place, brief=True, lingers=which).end for which in LINGERS)
    return any(end.refused and end.refused.heap == GC for end in ends)


@dataclass(frozen=True)
class Bound:
    """On the stand-in nothing of `which`, numbers of rates, grows from `settled` on; a run of so
    many `pictures` shows it. Rounds of its loop, of a script that takes none. Not `sure`: some of
    these go on, or none grows so there; then a run of the firmware has to tell."""

    settled: int
    pictures: int
    which: frozenset[int]
    sure: bool


def bounded(
    script: Path,
    place: Place,
    seen: int,
    most: int,
    rates: Sequence[float] = (),
    tables: Mapping[int, float] = growth.NO_TABLES,
    farthest: float = WORTH,
) -> Bound | None:
    """Whether what grew for so many pictures, at these rates, or some of it, grows for as long on
    the stand-in, and then no more. None: it goes on up to `most`, where a heap is full, or nobody
    can say. `farthest`: the last picture at which it may come to a bound."""
    build = place.build.of_table() or FIRMWARES["full"]
    if most <= seen:
        return None
    first = min(_FIRST * seen, most)
    last = max(first, min(WORTH, most, ceil(_SETTLED * farthest)))
    for pictures in (first, last) if _APART * first <= last else (last,):
        longer = _longer(place, pictures, seen, _MINUTE if place.options.frames else _LONG)
        with failing(script):
            told, rounds, used = standin_record.looked(script, build.name, longer.options)
        if told.not_run:
            return None
        every = frozenset(range(len(rates)))
        until, which, sure = 0, every, False
        if told.end.kind == LIMIT and not told.growth and told.settled:
            until, sure = told.settled, True
        elif some := growth.slows(rounds, used, rates, tables):
            until, which, sure = some
        if until >= _SAME * seen:
            return Bound(until, min(told.counted, _SETTLED * until + LEAST), which, sure)
        if until or (told.end.kind == LIMIT and not told.growth):
            return Bound(0, _ON * seen, every, sure=False)
        if told.end.kind != LIMIT:
            return None
    return None


def _longer(place: Place, pictures: int, seen: int, most: float | None = None) -> Place:
    """The same for so many pictures where `seen` were, in as much more time, in `most` seconds at
    most: the number of pictures is to end it, which does not depend on how fast a desk is."""
    options = run_on.longer(place.options, Fraction(pictures, seen))
    if most is not None:
        options = replace(options, seconds=min(options.seconds or most, most))
    return replace(place, options=options)


def _full_in(found: Record) -> int:
    """Pictures after which a heap is full for certain, if what grows goes on; 0: nothing does."""
    first = found.first_full
    if found.end.kind != LIMIT or not first or not first.dies:
        return 0
    return ceil(_BEYOND * first.dies * found.each_round)


def _affordable(found: Record) -> int:
    """Pictures that the stand-in can be run on for. They are counted by what the script does in
    each: how fast a desk is, or how busy, must not change a verdict."""
    each = found.statements / max(1, found.pictures) + _PICTURE
    return int(_STATEMENTS / each)


def _on_and_on(script: Path, place: Place, found: Record, most: int) -> Record:
    """The run of so many pictures on the stand-in; of fewer, where it is over by then that
    something grows: each time a few times as many."""
    pictures = _FIRST * (place.options.frames or most)
    while _APART * pictures <= most:
        longer = _on(script, place, found, pictures, _MINUTE)
        settled = longer.settled or longer.pictures
        over = _SETTLED * settled + LEAST <= longer.pictures
        if over or longer.later or longer.cut or longer.end.kind != LIMIT:
            return longer
        pictures *= _FIRST
    return _on(script, place, found, most, _MINUTE)


def _on(
    script: Path, place: Place, found: Record, frames: int, most: float | None = None
) -> Record:
    """The run of so many pictures; where it dies of what grows, or that goes on, `found` with
    that: a change has to run as long as the script did."""
    asked = place.options.frames or frames
    if frames <= asked:
        return found
    longer = _ended(script, _longer(place, frames, asked, most))
    if _saw_no_lines(longer):  # too far for the second run, which has every line's
        longer = once(script, _longer(place, longer.pictures // _LESS, asked, most))
        if _saw_no_lines(longer):
            return found
    if longer.end.hangs or longer.end.refused:
        return replace(found, later=longer.end, later_pictures=longer.pictures)
    goes_on = longer.end.kind == LIMIT and longer.growth
    if not goes_on:
        return longer
    cut = most is not None and longer.pictures < frames  # the desk was too busy for all of them
    return replace(found, growth=longer.growth, cut=cut)


def _ended(script: Path, place: Place) -> Record:
    """The run; of one on the stand-in that dies of what grows only how it ended is needed, not the
    second run, which has lines."""
    if place.image is None:
        found = once(script, place, brief=True)
        dies = found.end.at and (found.end.hangs or found.end.refused)
        if dies or not found.end.status:
            return found
    return once(script, place)


def _saw_no_lines(of: Record) -> bool:
    """Whether a run on the stand-in that went well tells nothing of what grows."""
    well = of.end.kind == LIMIT and not of.end.refused
    return of.board.on == STAND_IN and well and not of.growth and bool(of.unknown)


def once(
    script: Path,
    place: Place,
    begun: Callable[[Session], None] = lambda s: None,
    *,
    brief: bool = False,
    detail: bool = False,
    lingers: str = "",
) -> Record:
    """One run, for as long as was wanted; on an image `begun` gets its session. `brief` leaves out
    what lines did: on an image of a run that ends well, on the stand-in of one that ends badly.
    `detail`: on the stand-in JPEGs are as large as of pictures full of it; `lingers`: a picture
    that it lost lies there. WrongUse where the board cannot be prepared."""
    with failing(script):
        if place.image:
            found = image_record.run(script, place.image, place.options, begun, brief=brief)
        else:
            found = standin_record.run(
                *(script, place.build.name, place.options),
                brief=brief,
                detail=detail,
                lingers=lingers,
            )
    board = replace(found.board, build=place.build.name, v4=place.build.v4)
    return replace(found, board=board, end=_had(found.end, board))


def _had(end: End, board: Board) -> End:
    """A model that the board did have was no missing one: it was none that its firmware loads."""
    missing = end.missing
    if missing and missing.kind == MODEL and missing.name in board.flash:
        return replace(end, missing=None)
    return end


def again(
    script: Path, place: Place, gc_heap: int, frames: int | None = None, *, detail: bool = False
) -> Record:
    """The same with another GC heap, in brief; and for so many pictures, full of detail."""
    options = replace(place.options, gc_heap=gc_heap, frames=frames or place.options.frames)
    return once(script, replace(place, options=options), brief=True, detail=detail)
