# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Whether a project fits a K210 board: the device's own arithmetic, step by step in the order of the program."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import maixmem_k210_heap as heap
import maixmem_kmodel
from maixmem import hexa
from maixmem_budget import k210_budget
from maixmem_flash import IMAGE_EXTRA, FlashMap
from maixmem_image import camera_bytes, image_bytes, lcd_bytes

from maixmem_cli.firmwares import FIRMWARES
from maixmem_cli.project import Model, Pool, Project

_OBJECT = 64  # bytes of GC heap of an image object, beside its pixels


@dataclass(frozen=True)
class Step:
    """One claim: `need` bytes stay, `peak` must be free at that moment, `free` are, of `total` in that region."""

    what: str
    region: str
    need: int
    peak: int
    free: int
    total: int
    turn: bool = False  #: freed again before the next model that takes turns

    @property
    def fits(self) -> bool:
        return self.peak <= self.free


@dataclass
class Fit:
    """The answer for one project."""

    project: Project
    steps: list[Step] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  #: models that can never run there, and why
    flash: list[str] = field(default_factory=list)  #: bytes of flash with two owners
    risks: list[str] = field(
        default_factory=list
    )  #: bytes that flashing another region may overwrite
    turns: list[str] = field(default_factory=list)  #: models that must take turns

    @property
    def fits(self) -> bool:
        return not self.refused and not self.flash and all(s.fits for s in self.steps)

    def peak(self, region: str) -> int:
        """The most bytes of a region in use at any moment."""
        return max(
            (s.total - s.free + s.peak for s in self.steps if s.region == region), default=0
        )

    def to_dict(self) -> dict[str, Any]:
        steps = [{**vars(s), "fits": s.fits} for s in self.steps]
        return {
            "firmware": self.project.firmware,
            "gc_heap": self.project.gc_heap,
            "fits": self.fits,
            "steps": steps,
            "peak": {r: self.peak(r) for r in ("gc", "heap")},
            "turns": self.turns,
            "refused": self.refused,
            "flash": self.flash,
            "risks": self.risks,
        }


# Walks the steps of one project with a Budget; reads each model's header once and keeps it in `infos`.
class _Walk:
    def __init__(self, project: Project, infos: dict[str, Any]) -> None:
        self.fit = Fit(project)
        self.infos = infos
        self.build = FIRMWARES[project.firmware]
        self.budget = k210_budget(self.build.heap, project.gc_heap, self.build.gc_heap)

    def run(self) -> Fit:
        project = self.fit.project
        self.claim("program", {"gc": project.program})
        for step in project.order:
            getattr(self, step)()
        self.look_at_flash()
        return self.fit

    def claim(
        self,
        what: str,
        need: dict[str, int],
        peak: dict[str, int] | None = None,
        turn: bool = False,
    ) -> None:
        self.budget.add(what, need, peak)
        for name, region, n, most, free in self.budget.rows[len(self.fit.steps) :]:
            self.fit.steps.append(
                Step(name, region, n, most, free, self.budget.total[region], turn)
            )

    def camera(self) -> None:
        camera = self.fit.project.camera
        if camera:
            self.claim("camera", {"heap": camera_bytes(*camera.size, camera.dual_buff)})

    def lcd(self) -> None:
        if self.fit.project.lcd:
            self.claim("lcd", {"heap": lcd_bytes(*self.fit.project.lcd)})

    def pools(self) -> None:
        for pool in self.fit.project.pools:
            self.claim(pool.name, {"gc": pool_bytes(pool)})

    def models(self) -> None:
        turning = []
        for model in self.fit.project.models:
            why = self.refuse(model)
            if why:
                self.fit.refused.append(f"{model.name}: {why}")
            elif model.resident:
                self.claim(model.name, *self.cost(model))
            else:
                turning.append(model)
        if not self.all_fit(turning):
            self.take_turns(turning)

    def all_fit(self, models: list[Model]) -> bool:
        """Claims all for good when they fit beside each other."""
        trial = copy.deepcopy(self.budget)
        if not all(trial.add(m.name, *self.cost(m)) for m in models):
            return False
        for model in models:
            self.claim(model.name, *self.cost(model))
        return True

    def take_turns(self, models: list[Model]) -> None:
        before = dict(self.budget.free)
        most = 0
        for model in models:
            self.budget.free = dict(before)
            self.claim(model.name, *self.cost(model), turn=True)
            most = max(most, before["heap"] - self.budget.free["heap"])
            self.fit.turns.append(model.name)
        self.budget.free = {**before, "heap": before["heap"] - most}

    def refuse(self, model: Model) -> str | None:
        info = copy.copy(self.infos[model.name])
        if model.stream:
            info.swapped = (
                True  # the file on the desk is the plain one; what goes into flash is swapped
            )
        return info.refuse(self.build.capabilities(), model.how)

    def cost(self, model: Model) -> tuple[dict[str, int], dict[str, int]]:
        """({heap: bytes that stay}, {heap: bytes that heap_free() must have, the manager's margin included})."""
        pieces = heap.mallocs(self.infos[model.name], model.how, model.path or "/flash/")
        kept = sum(heap.chunk(n) for n, passing, _ in pieces if not passing)
        return {"heap": kept}, {"heap": heap.grow(pieces, (), 0)[0]}

    def look_at_flash(self) -> None:
        table = FlashMap()
        table.add(f"firmware {self.build.name}", 0, self.build.image + IMAGE_EXTRA, "firmware")
        for model in self.fit.project.models:
            if model.address is not None:
                table.add(f"model {model.name}", model.address, model.file.stat().st_size, "model")
        self.fit.flash = [str(c) for c in table.conflicts()]
        self.fit.flash += [
            f"{r.name} at {hexa(r.start)}: flashers refuse it, not a multiple of 4096"
            for r in table.unaligned()
        ]
        self.fit.risks = [str(c) for c in table.risks()]


def pool_bytes(pool: Pool) -> int:
    """The GC heap that an ImagePool takes. A gray image keeps the rgb565 block that it was made from."""
    one = image_bytes(*pool.size, "rgb565") + _OBJECT
    if pool.ai:
        one += image_bytes(*pool.size, f"{pool.format}_ai")
    return pool.count * one


def headers(project: Project) -> dict[str, Any]:
    """The KModel of each model by name; KModelError names the file."""
    found = {}
    for model in project.models:
        try:
            found[model.name] = maixmem_kmodel.read_info(str(model.file))
        except maixmem_kmodel.KModelError as e:
            raise maixmem_kmodel.KModelError(f"{model.file}: {e}") from None
    return found


def fit(project: Project, infos: dict[str, Any] | None = None) -> Fit:
    """The answer for a project. ValueError when its GC heap leaves no system heap at all."""
    return _Walk(project, headers(project) if infos is None else infos).run()
