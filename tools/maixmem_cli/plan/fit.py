# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Whether a project fits a K210 board: its steps in the order of the program, played on the
allocator.

The system heap is the stand-in's, chunk by chunk, after the boot of the firmware. What a model
must find free is what ModelManager asks for before it loads; of kpu.load() itself, what the
firmware takes. The GC heap is counted, without gaps.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import maixmem_kmodel
from k210_model.camera import camera_blocks
from k210_model.heap import Heap
from maixmem_flash import FlashMap
from maixmem_flash_check import unaligned
from maixmem_k210_chip import (
    HELD,
    PAGE,
    SPI_EXTRA,
    TRANSIENT,
    TRIM,
    chunk,
)
from maixmem_k210_fit import TRIM_READ
from maixmem_k210_gc import check_gc_heap
from maixmem_k210_load import file_buffer

from maixmem_cli.kmodel import others
from maixmem_cli.plan.program import scratch
from maixmem_cli.plan.program.picture_size import wrong_sizes
from maixmem_cli.plan.program.project import Call, Model, Project
from maixmem_cli.plan.program.sizes import (
    anew_bytes,
    gc_pool,
    made_bytes,
    pool_bytes,
)
from maixmem_cli.text.numbers import hexa

_VALUE = 40  # of a float in a tuple or list: its object and its place
# GC heap that the library keeps, as .mpy on the firmware (v0.6.2_84 minimum, full, lvgl and V4,
# within 3.5 KiB: the table of names grows in steps): for models and for pools, what each model and
# each pool adds, and what the two have in common. host_tests/bench prints such figures.
_LIBRARY = {"models": (23800, 740), "pools": (17100, 500)}
_IN_COMMON = 10800
_WAITING = 1900  # what lets threads wait for each other in a model manager, where there are any
_EARLY = 8400  # what stands in for calls that early firmware lacks (v0.5.0-98)
# Below these it is tight: reading a page of /flash, which an import does, and a list and a string.
MARGIN = {"heap": 4 * PAGE + SPI_EXTRA + PAGE, "gc": 8192}
_SPACE = 64 << 20  # as much as a step may want here, so that what is missing can be told


@dataclass(frozen=True)
class Step:
    """One claim: `need` bytes stay, `peak` must be free at that moment, `free` are, of `total` in
    that region."""

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
    stays: str = ""  #: the one of them that the steps after find loaded: the largest
    pictures: list[str] = field(default_factory=list)  #: models that no picture here is made for
    dies: dict[str, int] = field(default_factory=dict)  #: leaks: the round that they end

    @property
    def fits(self) -> bool:
        bad = self.refused or self.flash or self.dies
        return not bad and all(s.fits for s in self.steps)

    @property
    def tight(self) -> dict[str, int]:
        """Bytes that a heap has left at its fullest, where that is less than its margin."""
        left: dict[str, int] = {}
        for s in self.steps:
            left[s.region] = min(left.get(s.region, s.total), s.free - s.peak)
        return {r: n for r, n in left.items() if self.fits and n < MARGIN[r]}

    def peak(self, region: str) -> int:
        """The most bytes of a region in use at any moment."""
        return max(
            (s.total - s.free + s.peak for s in self.steps if s.region == region), default=0
        )

    def to_dict(self) -> dict[str, Any]:
        steps = [{**vars(s), "fits": s.fits} for s in self.steps]
        return {
            "firmware": self.project.firmware.name,
            "source": self.project.firmware.source,
            "gc_heap": self.project.gc_heap,
            "fits": self.fits,
            "tight": self.tight,
            "steps": steps,
            "peak": {r: self.peak(r) for r in ("gc", "heap")},
            "turns": self.turns,
            "refused": self.refused,
            "flash": self.flash,
            "risks": self.risks,
            "pictures": self.pictures,
            "dies": self.dies,
        }


# One moment of the program: the allocator with every block that lives, and the bytes of GC heap in
# use. A step is played on a copy, which becomes the moment when the step fits; one that does not
# fit takes nothing, so that those after it are judged as well.
class _Moment:
    def __init__(self, heap: Heap, gc_used: int) -> None:
        self.heap = heap
        self.gc_used = gc_used
        self._room = heap.limit
        heap.limit += _SPACE

    def copy(self) -> _Moment:
        return copy.deepcopy(self)

    @property
    def heap_free(self) -> int:
        return self._room - self.heap.end

    def take(self, sizes: list[int]) -> list[int]:
        """Blocks of these sizes, in this order."""
        return [self.heap.malloc(n) for n in sizes]

    def free(self, blocks: list[int]) -> None:
        for block in blocks:
            self.heap.free(block)


# Plays the steps of one project; reads each model's header once and keeps it in `infos`.
class _Play:
    def __init__(self, project: Project, infos: dict[str, Any]) -> None:
        build = project.firmware
        if build.heap is None:
            build.boot(project.gc_heap)  # raises: an image alone does not tell
        what = f"GC heap of {project.gc_heap} bytes"
        check_gc_heap(what, project.gc_heap, build.heap or 0, build.gc_heap)
        self.answer = Fit(project)
        self.infos = infos
        self.now = _Moment(build.boot(project.gc_heap), build.gc_used)
        self.total = {"heap": self.trimmed().heap_free, "gc": gc_pool(project.gc_heap)}

    def run(self) -> Fit:
        project = self.answer.project
        self.claim_gc("program", project.program)
        common = -_EARLY if project.firmware.early else 0
        for kind, (nbytes, each) in _LIBRARY.items():
            count = len(getattr(project, kind))
            if count and (kind != "models" or project.manager):
                if kind == "models" and project.firmware.threads:
                    nbytes += _WAITING
                self.claim_gc(f"maixmem for {kind}", nbytes + each * count - common)
                common = _IN_COMMON
        models = {m.name: m for m in project.models}
        for step in project.steps:
            if step in models:
                self.stays([models[step]])
            else:
                getattr(self, step)()
        self.loop()
        self.leaks()
        self.look_at_flash()
        if project.pictures:
            self.answer.pictures = wrong_sizes(project, self.infos)
        return self.answer

    # --- the GC heap ---

    def claim_gc(self, what: str, nbytes: int, peak: int = 0) -> None:
        total = self.total["gc"]
        step = Step(what, "gc", nbytes, peak or nbytes, total - self.now.gc_used, total)
        self.answer.steps.append(step)
        if step.fits:
            self.now.gc_used += nbytes

    def pools(self) -> None:
        for pool in self.answer.project.pools:
            self.claim_gc(pool.name, pool_bytes(pool))

    def images(self) -> None:
        for image in self.answer.project.images:
            self.claim_gc(image.name, image.count * made_bytes(image))

    def loop(self) -> None:
        """What each round takes and gives back: the old image lives while the new one is
        allocated."""
        again = [i for i in self.answer.project.images if not i.once]
        if again:
            most = max(again, key=anew_bytes)
            self.claim_gc(f"{most.name}, made anew", 0, anew_bytes(most))
        for call in self.answer.project.calls:
            self.call(call)

    def call(self, call: Call) -> None:
        project = self.answer.project
        file = next((m.file for m in project.models if m.name == call.model), None)
        after = self.now.copy()
        held, least = [], after.heap_free
        try:
            sizes = scratch.blocks(call, project.firmware.scratch, file)
        except (ValueError, OSError) as e:
            self.answer.refused.append(f"{call.name}: {e}")
            return
        for size in sizes:
            if size:
                held.append(after.heap.malloc(size))
            else:
                after.heap.free(held.pop())
            least = min(least, after.heap_free)
        after.free(held[::-1])
        self.claim(call.name, after, 0, self.now.heap_free - least)

    def results(self) -> None:
        for result in self.answer.project.results:
            self.claim_gc(result.name, result.values * _VALUE)

    def buffers(self) -> None:
        for buffer in self.answer.project.buffers:
            if buffer.heap == "gc":
                self.claim_gc(buffer.name, buffer.nbytes)
            else:
                after = self.now.copy()
                after.take([buffer.nbytes])
                peak = self.now.heap_free - after.heap_free
                self.claim(buffer.name, after, buffer.nbytes, peak)

    def leaks(self) -> None:
        """The round in which what is left is used up."""
        left = {"gc": self.total["gc"] - self.now.gc_used, "heap": self.now.heap_free}
        for leak in self.answer.project.leaks:
            self.answer.dies[leak.name] = leak.rounds + left[leak.heap] // leak.nbytes

    # --- the system heap ---

    def claim(self, what: str, after: _Moment, need: int, peak: int, turn: bool = False) -> bool:
        step = Step(what, "heap", need, peak, self.now.heap_free, self.total["heap"], turn)
        self.answer.steps.append(step)
        if step.fits:
            self.now = after
        return step.fits

    def camera(self) -> None:
        camera = self.answer.project.camera
        assert camera is not None
        after = self.imported()
        sizes = camera_blocks(*camera.pixels, camera.dual_buff)
        after.take(sizes)
        self.claim("camera", after, sum(sizes), self.now.heap_free - after.heap_free)

    def lcd(self) -> None:
        """Where the boot has taken the display's buffer already, lcd.init() takes it anew."""
        after = self.imported()
        need = self.answer.project.firmware.lcd
        if need:
            after.take([need])
        self.claim("lcd", after, need, self.now.heap_free - after.heap_free)

    def imported(self) -> _Moment:
        """The moment after an import statement: it looks through /flash, whose pages are read by
        SPI."""
        after = self.now.copy()
        after.free(after.take([4 * PAGE + SPI_EXTRA]))
        return after

    @property
    def trims(self) -> bool:
        """Whether somebody has the free end of the heap given back before a load. A read of flash
        does it: early firmware has none, and a program that calls kpu.load() itself does not."""
        project = self.answer.project
        return project.manager and not project.firmware.early

    def trimmed(self) -> _Moment:
        """The moment after ModelManager had the free end of the heap given back, as it does where
        a load would fail else."""
        after = self.now.copy()
        if after.heap_free > TRIM and self.trims:
            after.free(after.take([4 * TRIM_READ + SPI_EXTRA]))
        return after

    def models(self) -> None:
        resident = [m for m in self.answer.project.unnamed if m.resident]
        turning = [m for m in self.answer.project.unnamed if not m.resident]
        self.stays(resident)
        turning = [m for m in turning if self.possible(m)]
        alone = turning and not self.answer.project.manager  # it frees each before the next
        if alone or not self.stay(turning):
            self.take_turns(turning)

    def stays(self, models: list[Model]) -> None:
        """Each is loaded for good."""
        for model in models:
            if self.possible(model):
                self.load(model)

    def possible(self, model: Model) -> bool:
        """Whether it can ever run there; else why not is kept."""
        why = self.refuse(model)
        if why:
            self.answer.refused.append(f"{model.name}: {why}")
        return not why

    def load(self, model: Model, turn: bool = False) -> list[int]:
        """Claims a model; its blocks, none when it does not fit."""
        buffer = file_buffer(model.path) if model.method == "load_path" else 0
        allocations = self.infos[model.name].allocations(model.method, buffer)
        after = self.now.copy()
        blocks, peak = _load(after, allocations)
        if peak > self.now.heap_free:
            after = self.trimmed()
            given_back = after.heap_free - self.now.heap_free  # heap_free() lacks it until then
            blocks, peak = _load(after, allocations)
            peak -= given_back
        need = sum(chunk(n) for n, kind in allocations if not kind & TRANSIENT)
        return blocks if self.claim(model.name, after, need, peak, turn) else []

    def stay(self, models: list[Model]) -> bool:
        """Claims all for good when they fit beside each other; else nothing."""
        before, steps = self.now, len(self.answer.steps)
        for model in models:
            if not self.load(model):
                self.now = before
                del self.answer.steps[steps:]
                return False
        return True

    def take_turns(self, models: list[Model]) -> None:
        """Each alone; the one that keeps most stays for the steps after, as the worst case."""
        last: list[int] = []
        for model in models:
            self.now = self.now.copy()
            self.now.free(last)
            last = self.load(model, turn=True)
            self.answer.turns.append(model.name)
        self.now = self.now.copy()
        self.now.free(last)
        steps = len(self.answer.steps)
        largest = max(models, key=lambda m: self.infos[m.name].need(m.method) or 0)
        self.answer.stays = largest.name
        self.load(largest)
        del self.answer.steps[steps:]

    def refuse(self, model: Model) -> str | None:
        info = copy.copy(self.infos[model.name])
        if model.stream:
            info.swapped = (
                True  # the file on the desk is the plain one; what goes into flash is swapped
            )
        build = self.answer.project.firmware
        return info.unsupported_reason({**build.capabilities(), "ram": None}, model.method)

    def look_at_flash(self) -> None:
        table = flash_of(self.answer.project)
        self.answer.flash = [str(c) for c in table.conflicts()]
        self.answer.flash += [
            f"{r.name} at {hexa(r.start)}: flashers refuse it, not a multiple of 4096"
            for r in unaligned(table)
        ]
        self.answer.risks = [str(c) for c in table.risks()]


def _load(after: _Moment, allocations: list[tuple[int, int]]) -> tuple[list[int], int]:
    """Loads a model: (the blocks that stay, by how much the heap grew at most)."""
    start = after.heap_free
    kept, held, peak = [], 0, 0
    for nbytes, kind in allocations:
        block = after.heap.malloc(nbytes)
        peak = max(peak, start - after.heap_free)
        if not kind & TRANSIENT:
            kept.append(block)
        elif kind & HELD:
            held = block  # until after the next one that is read
        else:
            after.heap.free(block)
            if held:
                after.heap.free(held)
            held = 0
    return kept, peak


def flash_of(project: Project) -> FlashMap:
    """The flash map of a project: its firmware and the models at addresses."""
    table = FlashMap()
    build = project.firmware
    table.add(f"firmware {build.name}", 0, build.end, "firmware", build.source)
    there = set()
    for model in project.models:
        if model.address is not None and (model.address, model.file) not in there:
            there.add((model.address, model.file))  # once where it is loaded twice
            table.add(f"model {model.name}", model.address, model.file.stat().st_size, "model")
    return table


def headers(project: Project) -> dict[str, Any]:
    """The KModel of each model by name; KModelError names the file."""
    found = {}
    for model in project.models:
        try:
            found[model.name] = maixmem_kmodel.read_info(str(model.file))
        except maixmem_kmodel.KModelError as e:
            other = others.read_other(str(model.file))
            why = f"a .{other.kind} model, for no K210; {other.sentence()}" if other else e
            raise maixmem_kmodel.KModelError(f"{model.file}: {why}") from None
    return found


def fit(project: Project, infos: dict[str, Any] | None = None) -> Fit:
    """The answer for a project. ValueError when its GC heap leaves no system heap at all."""
    return _Play(project, headers(project) if infos is None else infos).run()
