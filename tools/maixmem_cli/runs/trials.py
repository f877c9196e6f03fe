# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Runs of a script with changes, each on a board of its own, and whether one of them proves a
change."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.firmware.builds import choose
from maixmem_cli.record.record import (
    CAMERA,
    DONE,
    IMAGE,
    INTERRUPTED,
    LIMIT,
    STAND_IN,
    Board,
    Record,
)
from maixmem_cli.runs import recorded
from maixmem_cli.runs.change import Edit
from maixmem_cli.runs.recorded import Place

#: of the board's clock, for as many pictures as are asked for; and for the first so many: a script
#: without a camera takes none
SECONDS, BEGIN = 120.0, (5, 20.0)
_THREADS = sys.platform != "emscripten"  # a page has none
_BRIEFLY = 2.0  # on the stand-in, where a loop that never waits takes as long at the desk
_LONGER = 4  # times as long, as long as more pictures come
_FILLS = 5  # times as many pictures, where a list is not as long yet as its bound


def cured(before: Record, after: Record) -> bool:
    """Whether a run with a change proves it: as many pictures as the script took, and against
    growth rounds enough to judge it. What computes less than the script did is none, nor what left
    a thread out."""
    if before.work and after.work and not after.work.as_much_as(before.work):
        return False
    if not after.ends_well or after.not_run:
        return False
    if after.end.kind == LIMIT and after.pictures < _wanted(before, after):
        return False
    if _is_behind(before, after):
        return False
    if not before.growth or DONE in (before.end.kind, after.end.kind):
        return True
    return not after.too_few and not after.unknown


def _wanted(before: Record, after: Record) -> int:
    """Pictures: as many as the script took, or as the change was to take, whose last may be under
    way."""
    asked = before.pictures if after.asked is None else after.asked - 1
    return min(before.pictures, asked)


def _is_behind(before: Record, after: Record) -> bool:
    """Whether the time of a run was over before it came as far in the script."""
    if after.end.kind == INTERRUPTED:
        return True
    return after.end.kind == LIMIT and 0 < after.statements < before.statements


class Trials:
    """Runs on a place, several at once where that is an image."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.at_once = 2 if place.image and _THREADS else 1
        self._running: list[Session] = []
        self._over = False

    @property
    def board(self) -> Board:
        """What they run on."""
        image = self.place.image
        return Board(IMAGE, image.name) if image else Board(STAND_IN, self.place.build.name)

    def run(
        self,
        script: Path,
        edit: Edit,
        frames: int,
        before: Record,
        its_turn: Callable[[], object] = lambda: None,
    ) -> Record:
        """Runs the changed text as that script, so many pictures at most, more of them until a
        bound is reached: modules beside it are found. On an image its_turn() is called before it
        goes on past the first of them."""
        found = self._for(script, edit, frames, before, its_turn)
        if edit.kind == "bound" and found.end.kind == LIMIT and found.growth:
            found = self._for(script, edit, _FILLS * frames, before, its_turn)
        return found

    def _for(
        self,
        script: Path,
        edit: Edit,
        frames: int,
        before: Record,
        its_turn: Callable[[], object],
    ) -> Record:
        """On the stand-in it has a short time first, from where the run `before` the change died,
        and more as long as it takes pictures, or did less than that."""
        most = self.place.options.seconds or SECONDS
        if self.place.image:
            return self._run(script, edit, frames, most, its_turn)
        seconds = (0.0 if before.end.kind == LIMIT else before.seconds) + _BRIEFLY
        found = self._run(script, edit, frames, seconds)
        more = _is_behind(before, found) or any(step.kind == CAMERA for step in found.steps)
        over = (LIMIT, INTERRUPTED)
        while more and found.end.kind in over and found.pictures < frames and seconds < most:
            seconds = min(_LONGER * seconds, most) if found.pictures else most
            so_far, found = found.pictures, self._run(script, edit, frames, seconds)
            # else a loop behind them takes no others
            more = found.pictures > so_far or _is_behind(before, found)
        return found

    def _run(
        self,
        script: Path,
        edit: Edit,
        frames: int,
        seconds: float,
        its_turn: Callable[[], object] = lambda: None,
    ) -> Record:
        def begun(session: Session) -> None:
            session.port.past_first = its_turn
            self._running.append(session)
            if self._over:
                session.port.give_up()

        with tempfile.TemporaryDirectory() as temp:
            copy, place = _changed(script, edit, self.place, Path(temp))
            options = replace(place.options, frames=frames, seconds=seconds)
            return recorded.once(copy, replace(place, options=options), begun, brief=True)

    def stop(self) -> None:
        """Nobody wants to know any more how what still runs ends."""
        self._over = True
        for session in self._running:
            session.port.give_up()


def _changed(script: Path, edit: Edit, place: Place, folder: Path) -> tuple[Path, Place]:
    """The changed script, with the modules beside it, and what it runs on, with what the change
    puts there; all in a folder."""
    copy = folder / script.name
    copy.write_bytes(edit.source.encode())
    for beside in script.parent.glob("*.py"):
        if beside.name != script.name:
            shutil.copyfile(beside, folder / beside.name)
    options = _with_files(place.options, edit, folder)
    if edit.gc_heap and not place.image:  # the board that the script restarts
        options = replace(options, gc_heap=edit.gc_heap)
    if edit.firmware:
        build = choose(edit.firmware)
        image = Path(edit.firmware) if place.image else None
        place = Place(build.of_table() or build, image, options)
    return copy, replace(place, options=options)


def _with_files(options: Options, edit: Edit, folder: Path) -> Options:
    """The same with what a change puts on the card or turns around in flash."""
    if edit.card:
        card = folder / "sd"
        if options.sd:
            shutil.copytree(options.sd, card)
        card.mkdir(exist_ok=True)
        for name, path in edit.card:
            shutil.copyfile(path, card / name[len("/sd/") :])
        options = replace(options, sd=card)
    files = []
    for address, path in options.files:
        if address in edit.turned:
            data = path.read_bytes()
            path = folder / path.name
            path.write_bytes(b"".join(data[i : i + 4][::-1] for i in range(0, len(data), 4)))
        files.append((address, path))
    return replace(options, files=tuple(files))
