# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for MaixCAM and MaixCAM2 under MaixPy v4 (CPython on Linux).

Two kinds of memory: the Linux heap (Python, image pixels) and the carve-out ("cmm": ION on MaixCAM, CMM on
MaixCAM2) for models, camera and display. Runs without root and without debugfs; it then says what it cannot know.
"""

import ctypes
import gc
import os
import weakref

from maix import image as maix_image
from maix import nn
from maix import sys as maix_sys  # never `import sys` from maix: it would hide Python's
from maixmem import Cost, KModelError, NoRoom, Region, kib
from maixmem_cmm import LINUX_MIB, check_cmm
from maixmem_cvimodel import mud_models, read_cvimodel
from maixmem_image import image_bytes
from maixmem_image_linux import MAIXCAM

_SUMMARY = "/sys/kernel/debug/ion/cvi_carveout_heap_dump/summary"
_CONFIGS = "/boot/configs"
_PEAK = "memory usage peak"
_TPU = "cv181x"
_KINDS = {"maixcam": ".cvimodel", "maixcam2": ".axmodel"}
_FORMATS = {"gray": "FMT_GRAYSCALE"}  # where maix.image has another word
# What draw_image() copies as it is: it blends those with alpha and throws for all others.
_PASTED = ("FMT_GRAYSCALE", "FMT_RGB888", "FMT_BGR888")
_SIZES_IN = {
    "maixcam": "with debugfs mounted on /sys/kernel/debug",
    "maixcam2": "so that /proc/ax_proc/mem_cmm_info can be read",
}
_BARE = ("NN",)  # classes of maix.nn with one set of IO buffers unless asked; the others take two


def _read_text(path):
    with open(path) as f:
        return f.read()


# What load() gives: stands in front of the object of maix.nn and is the only thing that refers to it, so that
# dropping it here frees the model, whoever still holds the Model. `cost` is what inspect() said, `taken` what the
# carve-out lost while loading (None when it cannot be read). After unload() any use is a RuntimeError.
class Model:
    """A loaded model; its methods are those of the maix.nn object."""

    def __init__(self, net, source, cost):
        self._net = net
        self.source = source
        self.cost = cost
        self.taken = None
        self.block = None

    def __getattr__(self, name):
        if name[0] == "_":
            raise AttributeError(name)
        if self._net is None:
            raise RuntimeError(
                "{}: this model was unloaded. Next: use() or load() it again.".format(self.source)
            )
        return getattr(
            self._net, name
        )  # no local variable for it: a traceback would keep the model


# The activations of all models share blocks: a model takes the first block that is large enough, else a new one
# beside the smaller, and a block goes back with its last user. This keeps the same list for the models that were
# loaded here (those loaded elsewhere only make the need smaller). Blocks are [bytes, users], largest first.
class _Shared:
    def __init__(self):
        self.blocks = []

    def credit(self, n, going=()):
        """Bytes of n that are there already, and stay when the users in `going` (their blocks) are gone."""
        for block in self.blocks:
            if block[1] > len([b for b in going if b is block]):
                return n if block[0] >= n else 0
        return 0

    def take(self, n):
        if not self.credit(n):
            self.blocks.insert(0, [n, 0])
        self.blocks[0][1] += 1
        return self.blocks[0]

    def give(self, block):
        block[1] -= 1
        if not block[1]:
            self.blocks.remove(block)


# One object per program. It owns no memory but what load() took, and gives that back in unload().
# regions() and load() read small files; nothing here allocates in the carve-out but load(). When a load fails,
# everything is as before. `learned` ({model: bytes}) may be stored by the program and given back at the next start.
class Port:
    """MaixCAM (cv181x) and MaixCAM2 (AX630C)."""

    def __init__(self, read_text=_read_text, learned=None):
        self._read_text = read_text
        self._ax_sys = None
        self._shared = _Shared()
        self.learned = {} if learned is None else learned
        # A desk wheel of MaixPy and old images have no device_id(): the file's kind alone decides then.
        self.device = maix_sys.device_id() if hasattr(maix_sys, "device_id") else ""
        self.name = "maixcam2" if "maixcam2" in self.device else "maixcam"
        # The runtime of MaixCAM shares working memory by itself; of MaixCAM2's nothing is documented.
        self.share = "arena" if self.name == "maixcam" else "evict"
        self.watched = tuple([r.name for r in self.regions() if r.free is not None])

    # --- regions ---

    def regions(self):
        """[heap, cmm]. A size that the system does not tell is None; `largest` only where libax_sys says it."""
        info = (
            maix_sys.memory_info()
        )  # keys may be missing, and cmm_total 0 means that it could not be read
        heap = _region("heap", info.get("total"), info.get("used"))
        cmm = _region("cmm", info.get("cmm_total"), info.get("cmm_used"))
        if cmm.total and self.name == "maixcam2":
            cmm.largest = self._largest()
        return [heap, cmm]

    def sample(self, free):
        """Puts the free bytes of each watched region into the list `free`; one that is unknown now stays as it was."""
        found = self.regions()
        for i in range(len(self.watched)):
            for r in found:
                if r.name == self.watched[i] and r.free is not None:
                    free[i] = r.free

    def peak(self):
        """{"cmm": most bytes ever in use since boot}, from the ION driver's summary; {} where it cannot be read."""
        try:
            text = self._read_text(_SUMMARY)
        except OSError:
            return {}
        words = text[text.find(_PEAK) + len(_PEAK) :].split() if _PEAK in text else []
        return {"cmm": int(words[0])} if words and words[0].isdigit() else {}

    def warnings(self):
        """Sentences about what cannot be read and a wrong CMM setting."""
        found = []
        for r in self.regions():
            if r.total is None:
                how = ", " + _SIZES_IN[self.name] if r.name == "cmm" else ""
                text = "{}: its size cannot be read. Next: run as root{}."
                found.append(text.format(r.name, how))
        return found + self._setting()

    def _setting(self):
        hw = maix_sys.memory_info().get("hw_total")
        if self.name != "maixcam2" or not hw:
            return []
        # hw_total lacks what the kernel keeps for itself: the board has the next of the sizes that are sold
        mib = min([n for n in LINUX_MIB if n >= hw >> 20] or [hw >> 20])
        try:
            return check_cmm(self._read_text(_CONFIGS), mib).findings
        except OSError:
            return []

    def _free(self, name):
        for r in self.regions():
            if r.name == name:
                return r.free
        return None

    def room(self, region):
        """Free bytes of a region, 0 when nothing is known of it."""
        return self._free(region) or 0

    def _largest(self):
        """The largest free block of the CMM by the vendor's library, or None."""
        try:
            if self._ax_sys is None:
                self._ax_sys = ctypes.CDLL("libax_sys.so")
            ask = self._ax_sys.AX_SYS_MemGetMaxFreeRegionInfo
        except (OSError, AttributeError):
            return None
        address, size = ctypes.c_uint64(0), ctypes.c_uint32(0)
        return size.value if ask(ctypes.byref(address), ctypes.byref(size)) == 0 else None

    # --- models ---

    def inspect(self, source, kind="NN", dual_buff=None):
        """The Cost of loading a .cvimodel, .axmodel or .mud, were it the only model.

        kind: the class of maix.nn that will load it. A .cvimodel's cost is read from the file and exact; an
        .axmodel has none to read: an estimate, from the file's size or a measured load and unload (`learned`).
        """
        dual = _dual(kind, dual_buff)
        paths, refuse = self._follow(source)
        path = paths[0]
        if path.endswith(".axmodel"):
            return self._inspect_ax(paths, dual, refuse)
        model = read_cvimodel(path)
        need = model.need(dual)
        refuse = refuse or _refuse_cvi(model)
        cost = Cost(
            {"cmm": need},
            {"cmm": need + model.transient},
            "exact" if model.exact else "estimate",
            refuse,
            path,
        )
        cost.shared = model.shared
        cost.key = None
        return cost

    def _inspect_ax(self, paths, dual, refuse):
        rows = []
        for path in paths:
            size = os.stat(path).st_size
            key = _key(path, size, dual)
            rows.append((self.learned.get(key, size), size, path, key))
        need, size, path, key = max(rows)
        # The runtime reads the whole file into the Linux heap before it makes the model from it.
        cost = Cost({"cmm": need}, {"cmm": need, "heap": size}, "estimate", refuse, path)
        cost.shared = 0
        cost.key = key if len(rows) == 1 else None  # of two files nobody tells which was loaded
        return cost

    def _follow(self, source):
        """(paths of the model, why it cannot run here or None); a .mud names its files relative to itself."""
        sources = mud_models(source) if source.endswith(".mud") else [source]
        source = sources[0]
        kind = os.path.splitext(source)[1]
        if kind not in _KINDS.values():
            raise KModelError(
                "{}: not a .cvimodel, .axmodel or .mud. Next: give one of these.".format(source)
            )
        if self.device and kind != _KINDS[self.name]:
            text = "{}: {} runs {} files. Next: convert the model for it."
            return sources, text.format(source, self.name, _KINDS[self.name])
        return sources, None

    def load(self, source, kind="NN", dual_buff=None):
        """Loads into the carve-out and returns a Model. NoRoom before anything is touched when it cannot fit.

        Checks the free bytes where they are known, with the activations' block credited if one is there that
        is large enough. What the constructor raises goes through unchanged, but where the free bytes cannot be
        read: a RuntimeError, which is all it says of full memory too, is NoRoom there, with `cause`.
        """
        dual = _dual(kind, dual_buff)
        cost = self.inspect(source, kind, dual)
        if cost.refuse:
            raise KModelError(cost.refuse)
        short = self.shortage(cost)
        if short:
            raise short
        before = self._free("cmm")
        make = getattr(nn, kind)
        try:
            model = Model(make(source, dual), source, cost)
        except RuntimeError as e:
            if before is not None:
                raise
            raise _refused(cost, e) from None
        try:
            model.taken = _less(before, self._free("cmm"))
            if cost.shared:
                model.block = self._shared.take(cost.shared)
        except BaseException:
            model._net = None
            raise
        return model

    def overlap(self, handles):
        """{region: bytes} that the costs of these models count more than once: their activations."""
        blocks = {id(m.block): m.block[0] for m in handles if m.block}
        return {"cmm": sum([m.cost.shared for m in handles]) - sum(blocks.values())}

    def shortage(self, cost, margin=0, going=()):
        """None when a load of `cost` would find its room and `margin` bytes, or a NoRoom to raise.

        `going`: models taken as unloaded. Activations are credited where a block stays that is large enough; a
        region that cannot be read is not in the way: the constructor has the last word there.
        """
        credit = {"cmm": self._shared.credit(cost.shared, [m.block for m in going])}
        for name in cost.peak:
            free = self._free(name)
            if free is None:
                continue
            free += sum([m.cost.need.get(name, 0) for m in going])
            need = cost.peak[name] - credit.get(name, 0) + margin
            if need > free:
                text = "{}: needs {} bytes of {} ({}) with {} to spare, {} are free. Next: unload a model, or a smaller one."
                text = text.format(cost.source, need - margin, name, cost.certainty, margin, free)
                return NoRoom(text, name, need, free)
        return None

    def unload(self, handle):
        """Drops the last reference to the model, which frees it, and checks that it went. Harmless when it is gone.

        RuntimeError when something else refers to the maix.nn object itself (a variable, a list, an exception's
        traceback): the model stays loaded and works; try again when that is gone.
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
            text = "{}: not freed, something else refers to its maix.nn object; {} stay taken. Next: del that variable."
            raise RuntimeError(text.format(handle.source, kib(handle.cost.need["cmm"])))
        if handle.block:
            self._shared.give(handle.block)
            handle.block = None
        if before is not None:
            self._learn(handle, _less(self._free("cmm"), before))

    # A camera that is opened or closed meanwhile is measured too: the lesser of load and unload counts, the least of all.
    def _learn(self, model, given):
        found = [n for n in (model.taken, given, self.learned.get(model.cost.key, given)) if n]
        if len(found) == 3 and min(found) > 0:
            self.learned[model.cost.key] = min(found)

    def order(self, sources):
        """The sources in the order to load them: the largest shared activations first.

        A small one loaded before a large one leaves its own block of activations beside the large one's.
        """
        return sorted(sources, key=lambda source: -self.inspect(source).shared)

    # --- what this platform has no call for ---

    def read_flash(self, offset, n):
        """Always NotImplementedError: models are files here."""
        raise NotImplementedError(
            "{}: there is no flash to read, models are files".format(self.name)
        )

    # --- images ---

    def new_image(self, w, h, format="rgb888"):
        """A new image in the Linux heap: its pixels and 4096 bytes. NoRoom when Linux has not that much.

        `format` as in maixmem_image_linux.MAIXCAM. Linux itself would hand the memory out and then kill a process.
        """
        need = image_bytes(w, h, format, MAIXCAM)
        name = _FORMATS.get(format, "FMT_" + format.upper())
        if not hasattr(maix_image.Format, name):
            text = "new_image({!r}): maix.image has no {}. Next: ask the camera for it, or another format."
            raise ValueError(text.format(format, name))
        free = self._free("heap")
        if free is not None and need > free:
            text = "{}x{} {}: needs {} bytes, Linux has {}. Next: drop images, or a smaller one."
            raise NoRoom(text.format(w, h, format, need, free), "heap", need, free)
        return maix_image.Image(w, h, getattr(maix_image.Format, name))

    def copy_into(self, dst, src):
        """Copies the pixels of src into dst, an image of the same size and format: gray, rgb888 or bgr888, else ValueError."""
        shapes = [(i.width(), i.height(), i.format()) for i in (dst, src)]
        if shapes[0] != shapes[1] or shapes[0][2] not in [
            getattr(maix_image.Format, name) for name in _PASTED
        ]:
            text = "copy_into: {} to {}: of one size and one of {} is wanted. Next: src.copy(), a new image."
            raise ValueError(text.format(shapes[1], shapes[0], ", ".join(_PASTED)))
        dst.draw_image(0, 0, src)


def _region(name, total, used):
    if not total or used is None:
        return Region(name, None, None, None)
    return Region(name, total, used, total - used)


def _dual(kind, dual_buff):
    return kind not in _BARE if dual_buff is None else dual_buff


def _refused(cost, e):
    text = "{}: needs {} bytes of cmm ({}), how many are free cannot be read. Next: unload a model. {}"
    need = cost.peak["cmm"]
    short = NoRoom(text.format(cost.source, need, cost.certainty, e), "cmm", need, None)
    short.cause = e
    e.__traceback__ = None  # it would keep what was half made
    return short


def _less(a, b):
    return None if a is None or b is None else a - b


def _key(path, size, dual):
    return "{}:{}:{}".format(os.path.basename(path), size, 2 if dual else 1)


def _refuse_cvi(model):
    if model.chip != _TPU:
        text = "the model is built for {}, this board runs {}. Next: convert it for {}."
        return text.format(model.chip, _TPU, _TPU)
    if model.nbytes > model.have:
        text = "the file has {} bytes of the {} that its sections name. Next: copy it again."
        return text.format(model.have, model.nbytes)
    return None
