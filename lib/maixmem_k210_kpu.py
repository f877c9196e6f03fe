# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models on the K210 under MaixPy v1: what a load takes, whether it would come through, and the guarded net.

The part of the K210 port that the model manager uses; maixmem_k210 loads it at the first question about a model.
Behaviour of firmware and allocator as measured on the firmware (v0.6.2_84).
"""

import gc
import sys

import image
import KPU as kpu
import maixmem_net
from Maix import utils
from maixmem import Cost, KModelError, NoRoom, hexa
from maixmem_k210 import active_gc_heap
from maixmem_k210_heap import Heap, chunk, grow, mallocs, step
from maixmem_k210_limits import MIN_GC
from maixmem_kmodel import read_info

try:
    from micropython import const
except ImportError:

    def const(n):
        return n


_PAGE = const(4096)  # the break moves in pages
_TRIM = const(131072)  # a free top chunk of this size goes back to heap_free()
_SQUEEZE = const(32720)  # a flash_read of this takes _TRIM for a moment, so the top goes back
_FORECAST = const(16384)  # a forecast may be off by the page ends of what is freed and loaded
_PROBE = const(1)  # a flash address without a model: the firmware's length
_NAMES = (".kmodel", ".smodel", ".emodel")  # what the firmware looks for in a path
_MODELS = (3, 10003, 0x4B4D444C, 0x534D444C, 0x454D444C)  # what the first word of a model can be

_Image = type(image.Image(size=(8, 8)))


# Firmware calls with the guards that it lacks: a released model, an object that is no image, run_yolo2 before
# init_yolo2 and a second init_yolo2 (a leak) are refused. Calls allocate what the firmware allocates, no more.
class Net(maixmem_net.Net):
    """A model of the K210."""

    _yolo = None

    def forward(self, img, out=0):
        """kpu.forward: a kpu_fmap, which points into the model. Use it before the next run, or take run()."""
        if type(img) is not _Image and not isinstance(img, list):
            self._no_image("forward", img)
        return kpu.forward(self.handle or self.live(), img, out)

    def run(self, img, out=0):
        """forward() and a copy of its values, a tuple that outlives the model."""
        return self.forward(img, out)[:]

    def get_output(self, out):
        """kpu.get_output: another output of the last forward(), a kpu_fmap."""
        return kpu.get_output(self.handle or self.live(), out)

    def set_outputs(self, out, w, h, ch):
        """kpu.set_outputs, which a V4 model needs after each load. RuntimeError where the firmware says False."""
        if not kpu.set_outputs(self.handle or self.live(), out, w, h, ch):
            raise RuntimeError(
                "net {!r}: set_outputs({}, {}, {}, {}) was refused. Next: the shape of an output of a V4 model.".format(
                    self.name, out, w, h, ch
                )
            )

    def init_yolo2(self, threshold, nms_value, anchor_number, anchor):
        """kpu.init_yolo2, once a load."""
        if self._has_yolo():
            raise ValueError(
                "net {!r}: init_yolo2() was done. Next: release() to change it.".format(self.name)
            )
        kpu.init_yolo2(self.handle, threshold, nms_value, anchor_number, anchor)

    def run_yolo2(self, img):
        """kpu.run_yolo2: a list of finds, or None."""
        if self._yolo is not (self.handle or self.live()) and not self._has_yolo():
            text = "net {!r}: run_yolo2() needs init_yolo2(). Next: do it in the setup of add()."
            raise ValueError(text.format(self.name))
        if type(img) is not _Image:
            self._no_image("run_yolo2", img)
        return kpu.run_yolo2(self.handle, img)

    def _has_yolo(self):
        """Asks the firmware; the answer is kept for this load."""
        if self.live().net_arg() is None:
            return False
        self._yolo = self.handle
        return True

    def _no_image(self, call, img):
        text = "net {!r}: {}() takes an image, not a {}. Next: sensor.snapshot(), or image.Image and pix_to_ai()."
        raise TypeError(text.format(self.name, call, type(img).__name__))


# One per port. Owns no memory of the board: what load() returned is the caller's until unload(). Asking about a
# V4 model calls kpu.load once where there is none, to learn from the error text whether the build knows V4.
class Kpu:
    """Forecasts, room, load and unload."""

    Net = Net

    def __init__(self, port):
        self._port = port
        self._heap = Heap()
        self._v4 = None
        self._settled = False
        self._pieces = {}
        self._map = None

    # --- what a model takes ---

    def inspect(self, source, stream=None):
        """The Cost of a model; reads its header. stream=(dual_buf, batch, spi_speed) is for kpu.load_flash."""
        how = _how(source, stream)
        info = _read_info(source)
        build = {"v4": info.format != "v4" or self.has_v4() is not False, "ram": None}
        refuse = _refuse_path(source) or info.refuse(build, how)
        pieces = mallocs(info, how, source)
        self._pieces[_key(source)] = pieces
        need = sum([chunk(n) for n, passing, _ in pieces if not passing])
        cost = Cost({"heap": need}, {"heap": grow(pieces, (), 0)[0]}, "exact", refuse, source)
        cost.pieces = pieces
        cost.file_peak = None
        if how == "load_addr":
            cost.file_peak = grow(mallocs(info, "load_path", "/flash/"), (), 0)[0]
        return cost

    def has_v4(self):
        """Whether this build loads V4 models; None when it does not say."""
        if self._v4 is None and utils.heap_free() > 4 * _PAGE:
            b = self._port.read_flash(_PROBE, 4)
            if b[0] | b[1] << 8 | b[2] << 16 | b[3] << 24 not in _MODELS:
                self._v4 = _ask_v4()
        return self._v4

    def trouble(self, source, stream=None):
        """What the flash map says about a model at an address, or None: also where there is no map.

        The first call reads the headers in flash (some 0.2 s) and loads the flash map's modules, some 45 KiB.
        """
        if isinstance(source, str):
            return None
        try:
            return self._in_map(source)
        except (ImportError, NoRoom):
            return None
        except MemoryError:
            for name in ("maixmem_flash", "maixmem_scan"):  # perhaps half imported
                sys.modules.pop(name, None)
            return "flash not checked: {} bytes of GC heap are free. Next: gc.collect(), or add() at the start".format(
                gc.mem_free()
            )

    def _in_map(self, source):
        from maixmem_flash import FlashMap

        if self._map is None:
            self._map = FlashMap().scan(offsets=(), gaps=False)
        try:
            nbytes = read_info(source).nbytes
        except KModelError:
            nbytes = None
        if nbytes is None:  # use() says what is wrong with it; where it lies may be why
            found = [
                "{} is inside {} {}..{}. Next: FlashMap().scan().gap_for(nbytes)".format(
                    hexa(source), r.name, hexa(r.start), hexa(r.end)
                )
                for r in self._map.regions
                if r.kind != "model" and r.start <= source < r.end
            ]
        else:
            name = "model at {}".format(hexa(source))
            found = self._map.trouble(source, nbytes, name)
            self._map.add(name, source, nbytes, "model")
        return "; ".join(found) or None

    # --- whether it would come through ---

    def shortage(self, cost, margin, going):
        """None, or a NoRoom: see the contract in maixmem_models. May read 32 KiB of flash when it is tight."""
        free = utils.heap_free()
        if going:
            return self._forecast(cost, margin, [_key_of(net) for net in going])
        pieces = cost.pieces
        need = margin + cost.peak["heap"]
        if need + 2 * _PAGE <= free:  # whatever is free at the top
            return None
        free = self.settle()
        holes = self._heap.holes()
        if need <= free or self._in_holes(pieces, holes, free, margin):
            return None
        return self._no_room(cost, need, free, sum(holes))

    def _in_holes(self, pieces, holes, free, margin):
        """With holes it fits; and if they are not there, it fits all the same or fails with a clean error."""
        if margin + grow(pieces, holes, 0)[0] > free:
            return False
        first = grow(pieces, (), free - margin)[1]
        return first is None or (not first[2] and step(chunk(first[0])) > free)

    def _forecast(self, cost, margin, going):
        holes = self._heap.holes(going)
        top = holes.pop()
        need = margin + grow(cost.pieces, holes, 0)[0]
        if need <= utils.heap_free() + top:
            return None
        free = self.settle() + top
        if need <= free + (_FORECAST if self._settled else _FORECAST + _TRIM):
            return None
        return self._no_room(cost, need, free, sum(holes))

    def _no_room(self, cost, need, free, holes):
        text = "loading takes {} bytes of system heap, there are {}".format(need, free)
        if holes:
            text += " and holes of {}".format(holes)
        return NoRoom(text + ". Next: " + self._cure(cost, need, free), "heap", need, free)

    def _cure(self, cost, need, free):
        cures = []
        if [p for p in self._heap.parts if p[0] is not None]:
            cures.append("release() another model")
        if cost.file_peak and need - cost.peak["heap"] + cost.file_peak <= free:
            cures.append(
                "load it from a file on /sd or /flash, that takes {} bytes".format(cost.file_peak)
            )
        gc_heap = (active_gc_heap() - (need - free)) & ~(_PAGE - 1)
        if gc_heap >= max(MIN_GC, gc.mem_alloc() + MIN_GC):
            cures.append("maixmem.set_gc_heap({}) and machine.reset()".format(gc_heap))
        cures.append("a smaller firmware build, or smaller camera frames")
        return "; or ".join(cures) + "."

    def settle(self):
        """heap_free() after the free end of the heap went back to it. Reads 32 KiB of flash if that is safe."""
        free = utils.heap_free()
        self._settled = False
        if free > _TRIM:
            try:
                utils.flash_read(0, _SQUEEZE)
                self._settled = max(self._heap.holes()) < 4 * _SQUEEZE  # else it went into a hole
            except MemoryError:  # no GC heap for it
                pass
            self._heap.rose(utils.heap_free() - free)
        return utils.heap_free()

    def room(self):
        """Bytes at the top and in holes."""
        return self.settle() + sum(self._heap.holes())

    # --- load ---

    def load(self, source, stream=None):
        """A kpu_net. Does not check room: ask shortage() before, the firmware hangs where it says no."""
        key = _key(source)
        if key not in self._pieces:
            self.inspect(source, stream)
        self._heap.place(key, self._pieces[key])
        try:
            try:
                return _load(source, stream)
            except ValueError as e:
                if "2009" not in str(e):
                    raise
            gc.collect()  # models that nobody holds, perhaps of an earlier run
            return _load(source, stream)
        except BaseException as e:
            self._heap.drop(key)
            if "2006" in str(e):
                self._heap.forget_holes()
            raise

    def unload(self, net):
        """kpu.deinit; harmless when it was done."""
        free = utils.heap_free()
        kpu.deinit(net)
        self._heap.drop(_key_of(net), utils.heap_free() - free)


def _load(source, stream):
    return kpu.load(source) if stream is None else kpu.load_flash(source, *stream)


def _how(source, stream):
    if stream is None:
        return "load_path" if isinstance(source, str) else "load_addr"
    ints = [x for x in stream if isinstance(x, (int, bool))] if isinstance(stream, tuple) else ()
    if len(ints) != 3 or len(stream) != 3:
        text = "stream={!r}. Next: three ints, (dual_buf, batch, spi_speed), such as (0, 8, 80000000)."
        raise ValueError(text.format(stream))
    return "stream_dual" if stream[0] else "stream_single"


def _read_info(source):
    try:
        return read_info(source)
    except OSError as e:
        if not isinstance(source, str) or not e.args:
            raise
        text = "cannot read {!r}: error {}. Next: see os.listdir() of its folder; is the card in?"
        raise OSError(e.args[0], text.format(source, e.args[0]))


def _refuse_path(source):
    if isinstance(source, str) and not [x for x in _NAMES if x in source]:
        return "kpu.load takes paths with .kmodel in them, {!r} has not. Next: rename the file".format(
            source
        )


def _key(source):
    return source if isinstance(source, str) else source & 0xFFFFFFFF


def _key_of(net):
    return net.model_path() or net.model_addr()


def _ask_v4():
    try:
        kpu.load(_PROBE)
    except ValueError as e:
        text = str(e)
        if "2002" in text:  # names the versions that this build loads
            return "V4" in text
    return None
