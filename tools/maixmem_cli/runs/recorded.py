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
from maixmem_cli.record.record import LIMIT, MODEL, Board, End, Record
from maixmem_cli.runs import image_record, standin_record
from maixmem_cli.runs.run_firmware import failing

_ON = 10  # times as many pictures, where something grows
_BEYOND = 1.25  # times the round in which a heap is to be full


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
    first, asked = found.first_full, place.options.frames
    if found.end.kind != LIMIT or not first or not first.dies or not asked:
        return found
    if 2 * found.pictures < asked:  # its time was over: of that ten times as much is long
        return found
    frames = min(_ON * asked, ceil(_BEYOND * first.dies * found.each_round))
    if frames <= asked:
        return found
    seconds = (place.options.seconds or 0) * frames / asked or None
    longer = once(
        script, replace(place, options=replace(place.options, frames=frames, seconds=seconds))
    )
    if longer.end.hangs or longer.end.refused:
        return replace(found, later=longer.end, later_pictures=longer.pictures)
    return longer


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
