# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The record of a run on the stand-in, from its own books.

The script runs twice. The first run is as it is: how it ended and what it did counts. In the
second its lines say that they begin, and garbage is collected before each reading: it gives lines
and what is in use, where it did the same as the first.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from k210_model.frame_sizes import SIZES
from k210_model.gc_heap import BLOCK

from maixmem_cli.emulator.session import Options, imported
from maixmem_cli.profiler import growth
from maixmem_cli.profiler.unbounded import added_to
from maixmem_cli.record import record
from maixmem_cli.record.record import (
    Board,
    Caught,
    End,
    Growth,
    Least,
    Level,
    Line,
    Missing,
    Model,
    Place,
    Record,
    Refused,
    Step,
)
from maixmem_cli.runs import caught as of_program
from maixmem_cli.runs import ending, run_standin, tracing
from maixmem_cli.runs.enclosed import SCRIPT
from maixmem_cli.runs.loads import candidates, nearest
from maixmem_cli.text import reading, syntax

_, _LOAD, _FREE, _CAMERA, _WINDOW, _LCD, _REFUSED, _THREAD, _NO_ROOM = range(9)
_KINDS = {
    _LOAD: record.LOAD,
    _FREE: record.FREE,
    _CAMERA: record.CAMERA,
    _WINDOW: record.WINDOW,
    _LCD: record.LCD,
    _THREAD: record.THREAD,
}
#: bytes by which its figures of the GC heap may differ from a board's
WITHIN = 8192
_METHODS = ("load_addr", "load_path", "stream_single")
_HUNG = 3  # exit status
_LAST = 8  # a part of the looks
_BUSY = 5  # times the seconds that the run with its lines has, where the first took all pictures
_PICTURE = 1 / 15  # seconds of one buffer, where the round takes as long as a picture
_ONE = "\x1e"  # begins each error that was caught
_AT = re.compile(r"maixmem: (?:at|   called by) (.+?):(\d+)(?:: .*| .*)?$", re.MULTILINE)
_NO_BOOT = ("no boot with a GC heap", "it does not come to its prompt")
_LACKS = re.compile(r"the simulator does not have (\S+)")
_NAMES = {size: name for name, size in reversed([*SIZES.items()])}
_NO_LINES = "the line of each step: with lines that say that they begin it ran otherwise"
_NO_HANDLERS = "which errors it caught itself: likewise"


def looked(script: Path, build: str, options: Options) -> tuple[Record, list[int], list[int]]:
    """A run for what is in use: its record, the rounds that were looked at, the bytes in use then.
    WrongUse where there is no stand-in that is enclosed."""
    source = reading.script(script)
    job = _job(script, source, build, options)
    run = _Run(replace(job, source=tracing.marked(source), marked=True, by_rounds=True))
    told = _Told(run, run, source, options)
    used = [told.gc_total - free for _, free in told.looks()]
    return told.record(), [n for n, _ in told.looks()], used


def run(
    script: Path,
    build: str,
    options: Options,
    *,
    brief: bool = False,
    detail: bool = False,
    lingers: str = "",
) -> Record:
    """Runs the script on the stand-in with a build's memory; `brief`: once, where it ends in an
    error or hangs, without its lines; `detail`: JPEGs are as large as of pictures full of it;
    `lingers` (run_standin.LINGERS): a picture that it lost lies there. WrongUse where there is
    none that is enclosed."""
    source = reading.script(script)
    job = replace(_job(script, source, build, options), detail=detail, lingers=lingers)
    first = _Run(job)
    if brief and first.status:
        return _Told(first, None, source, options).record()
    second = None  # its last pictures are looked at line by line
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        frames = job.frames if first.limit or not first.rounds else first.rounds + 1
        busy = _BUSY if first.rounds == job.frames else 1
        seen = replace(job, source=tracing.marked(source), marked=True, frames=frames)
        second = _Run(replace(seen, works=job.works and busy * job.works))
        first = second if first.cut else first  # whose loops look at the clock
    same = second if second and first.same(second) else None
    last = second.line if second and second.status == first.status else 0
    return _Told(first, same, source, options, last).record()


def _job(script: Path, source: str, build: str, options: Options) -> run_standin.Job:
    """Its seconds are of both clocks, and the board's has those of its pictures besides: nobody
    waits for them, and their number is to end the run."""
    job = run_standin.Job(script.resolve(), source, build, dict(options.files), record=True)
    job.board_heap = options.gc_heap or job.board_heap
    job.frames, job.works, job.begin = options.frames, options.seconds, options.begin
    job.seconds = options.seconds and options.seconds + _PICTURE * (options.frames or 0)
    job.card = options.sd is not None
    if options.sd:
        found = (p for p in sorted(options.sd.rglob("*")) if p.is_file())
        job.files = {f"/sd/{p.relative_to(options.sd).as_posix()}": str(p) for p in found}
    return job


class _Run:
    """One run: its output, its status, its figures; these are of a stranger's process."""

    def __init__(self, job: run_standin.Job) -> None:
        self.job = job
        said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            self.status, told, self.cut = run_standin.execute(job)
        text = said.buffer.getvalue().decode(errors="replace")  # type: ignore[attr-defined]
        self.text = text.replace(str(job.script), job.script.name)
        self.figures: dict[str, Any] = {}
        self.rows: list[tuple[int, ...]] = []
        self.sources: list[int | str | None] = []
        self.lines: list[tuple[int, ...]] = []
        self.least: tuple[int, ...] = ()
        self.starved: tuple[int, ...] = ()  #: free bytes, and in one piece, at its memory error
        self.caught = ""
        self.came: set[str] = set()  #: files that it missed first, and read later
        self.rounds, self.line, self.limit, self.statements = 0, 0, False, 0
        self.ran: tuple[int, ...] = ()  #: lines
        self.packs = False  #: it made a JPEG
        self.loops: list[_Loop] = []
        self.pictures: list[_Loop] = []  #: one, as if they were rounds
        with contextlib.suppress(Exception):  # any: it may be forged
            if not self.cut:
                self._take(run_standin.figures(told))

    def _take(self, figures: dict[str, Any]) -> None:
        told = figures["record"]
        rows = [_numbers(row, 8) for row in told["rows"]]
        lines = [_numbers(row, 5) for row in told["lines"]]
        least = _numbers(told["least"], 6)
        sources = [s if type(s) in (int, str) else None for s in told["sources"]]
        heap = {name: _numbers((n,), 1)[0] for name, n in figures["heap"].items() if name in _HEAP}
        gc = {name: _numbers((n,), 1)[0] for name, n in figures["gc"].items()}
        if figures["refused"]:
            self.starved = _numbers(figures["refused"], 2)
        self.figures = {"heap": heap, "gc": gc, "seconds": float(figures["seconds"])}
        self.rows, self.lines, self.least, self.sources = rows, lines, least, sources
        counts = (told["rounds"], told["line"], told["statements"])
        self.rounds, self.line, self.statements = _numbers(counts, 3)
        self.ran = _numbers(told["ran"], len(told["ran"]))
        self.limit = told["limit"] is True
        self.packs = told["packs"] is True
        self.loops = [_loop(x) for x in told["loops"]]
        self.pictures = [_loop(x) for x in told["pictures"]]
        self.came = {name for name in told["came"] if isinstance(name, str)}
        self.caught = told["caught"].decode() if type(told["caught"]) is bytes else ""

    def same(self, other: _Run) -> bool:
        """Whether another run did the same."""
        did = [[row[:2] for row in r.rows if row[0] != _FREE] for r in (self, other)]
        return self.status == other.status and did[0] == did[1]

    def loop(self) -> _Loop | None:
        """The outermost loop that went on when the run ended, of a script that takes no
        pictures."""
        if self.rounds or not (self.limit or self.status):
            return None
        return next((x for x in self.loops if not x.ended), None)


@dataclass(frozen=True)
class _Loop:
    """How often a loop went round. `looks`: (round, free bytes of the GC heap then)."""

    rounds: int
    ended: bool
    looks: tuple[tuple[int, int], ...]


def _loop(told: Any) -> _Loop:
    _, passed, ended = _numbers(told[:3], 3)
    looks = _numbers(told[3], len(told[3]))
    return _Loop(passed, bool(ended), tuple(zip(looks[::2], looks[1::2])))


_HEAP = ("used", "free", "largest", "heap_free", "lowest")


def _numbers(row: Any, count: int) -> tuple[int, ...]:
    """Numbers that a script may have forged, or ValueError."""
    found = tuple(int(n) for n in row if isinstance(n, int))
    if len(found) != count or any(abs(n) > 1 << 40 for n in found):
        raise ValueError("not what the stand-in tells")
    return found


def _keeps_most(kept: dict[int, int]) -> int:
    """The line that keeps most after whole rounds, of {line: bytes that it left more}: what a
    line frees is taken from the one that took just that, the nearer of two, else from those that
    took most."""
    left = {line: n for line, n in kept.items() if n > 0}
    for n, at in sorted((-n, line) for line, n in kept.items() if n < 0):
        freed = n
        while freed and left:
            near = [(n, abs(line - at), line) for line, n in left.items() if n >= freed]
            line = min(near)[2] if near else max(left, key=left.__getitem__)
            taken = min(freed, left[line])
            freed -= taken
            left[line] -= taken
            if not left[line]:
                del left[line]
    return max(left, key=left.__getitem__, default=0)


def _without_loops(kept: dict[int, int], tree: ast.Module) -> dict[int, int]:
    """The same; what a for statement seems to keep is what it went through: its body's last line
    seems to have freed it, the one of its ends that keeps most, else the last."""
    found = dict(kept)
    for line, ends in tracing.goes_through(tree):
        if found.get(line, 0) > 0:
            end = max(ends, key=lambda n: (found.get(n, 0), n))
            found[end] = found.get(end, 0) + found.pop(line)
    return found


def _in_function(line: int, kept: dict[int, int], tree: ast.Module) -> int:
    """The same, or, where that adds to nothing, the line of a function that does: what the
    arguments of a call took is freed behind its last line, which seems to keep less than none."""
    adds = {n.lineno for n in ast.walk(tree) if added_to(n)}  # type: ignore[attr-defined]
    ends = {
        n
        for end in tracing.functions(tree)
        for n in end
        if -kept.get(line, 0) < kept.get(n, 0) < 0
    }
    return line if line in adds else min(adds & ends, key=kept.__getitem__, default=line)


class _Told:
    """Two runs of a script as one record."""

    def __init__(
        self, first: _Run, second: _Run | None, source: str, options: Options, last: int = 0
    ) -> None:
        """`last`: the line at which the run that had its lines ended, as this one did."""
        self.first, self.second, self.options, self.last = first, second, options, last
        self.script = first.job.script
        self.source = source
        gc, heap = (first.figures.get(name, {}) for name in ("gc", "heap"))
        self.gc_total = gc["used"] + gc["free"] if gc else 0
        self.heap_total = heap["used"] + heap["free"] if heap else 0

    def record(self) -> Record:
        run, figures = self.first, self.first.figures
        end = self.end()
        seen = self.second or run
        loop = seen.loop()
        rounds = loop.rounds if loop else run.rounds
        return Record(
            script=self.script.name,
            board=Board(
                record.STAND_IN,
                run.job.firmware,
                build=run.job.firmware,
                gc_heap=run.job.board_heap,
                flash={f"{a:#x}": str(p) for a, p in run.job.flash.items()},
                card=dict(run.job.files) if run.job.card else None,
            ),
            end=end,
            pictures=run.rounds,
            rounds=loop.rounds if loop else None,
            asked=self.options.frames,
            seconds=round(figures.get("seconds", 0.0), 3),
            steps=tuple(self.steps(seen, end)),
            lines=tuple(self.lines(seen)),
            least=tuple(self.least(seen)),
            growth=tuple(self.growth()),
            settled=self.settled(),
            once=syntax.once(self.source),
            reached=self.second.ran if self.second else None,
            caught=self.caught(seen),
            too_few=run.limit and (rounds < growth.LEAST or self.judged().kind == growth.FEW),
            imports=tuple(sorted(m for m in imported(self.source) if m[:7] == "maixmem")),
            unknown=() if self.second else (_NO_LINES, _NO_HANDLERS),
            statements=self.second.statements if self.second else 0,
            packs=run.packs,
        )

    def place(self, line: int, file: str = "", function: str = "") -> Place:
        name = file or self.script.name
        lines = self.source.splitlines() if name == self.script.name else []
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        return Place(name, line, function, text)

    def at(self, line: int) -> tuple[Place, ...]:
        return (self.place(line),) if line else ()

    # --- what it did ---

    def steps(self, seen: _Run, end: End) -> Iterator[Step]:
        for i, row in enumerate(seen.rows):
            if row[0] in _KINDS:
                yield self.step(i)
        said = ending.no_room(end.error)
        if said:  # the library refused a load, which did not begin
            job = self.first.job
            card = {path: Path(file) for path, file in job.files.items()}
            best = nearest(candidates(job.flash, card), said[0], lambda c: 0)
            if best:
                yield Step(record.LOAD, end.at, self.first.rounds, True, model=best.model)

    def step(self, i: int) -> Step:
        seen = self.second or self.first
        kind, a, b, c, line, rounds, heap_free, gc_free = seen.rows[i]
        more: dict[str, Any] = {}
        if kind in (_LOAD, _FREE):
            more["model"] = self.model(seen.sources[i], a if kind == _LOAD else None, b)
            more["failed"] = kind == _LOAD and not c
            more["nbytes"] = b or None
        elif kind == _THREAD:
            more["nbytes"] = a or None
        else:
            more["size"] = a, b
        if kind == _CAMERA:
            more["frame"] = _NAMES.get((a, b), "")
            more["dual_buff"], more["failed"] = abs(c) == 2, c < 0
        return Step(
            _KINDS[kind],
            self.at(line),
            rounds,
            gc=Level(self.gc_total, gc_free, collected=seen is self.second),
            heap=Level(self.heap_total, heap_free, heap_free=heap_free),
            **more,
        )

    def model(self, source: int | str | None, way: int | None, keeps: int) -> Model | None:
        job = self.first.job
        file: Any = None
        where: dict[str, Any] = {}
        if isinstance(source, int):
            file, where = job.flash.get(source), {"address": source}
        elif isinstance(source, str):
            path = (
                source if source.startswith("/") else f"/{'sd' if job.card else 'flash'}/{source}"
            )
            file, where = job.files.get(path), {"path": path}
        if file is None:
            return None
        method = _METHODS[way] if way is not None else _METHODS["path" in where]
        nbytes = Path(file).stat().st_size
        return Model(
            str(Path(file).resolve()), nbytes, method=method, keeps=keeps or None, **where
        )

    def lines(self, seen: _Run) -> Iterator[Line]:
        for line, count, in_all, largest, _ in seen.lines:
            if count and line:
                yield Line(record.GC, self.place(line), largest, 0, in_all, count, largest)
        for kind, a, b, _, line, *_ in seen.rows:
            taken = {_LOAD: b, _LCD: 2 * a * b}.get(kind, 5 * a * b if kind == _CAMERA else 0)
            if taken and line:
                yield Line(record.HEAP, self.place(line), taken, taken, taken, 1, taken)

    def least(self, seen: _Run) -> Iterator[Least]:
        heap = self.first.figures.get("heap", {})
        gc, line, rounds, _, at, of_heap = seen.least or (1 << 40, 0, 0, 1 << 40, 0, 0)
        if self.second and gc < self.gc_total:
            yield Least(record.GC, Level(self.gc_total, gc, collected=True), self.at(line), rounds)
        if heap:
            lowest = heap["lowest"]
            level = Level(self.heap_total, lowest, lowest, heap_free=lowest)
            yield Least(record.HEAP, level, self.at(at), of_heap)

    def looks(self) -> tuple[tuple[int, int], ...]:
        """(round, free bytes) at the rounds of its loop that were looked at, or at pictures."""
        seen = self.second
        loop = seen and (seen.loop() or next(iter(seen.pictures), None))
        return loop.looks if loop else ()

    def judged(self) -> growth.Verdict:
        """What was in use at these."""
        used = [{BLOCK: (self.gc_total - free) // BLOCK} for _, free in self.looks()]
        return growth.judge([n for n, _ in self.looks()], used)

    def settled(self) -> int | None:
        """The picture up to which it grew, where it does not go on."""
        if not self.first.limit or self.judged().kind not in (growth.FULL, growth.FLAT):
            return None
        rounds = [n for n, _ in self.looks()]
        used = [self.gc_total - free for _, free in self.looks()]
        last = used[-max(1, len(used) // _LAST) :]
        kept = min(last, default=0)  # else what goes soon is taken for it
        at_most = [min(n, kept) for n in used]
        return growth.settled(rounds, used) or growth.settled(rounds, at_most)

    def growth(self) -> Iterator[Growth]:
        """The line that kept most of what grows."""
        seen, looks, found = self.second, self.looks(), self.judged()
        if not seen or found.kind != growth.GROWS:
            return
        kept = {n[0]: n[4] for n in seen.lines}
        tree = syntax.tree(self.source)
        line = _keeps_most(_without_loops(kept, tree)) or self.last
        line = _in_function(line, kept, tree)
        left = growth.rounds_left([found], looks[-1][1])
        dies = None if left is None else looks[-1][0] + left
        yield Growth(record.GC, self.place(line), round(found.rate), dies)

    def caught(self, seen: _Run) -> tuple[Caught, ...]:
        """Errors that came to one of its handlers."""
        reached: list[tuple[str, tuple[Place, ...], int | None]] = []
        name = self.script.name
        for told in seen.caught.replace(SCRIPT, name).split(_ONE)[1:]:
            blank, _, trace = told.partition("\n")
            at = self.trace_places(trace)
            while at and not of_program.is_own(at[0], self.script):
                at = at[1:]
            address = int(blank) if blank.isdecimal() else 0
            reached.append((ending.last_line(trace), at, address or None))
        found = of_program.caught(reached, self.source)
        return tuple(c for c in found if not c.missing or c.missing.name not in seen.came)

    # --- how it ended ---

    def trace_places(self, trace: str) -> tuple[Place, ...]:
        """The lines of a traceback, the innermost first."""
        return tuple(
            self.place(line, file, function)
            for file, line, function in ending.places(trace, self.script)
            if not file.startswith(run_standin.SHIMS)
        )

    def end(self) -> End:
        run = self.first
        if run.status == _HUNG:
            return self.hang()
        trace = ending.caught(run.text)
        if run.status == run_standin.INTERRUPTED or (run.cut and run.status == 1):
            return End(record.INTERRUPTED)  # what it then raised may be of a heap that was locked
        if run.status == 1 and trace:
            return self.raised(trace, record.RAISED)
        if not run.figures:  # it was stopped, and told nothing: nobody knows what it did
            return End(record.INTERRUPTED)
        kind = record.LIMIT if run.limit else record.DONE
        if trace:
            return self.raised(trace, kind)
        at = self.at(self.second.line) if self.second and run.limit else ()
        return End(kind, at, status=run.status)

    def raised(self, trace: str, kind: str) -> End:
        error = ending.last_line(trace)
        at = self.trace_places(trace) or self.at(self.last)  # a full heap keeps no traceback
        caught = kind != record.RAISED
        refused = self.refused(error, at, caught) if ending.of_memory(error) else None
        lacks = _LACKS.search(error)
        missing = Missing(record.MODULE, lacks[1]) if lacks else ending.missing(error, at)
        if missing:
            missing = of_program.named(missing, at, self.source)
        return End(kind, at, error, trace, self.first.status, caught, refused, missing)

    def refused(self, error: str, at: tuple[Place, ...], caught: bool) -> Refused:
        asked = ending.asked(error)
        said = ending.no_room(error)
        if said:
            return Refused(record.HEAP, said[0], Level(self.heap_total, said[1]), at)
        of_heap = None if asked or ending.of_gc(error) else self.of_heap(at)
        if of_heap:
            return of_heap
        of_picture = self.of_picture(at) if ending.of_image(error) else None
        if of_picture:
            return of_picture
        gc = self.first.figures.get("gc")
        found = self.first.starved or (gc and (gc["free"], gc["largest"]))
        level = Level(self.gc_total, found[0], min(found)) if found else None
        if caught:  # what it had is gone
            least = next((x for x in self.least(self.second or self.first)), None)
            level = least.level if least and least.heap == record.GC else None
        return Refused(record.GC, asked, level, at)

    def of_picture(self, at: tuple[Place, ...]) -> Refused | None:
        """The last picture that got nothing of the GC heap, with what was free then."""
        refused = [row for row in self.first.rows if row[0] == _NO_ROOM]
        if not refused:
            return None
        _, wanted, largest, *_, free = refused[-1]
        return Refused(record.GC, wanted, Level(self.gc_total, free, largest), at)

    def of_heap(self, at: tuple[Place, ...]) -> Refused | None:
        """The last allocation of the system heap that got nothing."""
        refused = [row for row in self.first.rows if row[0] == _REFUSED]
        if not refused:
            return None
        free = refused[-1][6]
        return Refused(record.HEAP, refused[-1][1], Level(self.heap_total, free, free), at)

    def hang(self) -> End:
        ours = "maixmem: "
        said = [x[len(ours) :] for x in self.first.text.splitlines() if x.startswith(ours)]
        at = tuple(self.place(int(line), file) for file, line in _AT.findall(self.first.text))
        boots = not any(word.startswith(_NO_BOOT) for word in said)
        kind = record.HANGS if boots else record.NO_START
        return End(kind, at, refused=self.of_heap(at), words=tuple(said))
