# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The cheapest changes that make a project fit.

Each change has a cost for the user: a model that takes turns costs a reload, another firmware
costs what that firmware lacks. Proposals are tried in the order of their cost, and what goes with
a change (a GC heap of another size, say) is found for the project as that change leaves it.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, replace
from typing import Any, Callable, Iterator

from maixmem_flash_check import unaligned
from maixmem_k210_gc import MIN_GC_HEAP, gc_heap_of

from maixmem_cli.answer.tables import remedies, remedy_text
from maixmem_cli.answer.values import Bytes
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.flash import moves
from maixmem_cli.plan.fit import Fit, fit, flash_of
from maixmem_cli.plan.program.project import Project
from maixmem_cli.plan.program.sizes import gc_pool, pool_bytes
from maixmem_cli.runs.change import Values, values_of
from maixmem_cli.text.language import ENGLISH
from maixmem_cli.text.numbers import hexa

GC_HEAP = "gc_heap"  #: the kind of a change of the GC heap
_STEP = 16 << 10
_MOST = 4  # changes of one proposal
_TRIES = 3000  # projects that are judged, a few seconds; one of ten models and pools has fewer


@dataclass(frozen=True)
class Change:
    """One change to a project: the remedy of that `key` with the values of its sentence; `kind` is
    what may be changed once only."""

    kind: str
    key: str
    values: Values
    apply: Callable[[Project], Project]

    @property
    def cost(self) -> int:
        return remedies()[self.key].cost

    def text(self, language: str = ENGLISH) -> str:
        """Its sentence."""
        return remedy_text(self.key, language, **dict(self.values))


def changes(answer: Fit) -> Iterator[Change]:
    """The single changes that could help this project."""
    project = answer.project
    yield from _moves(project)
    yield from _orders(project)
    yield from _turns(project)
    yield from _gc_heaps(answer)
    if project.camera and project.camera.dual_buff:
        single = replace(project.camera, dual_buff=False)
        yield Change("camera", "dual_buff", (), _setter(camera=single))
    for i, pool in enumerate(project.pools):
        for count in _counts(answer, i):
            values = values_of(names=pool.name, count=count, now=pool.count)
            yield Change("pool " + pool.name, "fewer", values, _row("pools", i, count=count))
    for i, model in enumerate(project.models):
        if not model.stream and model.address is not None:
            stream = _row("models", i, stream=True)
            yield Change(model.name, "stream", values_of(names=model.name), stream)
    yield from _firmwares(answer)


def cheapest(
    answer: Fit, infos: dict[str, Any], only: str = ""
) -> tuple[list[Change], Fit | None]:
    """The cheapest changes (`only`: of one kind) that make it fit and the answer then; ([], None)
    when none of those that are tried do."""
    order = itertools.count()
    queue: list[tuple[int, int, list[Change], Fit]] = []
    seen: set[Project] = {answer.project}
    tries = 0

    def expand(cost: int, done: list[Change], now: Fit) -> None:
        nonlocal tries
        for change in changes(now):
            if change.kind in {c.kind for c in done} or (only and change.kind != only):
                continue
            project = change.apply(now.project)
            if project in seen or tries >= _TRIES:
                continue
            seen.add(project)
            tries += 1
            after = _after(project, infos)
            if after is not None:
                heapq.heappush(queue, (cost + change.cost, next(order), [*done, change], after))

    expand(0, [], answer)
    while queue:
        cost, _, done, now = heapq.heappop(queue)
        if now.fits:
            return done, now
        if len(done) < _MOST:
            expand(cost, done, now)
    return [], None


def _after(project: Project, infos: dict[str, Any]) -> Fit | None:
    try:
        return fit(project, infos)
    except ValueError:  # this GC heap does not leave a system heap on that build
        return None


def _setter(**values: Any) -> Callable[[Project], Project]:
    return lambda project: replace(project, **values)


def _row(table: str, i: int, **values: Any) -> Callable[[Project], Project]:
    def apply(project: Project) -> Project:
        rows = list(getattr(project, table))
        rows[i] = replace(rows[i], **values)
        changed: Any = {table: tuple(rows)}
        return replace(project, **changed)

    return apply


def _orders(project: Project) -> Iterator[Change]:
    """Each step of the system heap made first, or last: the order of the others stays."""
    steps = project.steps
    found = set()
    for step in steps:
        rest = [s for s in steps if s != step]
        found |= {(step, *rest), (*rest, step)}
    for order in sorted(found - {steps}):
        yield Change("order", "order", values_of(order=order), _setter(order=order))


def _turns(project: Project) -> Iterator[Change]:
    """One resident model that takes turns, or all of them."""
    names = [m.name for m in project.models if m.resident]
    for name in names:
        yield _turn(project, [name])
    if len(names) > 1:
        yield _turn(project, names)


def _turn(project: Project, names: list[str]) -> Change:
    rows = tuple(replace(m, resident=m.resident and m.name not in names) for m in project.models)
    return Change("turns", "turns", values_of(names=tuple(names)), _setter(models=rows))


def _firmwares(answer: Fit) -> Iterator[Change]:
    """Other builds, those that leave least first, where more memory or V4 would help."""
    now = answer.project.firmware
    v4 = bool(answer.refused) and not now.v4
    for name, build in sorted(FIRMWARES.items(), key=lambda item: item[1].heap or 0):
        if build != now and ((build.heap or 0) > (now.heap or 0) or (v4 and build.v4)):
            values = values_of(firmware=name)
            key = "firmware_v4" if v4 and build.v4 else "firmware"
            yield Change("firmware", key, values, _setter(firmware=build))


def _counts(answer: Fit, i: int) -> list[int]:
    """The largest counts of a pool that fit, in each GC heap that could be, beside the others as
    they are or of 1; and 1."""
    project = answer.project
    pool = project.pools[i]
    one = pool_bytes(replace(pool, count=1))
    others = [p for p in project.pools if p is not pool]
    beside = (sum(map(pool_bytes, others)), sum(pool_bytes(replace(p, count=1)) for p in others))
    fixed = _gc_wanted(answer) - pool_bytes(pool) - beside[0]
    rooms = [gc_pool(size) - fixed for size in (project.gc_heap, *_sizes(answer))]
    counts = {1, *((room - taken) // one for room in rooms for taken in beside)}
    return sorted((n for n in counts if 0 < n < pool.count), reverse=True)


def _gc_wanted(answer: Fit) -> int:
    """The GC heap that all steps together ask for, with what MaixPy has of it at the prompt."""
    steps = [s for s in answer.steps if s.region == "gc"]
    passing = max(s.peak - s.need for s in steps)
    return sum(s.need for s in steps) + passing + steps[0].total - steps[0].free


def _gc_heaps(answer: Fit) -> Iterator[Change]:
    """Sizes of the GC heap that make up what is missing."""
    for size in _sizes(answer):
        values = values_of(gc_heap_wanted=Bytes(size))
        yield Change(GC_HEAP, GC_HEAP, values, _setter(gc_heap=size))


def _sizes(answer: Fit) -> list[int]:
    """Sizes of the GC heap that could help, the nearest first, none below 64 KiB."""
    missing = {
        r: max((s.peak - s.free for s in answer.steps if s.region == r), default=0)
        for r in ("gc", "heap")
    }
    now = answer.project.gc_heap
    sizes = [
        (now - missing["heap"]) // _STEP * _STEP,
        -(-(now + gc_heap_of(missing["gc"])) // _STEP) * _STEP,
        -(-(gc_heap_of(_gc_wanted(answer))) // _STEP) * _STEP,
    ]
    return sorted({s for s in sizes if s != now and s >= MIN_GC_HEAP}, key=lambda s: abs(s - now))


def _moves(project: Project) -> Iterator[Change]:
    """Moves all models that collide in flash to free addresses, as one change, for the build of
    the project."""
    table = flash_of(project)
    if not table.conflicts() and not unaligned(table):
        return
    try:
        plan = [(r.name[len("model ") :], start) for r, start in moves.plan(table)]
    except ValueError:
        return
    target = dict(plan)
    rows = tuple(replace(m, address=target.get(m.name, m.address)) for m in project.models)
    placed = ", ".join(f"{name} at {hexa(start)}" for name, start in plan)
    yield Change("flash", "flash", values_of(placed=placed), _setter(models=rows))
