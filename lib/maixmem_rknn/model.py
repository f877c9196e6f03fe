# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model that RKNN holds.

with detector:  # its turn; run(frame) does the same with copies
    camera.readinto(detector.inputs[0].view())
    detector.execute()
    boxes = decode(detector.outputs[0].view())  # views end with the block
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any, Protocol

from maixmem_linux.whole import whole
from maixmem_text import tell

from maixmem_rknn import api
from maixmem_rknn.arena import Arena, Create
from maixmem_rknn.cost import ModelSizes
from maixmem_rknn.lock import ExclusiveLock
from maixmem_rknn.runtime import Runtime
from maixmem_rknn.shapes import Shapes
from maixmem_rknn.tensor import Tensor


class Place(Protocol):
    """What a model asks of its port."""

    lib: Runtime
    arena: Arena

    @property
    def create(self) -> Create:
        """Memory made with a context, or NoRoom."""


# Contract. Owned by the port that loaded it; Port.unload() ends it and everything it handed out.
# Sizes in bytes: `weight` and `internal` as the runtime reports them, `resident` what the runtime
# took for it, `io` its inputs and outputs. `lock` is the port's for models in the shared memory,
# its own for a model with private memory. run() allocates the copies it returns.
class Model:
    """A loaded model: run(), or a with block for work without copies."""

    def __init__(
        self, port: Place, name: str, lock: ExclusiveLock, inputs: Any = None, outputs: Any = None
    ) -> None:
        self.lib = port.lib
        self.name = name  # not the source: a model in memory need not stay there
        self.lock = lock
        self.arena = port.arena
        self.options = (inputs, outputs)
        self.ctx: int | None = None
        self.master: Model | None = None
        self.users: list[Model] = []  # models on this one's weights
        self.view: Any = None
        self.needs_rebind = False
        self.can_dup = False
        self.flushes = (True, True)  # whether the runtime flushes inputs, outputs
        self.sets: Shapes  # from start() on
        self.place = 0  # in these
        self.sizes: ModelSizes | None = None
        self.weight = self.internal = self.resident = 0
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self._create = port.create
        self._lent: list[memoryview] = []
        self._areas: list[Any] = []  # what views, slices and arrays keep

    @property
    def io(self) -> int:
        """Bytes of all inputs and outputs, each in whole pages."""
        return sum([api.pages(t.nbytes) for t in self.inputs + self.outputs])

    def run(self, *inputs: Any) -> list[bytes]:
        """Copies the inputs in, runs, and returns copies of the outputs, all under one lock."""
        if len(inputs) != len(self.inputs):
            text = "{} inputs given, {} has {}"
            raise ValueError(text.format(len(inputs), self, len(self.inputs)))
        depth = self.lock.depth
        try:
            with self:
                for tensor, data in zip(self.inputs, inputs):
                    tensor.write(data)
                self.execute()
                return [tensor.read() for tensor in self.outputs]
        except BaseException:
            self.lock.back_to(depth)  # an interrupt may have come at the end of the block
            raise

    def execute(self) -> None:
        """Runs on what the inputs hold. Within its with block."""
        self.check_lock()
        self.arena.rebind(self)
        for tensor in self.inputs:
            tensor.flush_block()
        self.lib.run(self.require_ctx())
        for tensor in self.outputs:
            tensor.flush_block()

    # --- dynamic shapes ---

    def shapes(self) -> list[list[tuple[int, ...]]]:
        """For each input the shapes that it may have; empty lists for a model that was not
        converted for several."""
        self.require_ctx()
        return [list(found) for found in self.sets.known] or [[] for _ in self.inputs]

    @whole
    def set_shapes(self, *shapes: Sequence[int]) -> None:
        """One shape for each input, from here on; inputs and outputs get memory of the size that
        goes with them.

        Several resolutions of one network on one set of weights: what load(master=) did before
        runtime 1.5.2. A loaded model has the first of shapes(). ValueError for a shape that is not
        one of shapes(), or not at the same place in them as the others'; attached blocks are let
        go. What it had is freed when the new memory is allocated: on NoRoom and RknnError the
        model is as it was.
        """
        if len(shapes) != len(self.inputs):
            text = "{} shapes given, {} has {} inputs"
            raise ValueError(text.format(len(shapes), self, len(self.inputs)))
        with self:
            self.check_no_views()
            now, before = [tensor.shape for tensor in self.inputs], self.place
            place = self.sets.place_of([tuple(shape) for shape in shapes], now, self)
            tensors = self.inputs + self.outputs
            state = [dict(vars(tensor)) for tensor in tensors]
            self._choose(place)
            try:
                self._resize(tensors)
            except BaseException:
                self._choose(before)
                for tensor, was in zip(tensors, state):
                    tensor.undo(was)
                raise
            self.lib.release([(self.require_ctx(), was["_mem"]) for was in state])

    def start(self, shapes: Shapes) -> None:
        """The first of several shapes for a new context. Without any the runtime ends the process
        when memory is attached."""
        self.sets = shapes
        if shapes.known:
            self._choose(0)

    def _choose(self, place: int) -> None:
        ctx = self.require_ctx()
        self.lib.set_input_shapes(ctx, self.sets.attrs(self.lib, ctx, place))
        self.place = place

    def _resize(self, tensors: Sequence[Tensor]) -> None:
        for tensor in tensors:
            command = api.CURRENT_OUTPUT_ATTR if tensor.output else api.CURRENT_INPUT_ATTR
            attr = self.lib.attr(self.require_ctx(), command, tensor.attr.index)
            tensor.change(attr, self._create)

    # --- its turn ---

    def __enter__(self) -> Model:
        self.lock.acquire(self)
        if self.ctx is None:
            self.lock.release()
            raise ValueError(f"{self} was unloaded: load it again")
        return self

    def __exit__(self, *exc: object) -> None:
        lent = [] if self.lock.depth > 1 else self._lent
        for view in lent:
            try:
                view.release()
            except BufferError:
                pass  # something else, a numpy array, still looks at it: unload() will ask
        del lent[:]
        self._areas = [area for area in self._areas if area() is not None]
        self.lock.release()

    def __str__(self) -> str:
        return self.name

    def require_ctx(self) -> int:
        """The runtime's number of this model; ValueError when it was unloaded."""
        if self.ctx is None:
            raise ValueError(f"{self} was unloaded: load it again")
        return self.ctx

    def check_lock(self) -> None:
        """RuntimeError outside of the model's with block: another model may have run since."""
        if not self.lock.held_by(self):
            raise RuntimeError(f"{self}: only inside its with block, or use run()")

    def check_views(self) -> None:
        """ValueError while something still looks at memory of inputs or outputs: it would be
        gone."""
        if [1 for area in self._areas if area() is not None]:
            gc.collect()  # a cycle may hold it
        alive = len([1 for area in self._areas if area() is not None])
        if alive:
            text = "{} views of {} are still in use, by slices or arrays.\ndel them, or take "
            text += "copies"
            raise ValueError(tell(text, alive, self))

    def lend(self, view: memoryview, area: Any) -> memoryview:
        """Keeps a view, to end it with the with block, and the weak reference to what it looks
        at."""
        self._lent.append(view)
        self._areas.append(area)
        return view

    def describe(self) -> None:
        """Makes inputs and outputs, without memory yet."""
        for output, attrs in enumerate(io_attrs(self.lib, self.require_ctx())):
            tensors = self.outputs if output else self.inputs
            tensors += [Tensor(self, attr, bool(output)) for attr in attrs]

    def check_no_views(self) -> None:
        """Ends the views of this with block, whose memory is going to be another; ValueError while
        slices or arrays of them are in use."""
        for view in self._lent:
            view.release()
        del self._lent[:]
        self.check_views()


def io_attrs(lib: Any, ctx: int) -> tuple[list[Any], list[Any]]:
    """The attributes of all inputs and of all outputs; the mini runtime has only the chip's own
    layouts."""
    native = (api.NATIVE_INPUT_ATTR, api.NATIVE_OUTPUT_ATTR)
    inputs, outputs = native if lib.mini else (api.INPUT_ATTR, api.OUTPUT_ATTR)
    counts = lib.counts(ctx)
    return (
        [lib.attr(ctx, inputs, i) for i in range(counts[0])],
        [lib.attr(ctx, outputs, i) for i in range(counts[1])],
    )
