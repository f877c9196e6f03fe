# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The project of a record: what a run showed, as a plan that can be changed and answered again.

Loads, camera and display are as they were. What is not of these is bytes: of the GC heap the
program's own and its largest buffers, of the system heap what calls took while they ran. What
remains between plan and run is the program's, so that both have as much left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from maixmem_cli.firmware.builds import Firmware
from maixmem_cli.plan.changes import Change, cheapest
from maixmem_cli.plan.fit import Fit, fit, headers
from maixmem_cli.plan.program import project as projects
from maixmem_cli.plan.program.project import Buffer, Call, Camera, Leak, Model, Project
from maixmem_cli.record import record as records
from maixmem_cli.record.record import GC, HEAP, Line, Place, Record
from maixmem_cli.runs import ending
from maixmem_cli.text import toml

_WORTH = 8192  # bytes of a line that has a row of its own
_SCRATCH = 32768  # of a call
_BY_LIBRARY = "maixmem_models"  # what loads models in the program's place


def project(record: Record, build: Firmware) -> Project:
    """The project of a record on that build. ValueError where its model files cannot be read."""
    rows = _Rows(record)
    wanted = Project(
        firmware=build,
        gc_heap=record.board.gc_heap or build.gc_heap,
        program=0,
        order=tuple(rows.order) or projects.STEPS,
        camera=rows.camera,
        lcd=rows.lcd,
        models=tuple(rows.models),
        calls=tuple(_calls(record, rows.lines)),
        buffers=tuple(_buffers(record, rows.lines)),
        leaks=tuple(_leaks(record)),
        manager=_BY_LIBRARY in record.imports,
        pictures=ending.of_picture(record.end.error),  # else the run showed which are taken
    )
    return _as_full(wanted, record)


def cures(record: Record, build: Firmware, only: str = "") -> list[Change]:
    """The cheapest changes (`only`: of one kind) with which the program of a record fits; []
    where it fits as it is, or where none is found."""
    try:
        wanted = project(record, build)
        infos = headers(wanted)
        answer = fit(wanted, infos)
    except (ValueError, OSError):
        return []
    return [] if answer.fits else cheapest(answer, infos, only)[0]


@dataclass
class _Rows:
    """The rows of loads, camera and display, in their order; `lines` are those that they are
    on."""

    record: Record
    order: list[str] = field(default_factory=list)
    camera: Camera | None = None
    lcd: bool = False
    models: list[Model] = field(default_factory=list)
    lines: set[Place] = field(default_factory=set)

    def __post_init__(self) -> None:
        turns = _in_turn(self.record)
        loaded: Counter[_Source] = Counter()
        for step in self.record.steps:
            self.lines.update(step.at[:1])
            if step.kind == records.CAMERA and step.frame:
                self.camera = Camera(step.frame, dual_buff=step.dual_buff)
                self._next("camera")
            elif step.kind == records.WINDOW and step.size and self.camera:
                self.camera = replace(self.camera, windowing=step.size)
            elif step.kind == records.LCD:
                self.lcd = True
                self._next("lcd")
            elif step.kind == records.LOAD and step.model:
                source = _source(step.model)
                loaded[source] += not step.failed
                copies = loaded[source] + step.failed
                self._load(step.model, copies, turn=source in turns)
            elif step.kind == records.FREE and step.model:
                loaded[_source(step.model)] -= 1
        if any(line.heap == GC for line in self.record.lines):
            self._next("buffers")

    def _next(self, step: str) -> None:
        if step not in self.order:
            self.order.append(step)

    def _load(self, model: records.Model, copies: int, *, turn: bool) -> None:
        """A row, where there are not as many of that model as copies of it are loaded."""
        row = Model(
            name=_free(Path(model.file).stem, [m.name for m in self.models]),
            file=Path(model.file),
            address=model.address,
            path=model.path,
            resident=not turn,
            stream=model.method != "load_addr" and not model.path,
        )
        same = [m for m in self.models if replace(m, name=row.name) == row]
        if len(same) >= (1 if turn else copies):
            return
        self.models.append(row)
        self._next("models" if turn else row.name)


_Source = tuple[str, Optional[int], str]


def _source(model: records.Model) -> _Source:
    """What makes two loads loads of the same model."""
    return model.file, model.address, model.path


def _in_turn(record: Record) -> set[_Source]:
    """The models that take turns: freed before a later load, or never loaded beside such a one.
    None where all were loaded at one moment. A load that failed counts where none succeeded."""
    steps = [(s, _source(s.model)) for s in record.steps if s.model]
    succeeded = {source for s, source in steps if s.kind == records.LOAD and not s.failed}
    loaded: set[_Source] = set()
    freed: set[_Source] = set()
    turns: set[_Source] = set()
    together: set[frozenset[_Source]] = set()
    for step, source in steps:
        if step.kind == records.FREE:
            loaded.discard(source)
            freed.add(source)
        elif step.kind == records.LOAD and not (step.failed and source in succeeded):
            turns |= freed
            loaded.add(source)
            together.add(frozenset(loaded))
    every = frozenset().union(*together)
    if every in together and len(every) > 1:
        return set()
    beside = {source for moment in together if moment & turns for source in moment}
    alone = set(every - beside) if turns else set()
    at_once = [moment & alone for moment in together]
    return turns | alone.difference(*(some for some in at_once if len(some) > 1))


def _free(name: str, taken: Iterable[str]) -> str:
    """That name, or with a number behind it."""
    taken = {*taken, *projects.STEPS}
    numbers = (f"{name} {n}" for n in range(2, len(taken) + 3))
    return next(n for n in (name, *numbers) if n not in taken)


def _name(place: Place) -> str:
    text = "".join(c for c in place.text if c.isprintable())
    return f"{place.file}:{place.line}" + (f" {text}" if text else "")


def _named(lines: Iterable[tuple[Place, int]]) -> Iterator[tuple[str, int]]:
    names: list[str] = []
    for place, nbytes in lines:
        names.append(_free(_name(place), names))
        yield names[-1], nbytes


def _calls(record: Record, known: set[Place]) -> Iterator[Call]:
    """Lines that took of the system heap and gave it back."""
    lines = [n for n in record.lines if n.heap == HEAP and _counts(n, known)]
    passing = [(n.place, n.largest) for n in lines if n.largest - n.at_end >= _SCRATCH]
    refused = record.end.refused
    if refused and refused.heap == HEAP and refused.at and refused.at[0] not in known:
        passing = [p for p in passing if p[0] != refused.at[0]]
        passing.append((refused.at[0], refused.asked or 1))
    for name, nbytes in _named(passing):
        yield Call(name, "", (0, 0), nbytes=nbytes)


def _buffers(record: Record, known: set[Place]) -> Iterator[Buffer]:
    """Lines that keep much of a heap, and what got nothing of the GC heap."""
    lines = [n for n in record.lines if n.heap == GC and _counts(n)]
    gc = [(n.place, n.at_peak) for n in lines if n.at_peak >= _WORTH]
    for name, nbytes in _named(gc):
        yield Buffer(name, nbytes)
    for name, nbytes in _named(_held(record.lines, known)):
        yield Buffer(name + ", system heap", nbytes, HEAP)


def _counts(line: Line, known: Collection[Place] = ()) -> bool:
    """Whether it has a row of its own: not the library's, which the plan counts."""
    return line.place not in known and not line.place.file.startswith("maixmem")


def _held(lines: Iterable[Line], known: set[Place]) -> Iterator[tuple[Place, int]]:
    for n in lines:
        if n.heap == HEAP and _counts(n, known) and n.at_end >= _SCRATCH:
            yield n.place, n.at_end


def _leaks(record: Record) -> Iterator[Leak]:
    """What goes on growing, where the loop goes on."""
    if record.end.kind != records.LIMIT:
        return
    for n, g in enumerate(record.growth):
        name = _name(g.place) + (f" ({n})" if n else "")
        yield Leak(name, max(1, g.each), record.counted, g.heap)


# --- as full as the run ---


def _as_full(wanted: Project, record: Record) -> Project:
    """With so many bytes for the program and for what is not known of the system heap that the
    plan has as much left as the run had."""
    answer = fit(replace(wanted, leaks=()), headers(wanted))
    refused = record.end.refused
    least = record.least_of(GC)
    left = least.level.free if least else None
    if refused and refused.heap == GC and refused.level:
        left = refused.level.free if refused.level.largest is None else refused.level.largest
        asked = max(refused.asked or 0, left + 1)  # else it would have got them
        name = _name(refused.at[0]) if refused.at else "what got nothing"
        names = [b.name for b in wanted.buffers]
        last = Buffer(_free(name + ", refused", names), asked)
        wanted = replace(wanted, buffers=(*wanted.buffers, last), order=_with(wanted, "buffers"))
    if left is not None:
        wanted = replace(wanted, program=max(0, _left(answer, "gc") - left))
    behind = record.least_of(HEAP)
    if behind and behind.level.heap_free is not None and not (refused and refused.heap == HEAP):
        more = _left(answer, "heap") - behind.level.heap_free
        if more > 0:
            rest = Buffer("the rest of the system heap's", more, HEAP)
            wanted = replace(
                wanted, buffers=(*wanted.buffers, rest), order=_with(wanted, "buffers")
            )
    return wanted


def _with(wanted: Project, step: str) -> tuple[str, ...]:
    return wanted.order if step in wanted.order else (*wanted.order, step)


def _left(answer: Fit, region: str) -> int:
    """The least that the plan has left of a heap."""
    steps = [s for s in answer.steps if s.region == region]
    return min((s.free - s.peak for s in steps), default=0)


# --- as a file ---


def text(wanted: Project, script: str, firmware: str, folder: Path) -> str:
    """The project.toml of a project; files are named as seen from a folder."""
    top: dict[str, Any] = {
        "firmware": firmware,
        "gc_heap": wanted.gc_heap,
        "program": wanted.program,
        "manager": wanted.manager,
        "pictures": wanted.pictures,
        "order": list(wanted.order),
        "lcd": wanted.lcd,
    }
    tables: list[tuple[str, dict[str, Any]]] = []
    for m in wanted.models:
        row: dict[str, Any] = {"name": m.name, "file": _file(m.file, folder)}
        row["path" if m.address is None else "address"] = m.path or m.address
        tables.append(("[[model]]", {**row, "resident": m.resident, "stream": m.stream}))
    for call in wanted.calls:
        tables.append(("[[call]]", {"name": call.name, "nbytes": call.nbytes}))
    for kind in ("buffer", "leak"):
        tables += [(f"[[{kind}]]", vars(b)) for b in getattr(wanted, kind + "s")]
    camera = wanted.camera
    if camera:
        row = {"size": camera.size, "windowing": camera.windowing, "dual_buff": camera.dual_buff}
        tables.insert(0, ("[camera]", {k: v for k, v in row.items() if v is not None}))
    return toml.write(f"What a run of {script} took, for what-if: maixmem fit", top, tables)


def _file(path: Path, folder: Path) -> str:
    try:
        return path.relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.as_posix()
