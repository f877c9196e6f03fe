# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One run of a script that leaves a record, on a firmware image where there is one, else on the
stand-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.firmware.builds import Firmware
from maixmem_cli.profiler.growth import LEAST
from maixmem_cli.record.record import LIMIT, MODEL, Board, End, Record
from maixmem_cli.runs import image_record, standin_record
from maixmem_cli.runs.run_firmware import failing

_ON = 10  # times as many pictures on an image, where something grows
_BEYOND = 1.25  # times the round in which a heap is to be full
_FAR = 30_000  # pictures that the stand-in is run on for, which takes seconds
_LONG = 10.0  # of them, at most
_WORTH = 3_000  # pictures that an image is run on for, to see what the stand-in saw end
_SETTLED = 1.3  # times the picture from which on nothing grows


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
    found = once(script, place)
    full, asked = _full_in(found), place.options.frames
    if not full or not asked or 2 * found.pictures < asked:
        return found  # its time was over: of that ten times as much is long
    if place.image is None:
        return _on(script, place, found, min(_FAR, full), _LONG)
    settled = None
    if full > _ON * asked:
        settled = run(script, replace(place, image=None)).settled
    if not settled:
        return _on(script, place, found, min(_ON * asked, full))
    frames = ceil(_SETTLED * settled) + LEAST
    longer = found if frames > _WORTH else _on(script, place, found, frames)
    return replace(longer, settled=settled)


def _full_in(found: Record) -> int:
    """Pictures after which a heap is full for certain, if what grows goes on; 0: nothing does."""
    first = found.first_full
    if found.end.kind != LIMIT or not first or not first.dies:
        return 0
    return ceil(_BEYOND * first.dies * found.each_round)


def _on(
    script: Path, place: Place, found: Record, frames: int, most: float | None = None
) -> Record:
    """The run of so many pictures; where it dies of what grows, or that goes on, `found` with
    that: a change has to run as long as the script did."""
    if frames <= (found.asked or 0):
        return found
    longer = once(script, _for(place, frames, most))
    if longer.end.hangs or longer.end.refused:
        return replace(found, later=longer.end, later_pictures=longer.pictures)
    goes_on = longer.end.kind == LIMIT and longer.growth
    return replace(found, growth=longer.growth) if goes_on else longer


def _for(place: Place, frames: int, most: float | None = None) -> Place:
    """The same for so many pictures, in so much more time, in `most` at most."""
    options = place.options
    seconds = (options.seconds or 0) * frames / (options.frames or frames) or None
    if most is not None:
        seconds = min(seconds or most, most)
    return replace(place, options=replace(options, frames=frames, seconds=seconds))


def once(
    script: Path,
    place: Place,
    begun: Callable[[Session], None] = lambda s: None,
    *,
    brief: bool = False,
) -> Record:
    """One run, for as long as was wanted; on an image `begun` gets its session, and `brief` leaves
    out what the lines of a run did that ends well. WrongUse where the board cannot be prepared."""
    with failing(script):
        if place.image:
            found = image_record.run(script, place.image, place.options, begun, brief=brief)
        else:
            found = standin_record.run(script, place.build.name, place.options)
    board = replace(found.board, build=place.build.name, v4=place.build.v4)
    return replace(found, board=board, end=_had(found.end, board))


def _had(end: End, board: Board) -> End:
    """A model that the board did have was no missing one: it was none that its firmware loads."""
    missing = end.missing
    if missing and missing.kind == MODEL and missing.name in board.flash:
        return replace(end, missing=None)
    return end


def again(script: Path, place: Place, gc_heap: int, frames: int | None = None) -> Record:
    """The same with another GC heap, in brief; and for so many pictures."""
    options = replace(place.options, gc_heap=gc_heap, frames=frames or place.options.frames)
    return once(script, replace(place, options=options), brief=True)
