# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One run of a script on a firmware for somebody who compares: how it ended, and what it left."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from maixmem_cli.emulator.readers import heaps, tracer
from maixmem_cli.emulator.session import DONE, LIMIT, Options, Session
from maixmem_cli.profiler import explain


@dataclass(frozen=True)
class Trial:
    """`why`: lines for people where it did not end well. Bytes: the most of the system heap in
    use, what was left then, and the free GC heap at the end; None where that cannot be read."""

    kind: str
    why: tuple[str, ...] = ()
    peak: int | None = None
    left: int | None = None
    gc_free: int | None = None

    @property
    def good(self) -> bool:
        return self.kind in (DONE, LIMIT)


def run(image: Path, script: Path, source: str, options: Options) -> Trial:
    """Runs the text as that script: modules beside it are found."""
    with tempfile.TemporaryDirectory() as temp:
        copy = Path(temp) / script.name
        copy.write_text(source, encoding="utf-8")
        for beside in script.parent.glob("*.py"):
            if beside.name != script.name:
                (Path(temp) / beside.name).write_bytes(beside.read_bytes())
        with Session(image, copy, options) as session:
            session.trace(gc=False)
            start = _used(session)
            outcome = session.run(lambda text: None)
            if outcome.kind in (DONE, LIMIT):
                why: list[str] = []
            else:
                lines = [x for x in outcome.error.strip().splitlines() if x.strip()]
                why = [*lines[-3:], *explain.ending(session, outcome)]
            session.tracer.where()
            peak = start and start + _grown(session)
            room = _room(session) if peak else None
            return Trial(outcome.kind, tuple(why), peak, room and room - (peak or 0), _gc(session))


def _used(session: Session) -> int | None:
    try:
        return sum(c.size for c in session.finder.system(session.board.ram).used)
    except heaps.NotFound:
        return None


def _room(session: Session) -> int:
    """Bytes of the system heap, used and free."""
    heap = session.finder.system(session.board.ram)
    return heap.end - heap.base + heap.heap_free


def _gc(session: Session) -> int | None:
    try:
        return session.finder.gc(session.board.ram).free
    except heaps.NotFound:
        return None


def _grown(session: Session) -> int:
    """The most bytes that the script had of the system heap."""
    held: dict[int, int] = {}
    now = most = 0
    for e in session.tracer.events():
        if e.kind in (tracer.MALLOC, tracer.REALLOC) and e.a:
            now += e.size - held.pop(e.old if e.kind == tracer.REALLOC else e.a, 0)
            held[e.a] = e.size
        elif e.kind == tracer.FREE:
            now -= held.pop(e.a, 0)
        most = max(most, now)
    return most
