# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The record of a run on a firmware image: what the profiler's events and the board's RAM tell."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from maixmem_cli.emulator.readers import moment
from maixmem_cli.emulator.readers.tracer import DAMAGED, MALLOC, REALLOC
from maixmem_cli.emulator.session import Options, Session, imported
from maixmem_cli.profiler import profile
from maixmem_cli.profiler.loops import MAIN
from maixmem_cli.profiler.profile import EARLIER, UNKNOWN, Profile
from maixmem_cli.record import record
from maixmem_cli.record.record import (
    Board,
    End,
    Growth,
    Least,
    Level,
    Line,
    Missing,
    Place,
    Record,
    Refused,
    Work,
)
from maixmem_cli.runs import caught as of_program
from maixmem_cli.runs import ending
from maixmem_cli.runs.image_steps import Walker, heap_level
from maixmem_cli.runs.loads import candidates
from maixmem_cli.runs.run_standin import STARTS
from maixmem_cli.text import syntax

_LINES = 200  # of those with most bytes
_TRIES = 3
_HEAD = 8  # bytes from a chunk's size to what malloc gives
_OVERFLOW = "Stackoverflow !"  # FreeRTOS, when it changes to another thread
_OWN = 2  # pictures that the firmware takes by itself: at sensor.reset(), and the one that is cut


def run(
    script: Path,
    image: Path,
    options: Options,
    begun: Callable[[Session], None] = lambda s: None,
    *,
    brief: bool = False,
) -> Record:
    """Runs the script on the firmware in `image`; the record of it. A script that skips pictures
    runs again with so many more: its own rounds count. Each session is reported as it begins.
    `brief`: of a run that ends well its pictures, work and growth alone."""
    wanted = frames = options.frames or 0
    for _ in range(_TRIES):
        said: list[str] = []
        with Session(image, script, replace(options, frames=frames)) as session:
            begun(session)
            result = profile.run(session, said.append, guard=STARTS in session.source)
            output = "".join(said)
            told = _in_brief(result, output) if brief else None
            found = told or of_profile(result, output)
            seen = int(str(session.board.state()["frames"]))
        skipped = seen - found.pictures
        if found.end.kind != record.LIMIT or seen < frames or skipped <= _OWN:
            break
        if found.pictures + _OWN >= wanted:
            break
        frames = wanted + skipped
    return replace(found, asked=options.frames)


def _in_brief(found: Profile, output: str) -> Record | None:
    """The record without what its lines did; None where it did not end well."""
    kind = found.outcome.kind
    if kind not in (record.DONE, record.LIMIT) or ending.caught(output):
        return None
    if _overran(found, output):
        return None
    end = End(kind, status=found.outcome.status)
    times = found.session.tracer.times("snapshot")
    return replace(_begun(found, end, times), growth=_growth(found, Walker(found, [])))


def _begun(found: Profile, end: End, pictures: list[int]) -> Record:
    """A record with what needs no event; `pictures`: their times."""
    session, options = found.session, found.session.options
    gc = session.tracer.began[1]
    card = _card(options.sd) if options.sd else {}
    return Record(
        script=session.script.name,
        board=Board(
            record.IMAGE,
            session.firmware.name,
            session.firmware.resolve().as_posix(),
            gc_heap=gc.pool + gc.total - gc.table,
            flash={f"{address:#x}": str(path.resolve()) for address, path in options.files},
            card={path: str(file) for path, file in card.items()} if options.sd else None,
            camera=options.camera is not None,
        ),
        end=end,
        pictures=len(pictures),
        rounds=found.judged.rounds,
        asked=options.frames,
        seconds=round(session.board.state()["microseconds"] / 1e6, 3),
        too_few=found.judged.too_few,
        work=_work(found, pictures) if session.known.state else None,
        imports=tuple(sorted(m for m in imported(session.source) if m[:7] == "maixmem")),
        unknown=(*found.missing, *found.damage),
    )


def of_profile(found: Profile, output: str) -> Record:
    """The record of a run that was profiled, and printed `output`."""
    session = found.session
    options = session.options
    flash = {address: path.resolve() for address, path in options.files}
    walker = Walker(found, candidates(flash, _card(options.sd) if options.sd else {}))
    walker.walk()
    system, gc = session.tracer.began
    begin = {
        record.GC: Level(gc.total, gc.free, gc.largest),
        record.HEAP: heap_level(
            {c.address: (c.size, 0, 0) for c in system.used}, system.base, system.end, system.end
        ),
    }
    return replace(
        _begun(found, _end(found, output, walker), walker.times),
        begin=begin,
        steps=tuple(walker.steps),
        left_out=walker.left_out,
        lines=_lines(found, walker),
        least=_least(found, walker),
        growth=_growth(found, walker),
        caught=_caught(found, walker),
        once=syntax.once(session.source),
        reached=tuple(sorted(walker.reached(session.script.name))),
    )


def _work(found: Profile, pictures: list[int]) -> Work:
    runs = found.session.tracer.times("run")
    at = [bisect_left(runs, time) for time in pictures]
    return Work(at[0] if at else len(runs), tuple(b - a for a, b in zip(at, at[1:])))


def _card(folder: Path) -> dict[str, Path]:
    """{path on the board: file} of a folder that is the card."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {f"/sd/{p.relative_to(folder).as_posix()}": p.resolve() for p in files}


def _lines(found: Profile, walker: Walker) -> tuple[Line, ...]:
    largest: dict[tuple[str, Any], int] = {}
    for (heap, site), nbytes in walker.largest.items():
        key = heap, found.place(site)
        largest[key] = max(largest.get(key, 0), nbytes)
    return tuple(
        Line(
            n.heap,
            walker.named(n.place),
            n.live if n.heap == record.GC and found.fullest else n.at_peak,
            n.at_end,
            n.in_all,
            n.count,
            largest.get((n.heap, n.place), 0),
        )
        for n in found.lines()[:_LINES]
        if n.place not in (EARLIER, UNKNOWN)
    )


def _least(found: Profile, walker: Walker) -> tuple[Least, ...]:
    books, out = found.books, []
    if found.fullest and found.live_peak is not None:
        level = Level(found.gc_total, found.gc_total - found.live_peak, collected=True)
        at = tuple(walker.places(books.fullest.site))
        out.append(Least(record.GC, level, at, walker.pictures_at(found.fullest.time)))
    peak = books.heap.peak
    at = tuple(walker.places(peak.site))
    level = heap_level(books.peak_chunks, books.base, walker.most, walker.most)
    out.append(Least(record.HEAP, level, at, walker.pictures_at(peak.time) if peak.time else 0))
    return tuple(out)


def _growth(found: Profile, walker: Walker) -> tuple[Growth, ...]:
    """As the profiler judges it; all that grow in a heap fill it together."""
    end = found.end
    return tuple(
        Growth(
            g.heap,
            walker.named(g.place),
            round(g.verdict.rate),
            end.rounds + end.left if end and end.heap == g.heap else None,
            g.kind,
        )
        for g in found.leaks
        if round(g.verdict.rate) > 0
    )


def _caught(found: Profile, walker: Walker) -> tuple[record.Caught, ...]:
    session = found.session
    flash = session.board.flash

    def reached() -> Iterator[tuple[str, list[Place], int | None]]:
        for t in session.tracer.thrown(found.names):
            at = walker.places(t.site)
            if at and of_program.is_own(at[0], session.script):
                blank = t.flash if of_program.is_blank(flash, t.flash) else None
                yield of_program.error(t.name, t.argument), at, blank

    return of_program.caught(reached(), session.source)


# --- the end ---


def _overran(found: Profile, output: str) -> bool:
    """Whether the stack of a thread was written past its end, of one that has ended, too."""
    session = found.session
    goes_on = moment.overran(session.board.ram, session.known.threads)
    return _OVERFLOW in output or bool(goes_on) or _damaged_its_stack(found)


def _damaged_its_stack(found: Profile) -> bool:
    """Whether what damaged the system heap is a thread that wrote over the head of its stack."""
    damaged = next(found.session.tracer.of(DAMAGED), None)
    if damaged is None or found.chain(damaged.site)[0].function == MAIN:
        return False
    chunk = damaged.a + _HEAD
    made = (e for e in found.events if e.kind == MALLOC and e.time < damaged.time)
    last = next((e for e in reversed([*made]) if e.a == chunk), None)
    return last is not None and STARTS in found.text(found.place(last.site))


def _end(found: Profile, output: str, walker: Walker) -> End:
    end = _ended(found, output, walker)
    if not _overran(found, output):
        return end
    damaged = next(found.session.tracer.of(DAMAGED), None)
    at = tuple(walker.places(damaged.site)) if damaged and not end.hangs else ()
    return replace(end, at=at or end.at, overflow=True)


def _ended(found: Profile, output: str, walker: Walker) -> End:
    session, outcome = found.session, found.outcome
    trace = outcome.error.replace(str(session.script), session.script.name)
    if outcome.kind in record.HANGING:
        last = _Last(found, walker)
        words = tuple(found.ending)
        device = Missing(record.DEVICE) if session.board.said() else None
        return End(
            outcome.kind,
            last.at,
            refused=last.of_heap(),
            missing=device,
            words=words,
        )
    if outcome.kind == record.RAISED:
        return _raised(found, walker, trace, outcome.kind)
    by_itself = ending.caught(output)
    if by_itself:
        return _raised(found, walker, by_itself, outcome.kind, caught=True)
    at = _stopped(found, walker) if outcome.kind in (record.LIMIT, record.INTERRUPTED) else ()
    return End(outcome.kind, at, status=outcome.status, words=tuple(found.ending))


def _stopped(found: Profile, walker: Walker) -> tuple[Place, ...]:
    """The lines that ran when the run was over: where the Ctrl-C that ended it came, else where
    the board is now."""
    came = _traced(found, found.outcome.limited or found.outcome.error)
    return came or _thrown(found, walker, "KeyboardInterrupt") or _Last(found, walker).at


def _traced(found: Profile, trace: str) -> tuple[Place, ...]:
    """The lines of a traceback, the innermost first."""
    places = ending.places(trace, found.session.script)
    return tuple(_place(found, *place) for place in places)


def _thrown(found: Profile, walker: Walker, name: str) -> tuple[Place, ...]:
    """The lines at which the last error of that name was raised."""
    session, last = found.session, None
    for t in session.tracer.thrown(found.names):
        if t.name == name and (last is None or t.error != last.error):
            last = t
    return tuple(walker.places(last.site)) if last else ()


def _raised(found: Profile, walker: Walker, trace: str, kind: str, *, caught: bool = False) -> End:
    error = ending.last_line(trace)
    at = _traced(found, trace)
    at = at or _thrown(found, walker, error.partition(":")[0])  # the heap had no room for a trace
    refused = None
    if ending.of_memory(error):
        refused = _refused(found, walker, error, at, caught=caught)
    missing = None if refused else ending.missing(error, at)
    if missing:
        missing = of_program.named(missing, at, found.session.source)
    return End(kind, at, error, trace, found.outcome.status, caught, refused, missing)


def _refused(
    found: Profile, walker: Walker, error: str, at: tuple[Place, ...], *, caught: bool
) -> Refused:
    """What an error for want of memory wanted: it says so, or it is the system heap's."""
    asked = ending.asked(error)
    said = ending.no_room(error)
    if said:
        walker.refused_before(at, said[0])
        return Refused(record.HEAP, said[0], Level(found.heap_total, said[1]), at)
    of_heap = None if asked or ending.of_gc(error) else _Last(found, walker).of_heap()
    if of_heap:
        return of_heap
    if asked is None and at:
        asked = walker.most_at(at[0])
    least = next((x.level for x in _least(found, walker) if x.heap == record.GC), None)
    level = least if caught or not walker.raised else walker.raised
    return Refused(record.GC, asked, level, at)


def _place(found: Profile, file: str, line: int, function: str) -> Place:
    lines = found.source(file)
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return Place(file, line, function, text)


class _Last:
    """Where the board is now, and the last allocation of the system heap that got nothing."""

    def __init__(self, found: Profile, walker: Walker) -> None:
        self._found = found
        self.at = tuple(walker.named(found._named(p)) for p in found.session.tracer.here())
        self._places, self._now = walker.places, walker.heap_now

    def of_heap(self) -> Refused | None:
        tried = [
            e for e in self._found.events if e.kind in (MALLOC, REALLOC) and e.asked and not e.a
        ]
        if not tried:
            return None
        site = tried[-1].site
        return Refused(record.HEAP, tried[-1].asked, self._now(), tuple(self._places(site)))
