# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models on OpenMV cameras: ml.Model objects that take turns in the GC heap.

From its source (py_ml.c, tflm_backend.cc, stai_backend.c of 2026), untested on a board. A load
reads the file into the GC heap, or into umalloc where that is full (not from /rom, which is read
in place), then takes the largest free block to find how large its arena has to be, gives it back,
and takes that much: `ram` of the Model, in one piece. It collects no garbage before. No call frees
a Model: its last reference is deleted, then gc.collect(). It must not be freed by __del__(), which
would free the file twice.
"""

import gc
import os
import sys

import maixmem_models
import maixmem_openmv
from maixmem import Cost, KModelError, NoRoom, const, message

# What it raises for want of memory, beside MemoryError; the first also for an operation that the
# firmware does not have.
_NO_ROOM = ("Failed to allocate tensors",)
_WORD = const(4)  # bytes of an entry of a list
_ARENA = (
    "{!r} needs {} bytes of the GC heap in one piece, {} are free in all.\n"
    "release() another model, drop images"
)
_REFUSED = (
    "refused: {}; {} bytes of the GC heap were free.\nload it before images and other models; or "
    "a smaller model"
)


def one_piece(n: int) -> bool:
    """Whether the GC heap has n bytes in one piece, by taking them once: to find the largest piece
    of 24 MB would take a second."""
    word = _WORD if sys.maxsize < 1 << 32 else 2 * _WORD
    try:
        block = [None] * (n // word + 1)
    except MemoryError:
        return False
    block.clear()  # gives them back at once
    return True


# The only reference to a Model that this library keeps: unload() drops it. `took` are the bytes of
# the GC heap that the load took.
class Loaded:
    """A model in memory."""

    def __init__(self, model, took: int) -> None:
        self.model = model
        self.took = took


# What is not here goes to the Model: input_shape, output_shape, labels ...
class Net(maixmem_models.Net):
    """A model of an OpenMV camera."""

    @property
    def raw(self):
        """The ml.Model; one that is kept elsewhere keeps its memory."""
        self.raw_taken = True
        return self.require_handle().model

    def predict(self, inputs, **options):
        """Model.predict(). What a callback is given lies in the model's memory: copy it."""
        return self.require_handle().model.predict(inputs, **options)

    def __getattr__(self, name: str):
        if name[:1] == "_":
            raise AttributeError(name)
        return getattr(self.require_handle().model, name)


# What a model takes is known once it was loaded: by its `ram`, and the GC heap before and after.
# Until then it is tried, as the firmware would: a load that fails raises, and hangs nothing.
class Port(maixmem_openmv.Port):
    """An OpenMV camera whose models take turns."""

    margin = 0  # a load that fails is clean
    Net = Net

    def __init__(self) -> None:
        super().__init__()
        self.costs = {}  # type: dict[str, Cost]

    def for_models(self, manager=None) -> "Port":
        """This port."""
        return self

    def inspect(self, source, **how) -> Cost:
        """What is known of loading the file `source`: nothing ("unknown") before its first load.
        OSError where it does not exist."""
        cost = self.costs.get(source)
        if cost is None:
            os.stat(source)
            cost = self.costs[source] = Cost({"gc": 0}, {"gc": 0})
            cost.certainty = "unknown"
            cost.source = source
        return cost

    def check_fit(self, cost, margin: int = 0, freed=()) -> "NoRoom | None":
        """None, or a NoRoom of what is certain to fail: a model that was loaded before, and whose
        arena has now no room."""
        need, free = cost.peak["gc"] + margin, self.room("gc")
        for handle in freed:
            free += handle.took
        if need <= free and (freed or need == margin or one_piece(need)):
            return None
        return NoRoom(message(_ARENA, cost.source, need, free), "gc", need, free)

    def room(self, region: str) -> int:
        """Free bytes of a region, in whatever pieces; 0 when there is none of that name."""
        return self.free_bytes() if region == "gc" else super().room(region)

    def free_bytes(self) -> int:
        """Free bytes of the GC heap without garbage."""
        gc.collect()
        return gc.mem_free()

    def load(self, source, **how) -> Loaded:
        """A Model(source, **how). NoRoom for want of memory, KModelError for a file that the
        firmware refuses."""
        cost = self.inspect(source)
        free = self.free_bytes()
        try:
            model = __import__("ml").Model(source, **how)
        except (MemoryError, ValueError, RuntimeError) as e:
            if isinstance(e, MemoryError) or str(e) in _NO_ROOM:
                gc.collect()  # the arena that it tried is garbage
                raise NoRoom(message(_REFUSED, e, free), "gc", None, free)
            raise KModelError(message("load", e))
        took = free - self.free_bytes()
        cost.need["gc"] = took
        cost.peak["gc"] = min(took, model.ram)
        cost.certainty = "estimate"
        return Loaded(model, took)

    def unload(self, handle) -> None:
        """Drops the Model and collects garbage; harmless when that was done."""
        handle.model = None
        gc.collect()

    def held_by(self, handle, region: str) -> int:
        """The bytes of the GC heap that its load took."""
        return handle.took if region == "gc" else 0
