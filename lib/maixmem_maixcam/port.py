# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for MaixCAM and MaixCAM2 under MaixPy v4 (CPython on Linux).

Two kinds of memory: the Linux heap (Python, image pixels) and the carve-out ("cmm": ION on
MaixCAM, CMM on MaixCAM2) for models, camera and display. Runs without root and without debugfs; it
then says what it cannot know.
"""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from maix import err, nn
from maix import image as maix_image
from maix import sys as maix_sys  # never `import sys` from maix: it would hide Python's
from maixmem import KModelError, NoRoom, Region
from maixmem_image import image_bytes
from maixmem_port import Port as BasePort
from maixmem_report import kib
from maixmem_text import tell

from maixmem_maixcam.cmm import LINUX_MIB, check_cmm, how_to_enlarge
from maixmem_maixcam.costs import ModelCost, cost_of
from maixmem_maixcam.images import MAIXCAM
from maixmem_maixcam.kinds import Source, kind_of
from maixmem_maixcam.model import Activations, Model

_SUMMARY = "/sys/kernel/debug/ion/cvi_carveout_heap_dump/summary"
_CONFIGS = "/boot/configs"
_PEAK = "memory usage peak"
_FORMATS = {"gray": "FMT_GRAYSCALE"}  # where maix.image has another word
# What draw_image() copies as it is: it blends those with alpha and throws for all others.
_PASTED = ("FMT_GRAYSCALE", "FMT_RGB888", "FMT_BGR888")
_SIZES_IN = {
    "maixcam": "with debugfs mounted on /sys/kernel/debug",
    "maixcam2": "so that /proc/ax_proc/mem_cmm_info can be read",
}


def _read_text(path: str) -> str:
    with open(path) as f:
        return f.read()


# One object per program. It owns no memory but what load() took, and gives that back in unload().
# regions() and load() read small files; nothing here allocates in the carve-out but load(). When a
# load fails, everything is as before. `learned` ({model: bytes}) may be stored by the program and
# given back at the next start.
class Port(BasePort):
    """MaixCAM (cv181x) and MaixCAM2 (AX630C)."""

    def __init__(
        self,
        read_text: Callable[[str], str] = _read_text,
        learned: dict[str, int] | None = None,
    ) -> None:
        self._read_text = read_text
        self._ax_sys: Any = None
        self._shared = Activations()
        self.learned = {} if learned is None else learned
        # A desk wheel of MaixPy and old images have no device_id(): the file's kind alone decides
        # then.
        self.device = maix_sys.device_id() if hasattr(maix_sys, "device_id") else ""
        self.name = "maixcam2" if "maixcam2" in self.device else "maixcam"
        # The runtime of MaixCAM shares working memory by itself; of MaixCAM2's nothing is
        # documented.
        self.share = "arena" if self.name == "maixcam" else "evict"
        self.watched = tuple([r.name for r in self._live() if r.free is not None])

    # --- regions ---

    def regions(self) -> list[Region]:
        """[heap, cmm], cma where there is any, and what kernel and drivers keep of the hardware's
        memory.

        A size that the system does not tell is None; `largest` only where libax_sys says it.
        """
        info = maix_sys.memory_info()
        rows = self._live()
        cma = _region("cma", info.get("cma_total"), info.get("cma_used"))
        if cma.total:
            rows.append(cma)
        hw, shares = info.get("hw_total"), [r.total or 0 for r in rows]
        if hw and all(shares) and hw > sum(shares):
            kept = hw - sum(shares)
            rows.append(Region("kernel", kept, kept, 0))
        return rows

    def _live(self) -> list[Region]:
        # keys may be missing, and cmm_total 0 means that it could not be read;
        # images of early 2025 call it custom
        info = maix_sys.memory_info()
        heap = _region("heap", info.get("total"), info.get("used"))
        cmm = _region(
            "cmm", *[info.get("cmm" + x, info.get("custom" + x)) for x in ("_total", "_used")]
        )
        if cmm.total and self.name == "maixcam2":
            cmm.largest = self._largest()
        return [heap, cmm]

    def sample(self, free: list[int]) -> None:
        """Puts the free bytes of each watched region into the list `free`; one that is unknown now
        stays as it was."""
        found = self._live()
        for i in range(len(self.watched)):
            for r in found:
                if r.name == self.watched[i] and r.free is not None:
                    free[i] = r.free

    def peak(self) -> dict[str, int]:
        """{"cmm": most bytes ever in use since boot}, from the ION driver's summary; {} where it
        cannot be read."""
        try:
            text = self._read_text(_SUMMARY)
        except OSError:
            return {}
        words = text[text.find(_PEAK) + len(_PEAK) :].split() if _PEAK in text else []
        return {"cmm": int(words[0])} if words and words[0].isdigit() else {}

    def warnings(self) -> list[str]:
        """Sentences about what cannot be read and a wrong CMM setting."""
        found = []
        for r in self._live():
            if r.total is None:
                how = ", " + _SIZES_IN[self.name] if r.name == "cmm" else ""
                text = "{}: its size cannot be read.\nrun as root{1}"
                found.append(tell(text, r.name, how))
        return found + self._setting()

    def _setting(self) -> list[str]:
        hw = maix_sys.memory_info().get("hw_total")
        if self.name != "maixcam2" or not hw:
            return []
        # hw_total lacks what the kernel keeps for itself: the board has the next of the sizes that
        # are sold
        mib = min([n for n in LINUX_MIB if n >= hw >> 20] or [hw >> 20])
        try:
            return check_cmm(self._read_text(_CONFIGS), mib).findings
        except OSError:
            return []

    def _free(self, name: str) -> int | None:
        for r in self._live():
            if r.name == name:
                return r.free
        return None

    def room(self, region: str) -> int:
        """Free bytes of a region, 0 when nothing is known of it."""
        return self._free(region) or 0

    def free_bytes(self) -> int:
        """Free bytes of the carve-out, 0 where it cannot be read."""
        return self._free("cmm") or 0

    def _largest(self) -> int | None:
        """The largest free block of the CMM by the vendor's library, or None."""
        try:
            if self._ax_sys is None:
                self._ax_sys = ctypes.CDLL("libax_sys.so")
            ask = self._ax_sys.AX_SYS_MemGetMaxFreeRegionInfo
        except (OSError, AttributeError):
            return None
        address, size = ctypes.c_uint64(0), ctypes.c_uint32(0)
        return size.value if ask(ctypes.byref(address), ctypes.byref(size)) == 0 else None

    def advise(self, error: BaseException) -> str | None:
        """How the carve-out of this board is enlarged, for a NoRoom of it; None for others."""
        if isinstance(error, NoRoom) and error.region == "cmm":
            return how_to_enlarge(self.name)
        return None

    # --- models ---

    def inspect(
        self, source: Source, kind: str = "NN", dual_buff: bool | None = None, **arguments: Any
    ) -> ModelCost:
        """The ModelCost of loading .cvimodel, .axmodel or .mud files, were they the only ones: see
        costs.cost_of().

        kind: the class of maix.nn that will load it; for one of several models `source` is a list
        of paths.
        """
        wanted = kind_of(nn, kind)
        wanted.arguments(source, dual_buff, arguments)
        known = bool(self.device)
        return cost_of(source, self.name, known, wanted.sets(dual_buff), self.learned, kind)

    def load(
        self, source: Source, kind: str = "NN", dual_buff: bool | None = None, **arguments: Any
    ) -> Model:
        """Loads into the carve-out and returns a Model. NoRoom before anything is touched when it
        cannot fit.

        kind: a class of maix.nn; what it takes besides is given by name (dual_buff, labels,
        language...), ValueError names what it does not take. Checks the free bytes where they are
        known, with the activations' block credited if one exists that is large enough. A refusal
        of the constructor is NoRoom where it says that memory is why, else KModelError.
        """
        wanted = kind_of(nn, kind)
        how = wanted.arguments(source, dual_buff, arguments)
        cost = self.inspect(source, kind, dual_buff, **arguments)
        if cost.refuse:
            raise KModelError(cost.refuse)
        short = self.check_fit(cost)
        if short:
            raise short
        before = self._free("cmm")
        try:
            model = Model(wanted.make(**how), source, cost)
        except RuntimeError as e:
            raise self._refused(cost, e) from None
        try:
            model.taken = _less(before, self._free("cmm"))
            if cost.shared:
                model.block = self._shared.take(cost.shared)
        except BaseException:
            model._net = None
            raise
        return model

    # All that a constructor raises is a RuntimeError with the words of its code in it.
    def _refused(self, cost: ModelCost, e: RuntimeError) -> Exception:
        words = str(e).strip()
        e.__traceback__ = None  # it would keep what was half made
        if err.to_str(err.Err.ERR_NO_MEM) in words:
            free = self._free("cmm")
            text = "{}: needs {} bytes of cmm ({}), {} ({}).\nunload a model"
            said = "how many are free cannot be read" if free is None else f"{free} are free"
            need = cost.peak["cmm"]
            text = tell(text, cost.source, need, cost.certainty, said, words)
            return NoRoom(text, "cmm", need, free)
        text = "{}: maix.nn refused it: {}.\na model for this board and class, see its .mud"
        return KModelError(tell(text, cost.source, words))

    def overlap(self, handles: Sequence[Model]) -> dict[str, int]:
        """{region: bytes} that the costs of these models count more than once: their
        activations."""
        blocks = {id(m.block): m.block[0] for m in handles if m.block}
        return {"cmm": sum([m.cost.shared for m in handles]) - sum(blocks.values())}

    def check_fit(
        self, cost: ModelCost, margin: int = 0, freed: Iterable[Model] = ()
    ) -> NoRoom | None:
        """None when a load of `cost` would find its room and `margin` bytes, or a NoRoom to raise.

        `freed`: models taken as unloaded. Activations are credited where a block stays that is
        large enough; a region that cannot be read is not in the way: the constructor has the last
        word there.
        """
        freed = list(freed)
        credit = {"cmm": self._shared.credit(cost.shared, [m.block for m in freed])}
        for name in cost.peak:
            free = self._free(name)
            if free is None:
                continue
            free += sum([m.cost.need.get(name, 0) for m in freed])
            need = cost.peak[name] - credit.get(name, 0) + margin
            if need > free:
                text = (
                    "{}: needs {} bytes of {} ({}) with {} to spare, {} are free.\nunload a "
                    "model, or a smaller one"
                )
                text = tell(text, cost.source, need - margin, name, cost.certainty, margin, free)
                return NoRoom(text, name, need, free)
        return None

    def unload(self, handle: Model) -> None:
        """Drops the last reference to the model, which frees it, and checks that it went. Harmless
        when it is gone.

        RuntimeError when something else refers to the maix.nn object itself (a variable, a list,
        an exception's traceback): the model stays loaded and works; try again when that is gone.
        """
        if handle._net is None:
            return
        before = self._free("cmm") if handle.cost.key else None
        alive = weakref.ref(handle._net)
        handle._net = None
        if alive() is not None:
            gc.collect()  # a cycle may hold it
        handle._net = alive()
        if handle._net is not None:
            text = (
                "{}: not freed, something else refers to its maix.nn object; {} stay "
                "taken.\ndel that variable"
            )
            raise RuntimeError(tell(text, handle.source, kib(handle.cost.need["cmm"])))
        if handle.block:
            self._shared.give(handle.block)
            handle.block = None
        if before is not None:
            self._learn(handle, _less(self._free("cmm"), before))

    # A camera that is opened or closed meanwhile is measured too: the lesser of load and unload
    # counts, the least of all.
    def _learn(self, model: Model, given: int | None) -> None:
        key = model.cost.key or ""
        found = [n for n in (model.taken, given, self.learned.get(key, given)) if n]
        if len(found) == 3 and min(found) > 0:
            self.learned[key] = min(found)

    def order(self, sources: Iterable[str]) -> list[str]:
        """The sources in the order to load them: the largest shared activations first.

        A small one loaded before a large one leaves its own block of activations beside the large
        one's.
        """
        return sorted(sources, key=lambda source: -self.inspect(source).shared)

    # --- images ---

    def new_image(self, w: int, h: int, format: str = "rgb888") -> Any:
        """A new image in the Linux heap: its pixels and 4096 bytes. NoRoom when Linux has not that
        much.

        `format` as in maixmem_maixcam.images. Linux itself would hand the memory out and then kill
        a process.
        """
        need = image_bytes(w, h, format, MAIXCAM)
        name = _FORMATS.get(format, "FMT_" + format.upper())
        if not hasattr(maix_image.Format, name):
            text = (
                "new_image({!r}): maix.image has no {}.\nask the camera for it, or another format"
            )
            raise ValueError(tell(text, format, name))
        free = self._free("heap")
        if free is not None and need > free:
            text = "{}x{} {}: needs {} bytes, Linux has {}.\ndrop images, or a smaller one"
            raise NoRoom(tell(text, w, h, format, need, free), "heap", need, free)
        return maix_image.Image(w, h, getattr(maix_image.Format, name))

    def copy_into(self, dst: Any, src: Any) -> None:
        """Copies the pixels of src into dst, an image of the same size and format: gray, rgb888 or
        bgr888, else ValueError."""
        shapes = [(i.width(), i.height(), i.format()) for i in (dst, src)]
        if shapes[0] != shapes[1] or shapes[0][2] not in [
            getattr(maix_image.Format, name) for name in _PASTED
        ]:
            text = (
                "copy_into: {} to {}: of one size and one of {} is wanted.\nsrc.copy(), a "
                "new image"
            )
            raise ValueError(tell(text, shapes[1], shapes[0], ", ".join(_PASTED)))
        dst.draw_image(0, 0, src)


def _region(name: str, total: int | None, used: int | None) -> Region:
    if not total or used is None:
        return Region(name, None, None, None)
    return Region(name, total, used, total - used)


def _less(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a - b
