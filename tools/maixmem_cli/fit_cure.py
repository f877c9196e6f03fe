# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The smallest changes that make a project fit: every single change, then pairs, then threes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, Callable, Iterator

from maixmem import hexa, kib
from maixmem_flash import IMAGE_EXTRA, FlashMap
from maixmem_k210_limits import MIN_GC

from maixmem_cli.firmwares import FIRMWARES
from maixmem_cli.fit import Fit, fit, pool_bytes
from maixmem_cli.project import Project

_STEP = 16 << 10
_MOST = 3
_TRIES = 10000  # groups of changes, a few seconds; a project of ten models and pools has fewer


@dataclass(frozen=True)
class Change:
    """One change to a project, in words; `kind` is what may be changed once only."""

    kind: str
    text: str
    apply: Callable[[Project], Project]


def changes(answer: Fit) -> Iterator[Change]:
    """The single changes that could help, those that cost the least first."""
    project = answer.project
    yield from _moves(project)
    for order in itertools.permutations(project.order):
        if order != project.order:
            yield Change(
                "order", "make them in the order " + ", ".join(order), _setter(order=order)
            )
    yield from _gc_heaps(answer)
    if project.camera and project.camera.dual_buff:
        single = replace(project.camera, dual_buff=False)
        yield Change("camera", "camera with dual_buff=False", _setter(camera=single))
    for i, model in enumerate(project.models):
        if model.resident:
            yield Change(
                model.name,
                f"let {model.name} take turns (resident = false)",
                _row("models", i, resident=False),
            )
    for name in sorted(FIRMWARES, key=lambda n: FIRMWARES[n].heap):
        if FIRMWARES[name].heap > FIRMWARES[project.firmware].heap or _v4_helps(answer, name):
            yield Change("firmware", f"firmware {name}", _setter(firmware=name))
    for i, pool in enumerate(project.pools):
        for count in _counts(answer, i):
            text = f"pool {pool.name} with {count} instead of {pool.count}"
            yield Change("pool " + pool.name, text, _row("pools", i, count=count))
    for i, model in enumerate(project.models):
        if not model.stream and model.address is not None:
            text = f"stream {model.name} from flash (kpu.load_flash, slower; a word-swapped copy in flash)"
            yield Change(model.name, text, _row("models", i, stream=True))


def cure(answer: Fit, infos: dict[str, Any]) -> tuple[list[Change], Fit | None]:
    """The fewest changes that make it fit and the answer then; ([], None) when none of those that are tried do."""
    single = list(changes(answer))
    groups = (
        group
        for n in range(1, _MOST + 1)
        for group in itertools.combinations(single, n)
        if len({c.kind for c in group}) == n
    )
    for group in itertools.islice(groups, _TRIES):
        after = _after(answer, group, infos)
        if after is not None and after.fits:
            return list(group), after
    return [], None


def _after(answer: Fit, group: tuple[Change, ...], infos: dict[str, Any]) -> Fit | None:
    project = answer.project
    for change in group:
        project = change.apply(project)
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


def _counts(answer: Fit, i: int) -> list[int]:
    """The largest counts of a pool that fit, in each GC heap that could be, beside the others as they are or of 1; and 1."""
    project = answer.project
    pool = project.pools[i]
    one = pool_bytes(replace(pool, count=1))
    others = [p for p in project.pools if p is not pool]
    beside = (sum(map(pool_bytes, others)), sum(pool_bytes(replace(p, count=1)) for p in others))
    rooms = [size * 1024 // 1036 - project.program for size in (project.gc_heap, *_sizes(answer))]
    counts = {1, *((room - taken) // one for room in rooms for taken in beside)}
    return sorted((n for n in counts if 0 < n < pool.count), reverse=True)


def _gc_heaps(answer: Fit) -> Iterator[Change]:
    """Sizes of the GC heap that make up what is missing."""
    for size in _sizes(answer):
        yield Change(
            "gc_heap",
            f"gc_heap = {size} ({kib(size)}): maixmem.set_gc_heap({size}), then machine.reset()",
            _setter(gc_heap=size),
        )


def _sizes(answer: Fit) -> list[int]:
    """Sizes of the GC heap that could help, the nearest first, none below 64 KiB."""
    missing = {
        r: max((s.peak - s.free for s in answer.steps if s.region == r), default=0)
        for r in ("gc", "heap")
    }
    now = answer.project.gc_heap
    wanted = sum(s.need for s in answer.steps if s.region == "gc") * 1036 // 1024
    sizes = [
        (now - missing["heap"]) // _STEP * _STEP,
        -(-(now + missing["gc"] * 1036 // 1024) // _STEP) * _STEP,
        -(-wanted // _STEP) * _STEP,
    ]
    return sorted({s for s in sizes if s != now and s >= MIN_GC}, key=lambda s: abs(s - now))


def _v4_helps(answer: Fit, name: str) -> bool:
    return (
        bool(answer.refused) and FIRMWARES[name].v4 and not FIRMWARES[answer.project.firmware].v4
    )


def _moves(project: Project) -> Iterator[Change]:
    """Moves all models that collide in flash to free addresses, as one change, for the build of the project."""
    build = FIRMWARES[project.firmware]
    table = FlashMap()
    table.add("firmware", 0, build.image + IMAGE_EXTRA, "firmware")
    placed = {m.name: m for m in project.models if m.address is not None}
    for model in placed.values():
        table.add(model.name, model.address, model.file.stat().st_size, "model")
    if not table.conflicts() and not table.unaligned():
        return
    try:
        plan = [(r.name, start) for r, start in table.moves()]
    except ValueError:
        return
    target = dict(plan)
    rows = tuple(replace(m, address=target.get(m.name, m.address)) for m in project.models)
    text = ", ".join(f"flash {name} at {hexa(start)}" for name, start in plan)
    yield Change("flash", text, _setter(models=rows))
