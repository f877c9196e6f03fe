# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One run of a script for somebody who compares, on a firmware or on the stand-in: how it ended,
and what it left."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from maixmem_cli.emulator.readers.tracer import RAW_FILE
from maixmem_cli.emulator.session import DONE, HANGS, LIMIT, RAISED, Options, Session
from maixmem_cli.errors import table
from maixmem_cli.heap import heaps
from maixmem_cli.profiler import post_mortem, profile, report
from maixmem_cli.runs import run_standin
from maixmem_cli.runs.change import Edit

#: of the board's clock, for as many pictures as are asked for; and for the first so many: a script
#: without a camera takes none
SECONDS, BEGIN = 120.0, (5, 20.0)
_HUNG = 3  # exit status of the stand-in
_LINES = 3  # of what ended it
_HEAD = "Traceback (most recent call last):"


@dataclass(frozen=True)
class Work:
    """What was computed: models that ran before the first picture, and in each round from one
    picture to the next that came to its end."""

    before: int
    rounds: tuple[int, ...]

    def as_much_as(self, other: Work) -> bool:
        """Whether models ran as often: before the pictures, and in the rounds."""
        return self.before + sum(self.rounds) >= other.before + sum(other.rounds) and (
            not other.rounds or not self.rounds or median(self.rounds) >= median(other.rounds)
        )


def _work(session: Session) -> Work:
    pictures, runs = session.tracer.times("snapshot"), session.tracer.times("run")
    rounds = [bisect_left(runs, b) - bisect_left(runs, a) for a, b in zip(pictures, pictures[1:])]
    return Work(bisect_left(runs, pictures[0]) if pictures else len(runs), tuple(rounds))


@dataclass(frozen=True)
class Trial:
    """`why`: lines for people where it did not end well; `line`: the one at the script's top that
    ended it, where it is known; `frames`: pictures that it took. Bytes: the most of the system
    heap in use, what was left then, and the free GC heap at the end; None where that cannot be
    read. `leaks`: lines for people, which are `why` then; None where that was not judged."""

    kind: str
    why: tuple[str, ...] = ()
    peak: int | None = None
    left: int | None = None
    gc_free: int | None = None
    frames: int = 0
    line: int | None = None
    leaks: tuple[str, ...] | None = None
    work: Work | None = None

    @property
    def good(self) -> bool:
        return self.kind in (DONE, LIMIT) and not self.leaks

    @property
    def ended(self) -> str:
        """How, in one word."""
        return "leaks" if self.leaks else self.kind

    def cured(self, after: Trial) -> bool:
        """Whether a run with a change proves it: of a leak where that was judged, in as many
        pictures. What computes less than the script did is none."""
        if self.work and after.work and not after.work.as_much_as(self.work):
            return False
        judged = after.kind == DONE or (after.leaks is not None and after.frames >= self.frames)
        return after.good and (judged or not self.leaks)


def _line(text: str, name: str) -> int | None:
    """The first line of a file that a traceback names: the outermost."""
    found = re.search(rf'File "{re.escape(name)}", line (\d+)', text)
    return int(found[1]) if found else None


def _raised(lines: list[str]) -> list[str]:
    """The end of a traceback, and what its error means."""
    meaning = table.answer(lines[-1]) if lines else None
    last = [x for x in lines[-_LINES:] if x != _HEAD]
    return [*last, f"= {meaning[0]}"] if meaning else last


@contextlib.contextmanager
def _changed(options: Options, edit: Edit) -> Iterator[Options]:
    """What is on the board with a change."""
    with tempfile.TemporaryDirectory() as temp:
        card = Path(temp) / "sd"
        if edit.card:
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
                path = Path(temp) / path.name
                path.write_bytes(b"".join(data[i : i + 4][::-1] for i in range(0, len(data), 4)))
            files.append((address, path))
        yield replace(options, files=tuple(files))


# --- on a firmware ---


class OnImage:
    """Runs on the firmware in a file, each on a board of its own."""

    at_once = 2

    def __init__(self, image: Path, options: Options) -> None:
        self.image, self.options = image, options
        self.where = image.name
        self._running: list[Session] = []
        self._over = False

    def run(self, script: Path, edit: Edit, frames: int) -> Trial:
        """Runs the changed text as that script, so many pictures at most: modules beside it are
        found."""
        with tempfile.TemporaryDirectory() as temp, _changed(self.options, edit) as options:
            copy = Path(temp) / script.name
            copy.write_bytes(edit.source.encode())
            for beside in script.parent.glob("*.py"):
                if beside.name != script.name:
                    (Path(temp) / beside.name).write_bytes(beside.read_bytes())
            image = Path(edit.firmware) if edit.firmware else self.image
            with Session(image, copy, replace(options, frames=frames)) as session:
                self._running.append(session)
                try:
                    if self._over:
                        session.port.give_up()
                    return _of_session(session)
                finally:
                    self._running.remove(session)

    def stop(self) -> None:
        """Nobody wants to know any more how what still runs ends."""
        self._over = True
        for session in [*self._running]:
            session.port.give_up()


def _of_session(session: Session) -> Trial:
    looks = bool(session.known.state)
    session.tracer.start(session.finder, gc=looks, live=looks)
    outcome = session.run(lambda text: None)
    why: list[str] = []
    line = None
    if outcome.kind not in (DONE, LIMIT):
        error = outcome.error.replace(str(session.script), session.script.name)
        lines = [x for x in error.splitlines() if x.strip()]
        why = [*_raised(lines), *post_mortem.ending(session, outcome)]
        line = _line(error, session.script.name) or _running(session)
    session.tracer.where()
    found = profile.Profile(session, outcome)
    found.collect()
    leaks = None
    if outcome.kind == LIMIT and looks:  # what ends by itself may keep things up to its end
        leaks = tuple(report.growth(found, g) for g in found.leaks)
    peak = found.books.heap.peak.used
    return Trial(
        outcome.kind,
        tuple(leaks or why),
        peak,
        found.heap_total - peak,
        _gc(session),
        int(str(session.board.state()["frames"])),
        line,
        leaks,
        _work(session) if looks else None,
    )


def _running(session: Session) -> int | None:
    """The line of the script at its top that is being run."""
    lines = [place.line for place in session.tracer.here() if place.file == RAW_FILE]
    return lines[-1] if lines else None


def _gc(session: Session) -> int | None:
    try:
        return session.finder.gc(session.board.ram).free
    except heaps.NotFound:
        return None


# --- on the stand-in ---


class OnStandIn:
    """Runs on the stand-in with a build's memory, one at a time: what a run says is caught."""

    at_once = 1

    def __init__(self, build: str, options: Options) -> None:
        self.build, self.options = build, options
        self.where = f"the stand-in with the memory of {build}, which is no firmware"

    def run(self, script: Path, edit: Edit, frames: int) -> Trial:
        """Runs the changed text as that script, so many pictures at most; first as many as are to
        come soon. With fewer it ended, or takes none: no other run tells more."""
        few, soon = self.options.begin
        first = self._run(script, edit, min(few, frames), soon) if few else None
        if first and (not first.good or not few <= first.frames < frames):
            return first
        return self._run(script, edit, frames, self.options.seconds)

    def stop(self) -> None:
        """Nothing runs beside the one run that is waited for."""

    def _run(self, script: Path, edit: Edit, frames: int, seconds: float | None) -> Trial:
        with _changed(self.options, edit) as options:
            job = run_standin.Job(script.resolve(), edit.source, edit.firmware or self.build)
            job.board_heap = edit.gc_heap or job.board_heap
            job.flash, job.frames = dict(options.files), frames
            job.seconds, job.card = seconds, options.sd is not None
            if options.sd:
                on_card = [p for p in options.sd.rglob("*") if p.is_file()]
                job.files = {
                    f"/sd/{p.relative_to(options.sd).as_posix()}": str(p) for p in on_card
                }
            said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                status, told = run_standin.execute(job)
        text = said.buffer.getvalue().decode(errors="replace")  # type: ignore
        text = text.replace(str(script.resolve()), script.name)
        why, line = _told(text, status), _line(text, script.name) if status else None
        kind = {0: LIMIT, _HUNG: HANGS}.get(status, RAISED)
        try:
            found = run_standin.figures(told)
            left, total = found["heap"]["lowest"], found["heap"]["used"] + found["heap"]["free"]
            bytes_ = total - left, left, found["gc"]["free"]
            return Trial(kind, why, *bytes_, found["frames"], line)
        except Exception:  # any: a stranger's script may forge it
            return Trial(kind, why, line=line)


def _told(text: str, status: int) -> tuple[str, ...]:
    """The lines of a run on the stand-in that tell how it ended."""
    lines = [x for x in text.splitlines() if x.strip()]
    if status == _HUNG:
        return tuple(x.removeprefix("maixmem: ") for x in lines if x.startswith("maixmem: "))
    if not status or _HEAD not in text:
        return tuple(lines[-_LINES:]) if status else ()
    last = max(i for i, x in enumerate(lines) if x == _HEAD)
    end = next((i for i, x in enumerate(lines) if i > last and x[:1] != " "), last)
    return tuple(_raised(lines[last : end + 1]))
