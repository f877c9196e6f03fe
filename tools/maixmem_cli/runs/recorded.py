# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One run of a script that leaves a record, on a firmware image where there is one, else on the
stand-in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from maixmem_cli.emulator.session import Options
from maixmem_cli.firmware.builds import Firmware
from maixmem_cli.record.record import Record
from maixmem_cli.runs import image_record, standin_record
from maixmem_cli.runs.run_firmware import failing


@dataclass(frozen=True)
class Place:
    """What a script is run on: the build whose memory it has, its image (None: the stand-in), and
    what is put there."""

    build: Firmware
    image: Path | None
    options: Options


def run(script: Path, place: Place) -> Record:
    """Runs the script, which says nothing here; its record. WrongUse where the board cannot be
    made ready."""
    with failing(script):
        if place.image:
            found = image_record.run(script, place.image, place.options)
        else:
            found = standin_record.run(script, place.build.name, place.options)
    return replace(found, board=replace(found.board, build=place.build.name))


def again(script: Path, place: Place, gc_heap: int) -> Record:
    """The same with another GC heap."""
    return run(script, replace(place, options=replace(place.options, gc_heap=gc_heap)))
