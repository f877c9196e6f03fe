# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for Ascend 310 boards and cards (pyACL, CPython).

    port = maixmem.set_port(maixmem_ascend.Port())
    detector, classifier = port.load("yolo.om"), port.load("resnet.om")
    detector.run([frame], [boxes])

Each model keeps its weights; all compute in one block of work memory that is as large as the
largest needs, one after the other. So say the Chinese pages of the manual; the English page of 8.0
has "the total size of the workspaces", which two models that never run at once do not need.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import acl
from maixmem import Cost, NoRoom, Region
from maixmem_image import ImageRule, image_bytes
from maixmem_port import Port as BasePort
from maixmem_report import kib
from maixmem_text import tell

from maixmem_ascend import images as rules
from maixmem_ascend.memory import NO_MEMORY, AclError, Memory, check
from maixmem_ascend.model import Model, Work, computes_in
from maixmem_ascend.pages import POLICIES, Pages, device_bytes, memory_of
from maixmem_ascend.pools import Picture

# By the memory that models are loaded into: what regions() calls each, and its attribute for
# acl.rt.get_mem_info. That returns (free, total, code), free first, and 0, 0 for what a board does
# not have, with a code that no page documents.
_ATTRS = {
    "ddr": {"ddr": 0, "huge": 2, "normal": 3},
    "hbm": {"hbm": 1, "huge": 4, "normal": 5, "ddr": 0},
}
_REPEAT_INIT = 100002
_NO_FILE = 145002
# Picture rules by generation, as in the name of the chip: its start is looked for, the longest
# first.
_GENERATIONS = (
    ("Ascend310B", {"vpc": rules.VPC_310P, "jpegd": rules.JPEGD_310P}),  # Atlas 200I/500 A2
    ("Ascend310P", {"vpc": rules.VPC_310P, "jpegd": rules.JPEGD_310P}),
    ("Ascend310", {"vpc": rules.VPC_310, "jpegd": rules.JPEGD_310}),
    ("Ascend910", {"vpc": rules.VPC_910, "jpegd": rules.JPEGD_310}),
)

# acldvppPixelFormat, of the formats that JPEGD makes
_JPEG_FORMATS = {"yuv420sp": 1, "yuv422sp": 3, "yuv444sp": 5}
# Units whose buffer sizes no page at hand gives; the device or its driver makes them, or predicts
# them.
_NO_RULE = {
    "vdec": (
        "the size of its output is not in the manual",
        "take the size that acl.media gives with each frame",
    ),
    "venc": ("the size of its output is what the stream needs", "take the size in its callback"),
    "jpege_out": (
        "what a picture is encoded to",
        "ask acl.media.dvpp_jpeg_predict_enc_size with the picture",
    ),
}


class AclCost(Cost):
    """What a load takes, and of it the bytes of work memory and of weights."""

    work = 0
    weight = 0


# One object per program and device. Owns the context, the models, the work blocks and, where
# nobody had called acl.init() before, that; nothing else: buffers of `memory` belong to who asked
# for them. When load() fails the models that were there are in working order and nothing of the
# new one stays. What the device refuses to take back, and a model that it refuses to move to a
# larger work block, costs memory until the next load, unload or close(), which try again;
# warnings() tells of it. Any thread may call; they wait for each other.
class Port(BasePort):
    """Ascend 310: weights stay, one work memory for models that take turns."""

    name = "ascend"
    share = "arena"

    def __init__(self, device: int = 0, policy: str = POLICIES[0]) -> None:
        self._device = device
        code = acl.init()
        self._started = not code  # else whoever did ends it
        check("init", 0 if code == _REPEAT_INIT else code)
        try:
            check("rt.set_device", acl.rt.set_device(device))
            self._context, code = acl.rt.create_context(device)
            if code:
                acl.rt.reset_device(device)
            check("rt.create_context", code)
        except BaseException:
            if self._started:
                acl.finalize()
            raise
        self._trouble: Exception | None = None
        self._pending_unload: list[Model] = []
        self.serial = threading.RLock()
        self.region = memory_of(acl.rt.get_mem_info)
        self.watched = (self.region,)
        self.memory = Memory(acl, self.region, policy)
        has_huge = Pages(acl.rt.get_mem_info, self.region).has_huge
        self._policy = policy if has_huge or policy != POLICIES[0] else POLICIES[2]
        self.models: list[Model] = []
        self._learned: dict[str, int] = {}  # what models of no fixed shapes were measured to take
        self.works: list[Work] = []  # the largest first
        self.rules = _rules()

    def enter(self) -> None:
        """Makes the port's context this thread's, whatever another library has set; every call of
        the port does it itself.

        A thread that uses `memory` or acl needs it.
        """
        if acl.rt.get_context()[0] != self._context:
            check("rt.set_context", acl.rt.set_context(self._context))

    def close(self) -> None:
        """Unloads every model, frees the work memory and closes the device. Buffers must be free
        by then.

        AclError while the device does not take something back: nothing is released then, try
        again.
        """
        with self.serial:
            self.enter()
            for model in list(reversed(self.models)):
                self.unload(model)
            for work in self.works:
                work.kept = False
            self._settle()
            if self._trouble:
                raise self._trouble
            check("rt.destroy_context", acl.rt.destroy_context(self._context))
            check("rt.reset_device", acl.rt.reset_device(self._device))
            if self._started:
                check("finalize", acl.finalize())

    # --- regions ---

    def regions(self) -> list[Region]:
        """The kinds of device memory that the board has: ddr, of it huge pages and normal ones,
        hbm."""
        self.enter()
        found = []
        for name, attr in _ATTRS[self.region].items():
            free, total, _ = acl.rt.get_mem_info(attr)
            if total:
                found.append(Region(name, total, total - free, free))
        return found

    def sample(self, free: list[int]) -> None:
        """Puts the free bytes of ddr, or of hbm, into the list `free`."""
        free[0] = self.room(self.region)

    def free_bytes(self) -> int:
        """Free bytes of ddr, or of hbm where models are loaded into that."""
        return self.room(self.region)

    def room(self, region: str) -> int:
        """Free bytes of a region, 0 when the board does not have it."""
        self.enter()
        free, total, code = acl.rt.get_mem_info(_ATTRS[self.region].get(region, -1))
        if not total:
            check("rt.get_mem_info", code, "({})".format(region))
        return int(free)

    def warnings(self) -> list[str]:
        """Sentences about memory that the device did not take back."""
        if not self._trouble:
            return []
        text = "{} of work memory in {} blocks, {} models half unloaded: {}\nload or unload"
        return [
            tell(
                text,
                kib(self.work_bytes),
                len(self.works),
                len(self._pending_unload),
                self._trouble,
            )
        ]

    @property
    def work_bytes(self) -> int:
        """Bytes of work memory that the port holds."""
        return sum([work.buf.nbytes for work in self.works])

    def overlap(self, handles: Sequence[Model]) -> dict[str, int]:
        """{region: bytes} that the costs of these models count more than once: their work
        memory."""
        counted = sum([self._taken(m.cost.work) for m in handles])
        works = [w for w in self.works if [m for m in handles if computes_in(m, w)]]
        return {self.region: counted - sum([self._taken(w.buf.nbytes) for w in works])}

    def _taken(self, nbytes: int) -> int:
        return device_bytes(nbytes, self._policy) if nbytes else 0

    # --- models ---

    def inspect(self, source: str, dynamic: bool = False) -> AclCost:
        """The Cost of loading a model were it the only one: sizes from acl.mdl.query_size, and by
        the manual's rule what they take; an estimate, the driver was not seen to follow it.

        dynamic=True: a model whose inputs have no fixed shapes. Its sizes cannot be queried, the
        runtime manages its memory: a bound, the weights are in the file.
        """
        self.enter()
        if dynamic:
            return self._unknown(source)
        work, weight, code = acl.mdl.query_size(source)
        if code and code not in (*NO_MEMORY, _NO_FILE):
            step = "load it with dynamic=True where its inputs have no fixed shapes"
            raise AclError("mdl.query_size", code, "({})".format(source), step)
        check("mdl.query_size", code, "({})".format(source), self.region)
        work, weight = max(1, work), max(1, weight)  # there is no memory of 0 bytes to give it
        need = self._taken(weight) + self._taken(work)
        cost = AclCost({self.region: need}, {self.region: need})
        cost.certainty = "estimate"
        cost.source = source
        cost.work = work
        cost.weight = weight
        return cost

    def _unknown(self, source: str) -> AclCost:
        nbytes = self._learned.get(source) or os.stat(source).st_size
        cost = AclCost({self.region: nbytes}, {self.region: nbytes})
        cost.certainty = "estimate" if source in self._learned else "bound"
        cost.source = source
        return cost

    def check_fit(
        self, cost: AclCost, margin: int = 0, freed: Iterable[Model] = ()
    ) -> NoRoom | None:
        """None when a load of `cost` finds its room and `margin` bytes, or a NoRoom to raise.
        `freed`: taken as unloaded.

        A work block that is large enough is not counted again. A larger one exists beside it until
        all have moved.
        """
        freed, policy = list(freed), self._policy
        self.enter()
        pages = Pages(acl.rt.get_mem_info, self.region)
        for m in freed:
            pages.give(m.cost.weight or m.cost.need[self.region], policy)
        stay = [
            work
            for work in self.works
            if work.kept or [m for m in self.models if m not in freed and computes_in(m, work)]
        ]
        for work in self.works:
            if work not in stay:
                pages.give(work.buf.nbytes, policy)
        free = pages.free
        wanted = [n for n in (cost.weight or cost.need[self.region],) if n]
        if cost.work and not [work for work in stay if work.buf.nbytes >= cost.work]:
            wanted.append(cost.work)
        need = sum([self._taken(n) for n in wanted]) + margin
        if all(pages.take(n, policy) for n in wanted) and pages.free >= margin:
            return None
        text = (
            "{}: {} of weights and {} of work memory need {} bytes of {} with {} to spare, {} "
            "are free.\nunload a model\nreserve() the work memory first"
        )
        numbers = (cost.weight, cost.work, need - margin, self.region, margin, free)
        return NoRoom(tell(text, cost.source, *numbers), self.region, need, free)

    def reserve(self, sources: Sequence[str]) -> None:
        """Takes the work memory for these models at once, before the first load: it is not moved
        later."""
        with self.serial:
            if sources:
                self._work(max([self.inspect(source).work for source in sources]), True)

    def load(self, source: str, dynamic: bool = False) -> Model:
        """Loads a model with weights of its own and the shared work memory; with dynamic=True in
        memory of the runtime's own. NoRoom, or AclError with the code."""
        with self.serial:
            cost = self.inspect(source, dynamic)
            self._settle()
            short = self.check_fit(cost)
            if short:
                raise short
            model = Model(self, source, cost)
            self._pending_unload.append(model)  # until it is whole
            try:
                if dynamic:
                    before = self.room(self.region)
                    model.bind_alone()
                    self._learned[source] = max(0, before - self.room(self.region))
                else:
                    model.weight = self.memory.alloc("device", cost.weight)
                    model.bind(self._work(cost.work, False, model))
                model.describe()
                self.models.append(model)
                self._pending_unload.remove(model)
            except BaseException:
                self._settle()
                raise
            return model

    def unload(self, handle: Model) -> None:
        """Unloads a model, then frees its weights, then work memory that nobody needs. Harmless
        when it is gone.

        When the device refuses, the model keeps what it has left (the last one the work memory
        too); unload() again goes on from there.
        """
        with self.serial:
            self.enter()
            self._dispose(handle)
            self._settle()
            if self._trouble and not self.models:
                raise self._trouble

    def _dispose(self, model: Model) -> None:
        model.drop(0)
        if model.weight and model.weight.ptr:
            self.memory.free(model.weight)
        for group in (self.models, self._pending_unload):
            if model in group:
                group.remove(model)

    def _work(self, nbytes: int, keep: bool, new_model: Model | None = None) -> Work:
        """The block of work memory of at least nbytes; a new one, if it must be, to which all
        models move."""
        if not self.works or self.works[0].buf.nbytes < nbytes:
            self.enter()
            self.works.insert(0, Work(self.memory.alloc("device", nbytes)))
        work = self.works[0]
        kept = work.kept
        work.kept = True  # nobody uses it yet
        try:
            self._settle(new_model)
        finally:
            work.kept = kept or keep
        return work

    def _settle(self, keep: Model | None = None) -> None:
        """Brings all to where it should be: one work block, nothing half unloaded. What fails is
        tried next time."""
        self._trouble = None
        for model in list(self._pending_unload):
            if model is not keep:
                self._try(self._dispose, model)
        for model in self.models:
            self._try(self._move, model)
        for work in list(self.works):
            if not work.kept and not [
                m for m in self.models + self._pending_unload if computes_in(m, work)
            ]:
                self._try(self._release, work)

    def _try(self, step: Callable[[Any], object], item: Any) -> None:
        try:
            step(item)
        except (AclError, NoRoom) as e:
            e.__traceback__ = None  # it would keep what the failed step held
            self._trouble = e

    def _move(self, model: Model) -> None:
        model.drop(1)
        if model.weight and model.ids and model.ids[-1][1] is not self.works[0]:
            model.bind(self.works[0])
            model.drop(1)

    def _release(self, work: Work) -> None:
        self.memory.free(work.buf)
        self.works.remove(work)

    # --- pictures ---

    def new_image(self, w: int, h: int, format: str = "yuv420sp") -> Picture:
        """A picture for VPC in DVPP memory of its own, whole pages of 2 MiB: use Pictures for more
        than one."""
        self.enter()
        nbytes = image_bytes(w, h, format, self.rules["vpc"])
        return Picture(self.memory.alloc("dvpp", nbytes).ptr, (w, h, format, nbytes), None)

    def copy_into(self, dst: Any, src: Any) -> None:
        """Copies the bytes of src into dst, of the same size and format."""
        self.enter()
        self.memory.copy(dst, src)

    def rule(self, unit: str) -> ImageRule:
        """The picture rule of a unit of this chip: vpc, jpegd, jpege (its input), pngd. ValueError
        for others, with the reason."""
        if unit not in self.rules:
            text = "{}: {}.\n{2}"
            why = _NO_RULE.get(unit, ("no unit of that name", "one of " + ", ".join(self.rules)))
            raise ValueError(tell(text, unit, *why))
        return self.rules[unit]

    def jpeg_bytes(self, jpeg: Any, format: str = "yuv420sp") -> int:
        """The DVPP memory that decoding `jpeg` (its bytes) to a format allocates, as the device
        predicts it from the header.

        For pictures whose size is not known before; image_bytes(w, h, format, rule("jpegd")) is
        the least that the manual allows. ValueError for a format that JPEGD does not make;
        NotImplementedError where acl has no such call.
        """
        if format not in _JPEG_FORMATS:
            raise ValueError(
                "jpeg_bytes({!r}): one of {}".format(format, ", ".join(_JPEG_FORMATS))
            )
        predict = getattr(acl.media, "dvpp_jpeg_predict_dec_size", None)
        if predict is None:
            raise NotImplementedError(
                tell(
                    "acl.media has no dvpp_jpeg_predict_dec_size.\n"
                    "image_bytes() with rule('jpegd')"
                )
            )
        self.enter()
        data = bytes(jpeg)  # host memory, as cards want it; has to live until the call is done
        pointer = acl.util.bytes_to_ptr(data)
        nbytes, code = predict(pointer, len(data), _JPEG_FORMATS[format])
        check("media.dvpp_jpeg_predict_dec_size", code)
        return int(nbytes)


def _rules() -> dict[str, ImageRule]:
    """The picture rules of the chip: {"vpc", "jpegd", "jpege", "pngd"}; those of the 310 when it
    has no name."""
    soc = acl.get_soc_name() if hasattr(acl, "get_soc_name") else "Ascend310"
    for start, table in _GENERATIONS:
        if soc.startswith(start):
            break
    else:
        table = dict(_GENERATIONS)["Ascend310"]  # the one whose buffers are the largest
    return {"vpc": table["vpc"], "jpegd": table["jpegd"], "jpege": rules.JPEGE, "pngd": rules.PNGD}
