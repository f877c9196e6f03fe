# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models on the K210 under CanMV: objects of maix.KPU, from its sources (kendryte/canmv, 2025),
not run on a board.

A load takes the file and the working memory, no buffer for flash; the first failure is a clean
MemoryError. An object has no finaliser, so a lost one keeps its memory until a soft reset.
deinit() follows a null pointer where init_yolo2() was never called: unload() calls it then.
"""

import maixmem_k210_kpu
import maixmem_models
from maixmem import KModelError, NoRoom, message
from maixmem_k210_kpu import kpu as KPU

_NO_CALL = (
    "net {0!r} has no {1!r}.\nrelease({0!r}) frees a model; run(), init_yolo2(), "
    "regionlayer_yolo2() and those of maix.KPU run it"
)
_TAKEN = (
    "slot {} of {} is the next one, and taken by {!r}.\nrelease() that model, then use() it again"
)
_yolo = []  # the objects that have had init_yolo2()


# Calls that are not here go to the KPU object: run_with_output, regionlayer_yolo2 only after
# init_yolo2 ...
class Net(maixmem_models.Net):
    """A model of the K210 under CanMV."""

    def run(self, img) -> tuple:
        """run_with_output() and a copy of the values of the first output."""
        return tuple(self.require_handle().run_with_output(img, getlist=True))

    def init_yolo2(self, anchor, **options) -> None:
        """KPU.init_yolo2, once a load."""
        handle = self.require_handle()
        if handle in _yolo:
            raise ValueError(message("init_yolo2", self.name))
        handle.init_yolo2(anchor, **options)
        _yolo.append(handle)

    def regionlayer_yolo2(self) -> list:
        """KPU.regionlayer_yolo2: what was found in the picture that run_with_output() was
        given."""
        handle = self.require_handle()
        if handle not in _yolo:
            raise ValueError(message("run_yolo2", self.name))
        return handle.regionlayer_yolo2()

    def __getattr__(self, name: str):
        handle = self.require_handle() if name[:1] != "_" else None
        if name in ("load_kmodel", "deinit") or not hasattr(handle, name):
            raise AttributeError(message(_NO_CALL, self.name, name))
        return getattr(handle, name)


# `taken` are the eight slots: the source in each, or None. The firmware goes round: a load wants
# the slot after the last one's, and is refused while that is taken, though others are free.
class Port(maixmem_k210_kpu.Port):
    """The K210 with its KPU, under CanMV."""

    name = "canmv"
    slots = 8
    margin = 8192  # not measured on a board
    method = "canmv"  # of KModel.allocations()
    trims = False  # nothing is known here that makes the end of the heap go back
    Net = Net

    def __init__(self) -> None:
        super().__init__()
        self.keys = []  # type: list[tuple]  # (KPU object, source)
        self.taken = [None] * self.slots
        self.next = 0

    def for_models(self, manager=None) -> "Port":
        """This port."""
        return self

    def expect_setup(self) -> None:
        """Nothing: a net has its YOLO calls."""

    def inspect(self, source, nbytes: "int | None" = None, file: "str | None" = None):
        """The Cost of a model; reads its header. nbytes= and file= as on MaixPy, where flash
        cannot be read."""
        return super().inspect(source, nbytes=nbytes, file=file)

    def check_fit(self, cost, margin: int = 0, freed=()) -> "NoRoom | None":
        """None, or a NoRoom: of the slot that is next, or of the heap."""
        holder = self.taken[self.next]
        if holder is not None and holder not in [self.key_of(net) for net in freed]:
            return NoRoom(message(_TAKEN, self.next, self.slots, holder), "slots", 1, 0)
        return super().check_fit(cost, margin, freed)

    def load(self, source, **told):
        """A KPU object. NoRoom for want of memory or of the slot that is next, KModelError for
        what it refuses."""
        cost = self.costs.get(source) or self.inspect(source, **told)
        net = KPU()
        size = (cost.nbytes,) if isinstance(source, int) else ()
        loaded = False
        try:
            net.load_kmodel(source, *size)
            loaded = True
            self.taken[self.next] = source
            self.next = (self.next + 1) % self.slots
            self.keys.append((net, source))
        except MemoryError as e:
            raise NoRoom(message("load", e), "heap", cost.peak["heap"], self.free_bytes())
        except (OSError, ValueError) as e:
            if "Failed to add" not in str(e):
                raise KModelError(message("load", e))
            loaded = True  # the firmware keeps its memory
            text = message(_TAKEN, self.next, self.slots, "a model of an earlier run")
            raise NoRoom(text, "slots", 1, 0)
        finally:
            if loaded and (not self.keys or self.keys[-1][0] is not net):
                _free(net)
        return net

    def unload(self, handle) -> None:
        """deinit(), after init_yolo2() where that was not called; harmless when it was done."""
        key = self.key_of(handle)
        if key is None:
            return
        _free(handle)
        self.keys = [pair for pair in self.keys if pair[0] is not handle]
        self.taken = [None if source == key else source for source in self.taken]

    def is_loaded(self, handle) -> bool:
        """True: a KPU object does not say."""
        return True

    def key_of(self, handle):
        """The source that a handle was loaded from, None when it is gone."""
        for net, source in self.keys:
            if net is handle:
                return source
        return None


def _free(net):
    if net not in _yolo:
        net.init_yolo2((1.0, 1.0), anchor_num=1, layer_w=1, layer_h=1, classes=1)
        _yolo.append(net)
    net.deinit()
    _yolo.remove(net)
