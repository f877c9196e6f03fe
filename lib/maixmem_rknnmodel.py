# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model that RKNN holds, and its inputs and outputs.

detector.run(image_bytes) -> [bytes, ...]           copies in, runs, copies out

with detector:                                      its turn: no other model can run
    camera.readinto(detector.inputs[0].view())
    detector.execute()
    boxes = decode(detector.outputs[0].view())      views end with the turn, slices of them must be gone by unload
"""

import ctypes
import gc
import weakref

from maixmem_rknnapi import FROM_DEVICE, TO_DEVICE, pages


# Contract. One input or output: `attr` as the runtime gives it, `nbytes` of its memory (rows padded to the width stride),
# `packed` bytes without padding. The memory is made when the model is loaded and belongs to it; attach() replaces it.
class Tensor:
    """The memory of one input or output."""

    def __init__(self, model, attr):
        self._model = model
        self._mem = None
        self.attr = attr
        self.packed = attr.size
        # the guide sizes outputs by `size`; where rows are padded only size_with_stride is enough
        self.nbytes = max(attr.size, attr.size_with_stride)
        self.shape = tuple([attr.dims[i] for i in range(attr.n_dims)])

    def view(self):
        """The memory itself as a memoryview, within the model's turn; it ends with the turn."""
        self._model.check_turn()
        mem = self._mem.contents
        area = (ctypes.c_ubyte * self.nbytes).from_address(mem.virt + mem.offset)
        return self._model.lend(memoryview(area).cast("B"), weakref.ref(area))

    def write(self, data):
        """Copies `data` in: packed, or as it lies in memory. Within the model's turn."""
        view = self.view()
        source = memoryview(data).cast("B")
        if len(source) == self.nbytes:
            view[:] = source
        elif len(source) == self.packed:
            self._spread(view, source)
        else:
            text = "{} bytes for an input of shape {}: {} packed or {} with stride"
            raise ValueError(text.format(len(source), self.shape, self.packed, self.nbytes))

    def read(self):
        """A copy as bytes, as it lies in memory. Within the model's turn."""
        return bytes(self.view())

    def attach(self, block, offset=0):
        """Works in `block` from now on: a camera's or another program's memory. What it had before is released."""
        model = self._model
        with model:
            mem = model.lib.view(model.ctx, block, self.nbytes, offset)
            self._set(mem)

    def allocate(self, create):
        """Takes memory of its own: `create(ctx, nbytes)`."""
        self._set(create(self._model.ctx, self.nbytes))

    def sync(self, mode):
        """Makes what the CPU wrote visible to the NPU (TO_DEVICE), or the reverse."""
        self._model.lib.sync(self._model.ctx, self._mem, mode)

    def _set(self, mem):
        lib, ctx = self._model.lib, self._model.ctx
        try:
            lib.set_io(ctx, mem, self.attr, self.nbytes)
        except BaseException:
            lib.release([(ctx, mem)])
            raise
        old, self._mem = self._mem, mem
        if old is not None:
            lib.release([(ctx, old)])

    def _spread(self, view, source):
        shape, stride = self.shape, self.attr.w_stride
        row = self.packed // (shape[0] * shape[1])
        step = row // shape[2] * stride
        for y in range(shape[0] * shape[1]):
            view[y * step : y * step + row] = source[y * row : y * row + row]


# Contract. Owned by the port that loaded it; Port.unload() ends it and everything it handed out. Sizes in bytes: `weight` and
# `internal` as the runtime reports them, `resident` what the runtime took for it, `io` its inputs and outputs. `turn` is the
# port's for models in the shared memory, its own for a model with private memory. run() allocates the copies it returns.
class Model:
    """A loaded model: run(), or a with block for work without copies."""

    def __init__(self, port, name, turn):
        self.lib = port.lib
        self.name = name  # not the source: a model in memory need not stay there
        self.turn = turn
        self.arena = port.arena
        self.ctx = None
        self.master = None
        self.users = []  # models on this one's weights
        self.view = None
        self.loose = False
        self.can_dup = False
        self.facts = None
        self.weight = self.internal = self.resident = 0
        self.inputs = []
        self.outputs = []
        self._lent = []
        self._areas = []  # what views, slices and arrays keep

    @property
    def io(self):
        """Bytes of all inputs and outputs, each in whole pages."""
        return sum([pages(t.nbytes) for t in self.inputs + self.outputs])

    def run(self, *inputs):
        """Copies the inputs in, runs, and returns copies of the outputs, all in one turn."""
        if len(inputs) != len(self.inputs):
            raise ValueError(
                "{} inputs given, {} has {}".format(len(inputs), self, len(self.inputs))
            )
        with self:
            for tensor, data in zip(self.inputs, inputs):
                tensor.write(data)
            self.execute()
            return [tensor.read() for tensor in self.outputs]

    def execute(self):
        """Runs on what the inputs hold. Within its turn."""
        self.check_turn()
        self.arena.settle(self)
        for tensor in self.inputs:
            tensor.sync(TO_DEVICE)
        self.lib.run(self.ctx)
        for tensor in self.outputs:
            tensor.sync(FROM_DEVICE)

    def __enter__(self):
        self.turn.take(self)
        if self.ctx is None:
            self.turn.give()
            raise ValueError("{} was unloaded: load it again".format(self))
        return self

    def __exit__(self, *exc):
        lent = [] if self.turn.depth > 1 else self._lent
        for view in lent:
            try:
                view.release()
            except BufferError:
                pass  # something else, a numpy array, still looks at it: unload() will ask
        del lent[:]
        self._areas = [area for area in self._areas if area() is not None]
        self.turn.give()

    def __str__(self):
        return self.name

    def check_turn(self):
        """RuntimeError outside of the model's turn: another model may have run since."""
        if not self.turn.held_by(self):
            raise RuntimeError("{}: only inside its turn, use run() or a with block".format(self))

    def check_views(self):
        """ValueError while something still looks at memory of inputs or outputs: it would be gone."""
        if [1 for area in self._areas if area() is not None]:
            gc.collect()  # a cycle may hold it
        alive = len([1 for area in self._areas if area() is not None])
        if alive:
            text = "{} views of {} are still in use, by slices or arrays. Next: del them, or take copies"
            raise ValueError(text.format(alive, self))

    def lend(self, view, area):
        """Keeps a view, to end it with the turn, and the weak reference to what it looks at."""
        self._lent.append(view)
        self._areas.append(area)
        return view

    def describe(self, commands):
        """Makes inputs and outputs, without memory yet; `commands` are the attribute queries of both."""
        counts = self.lib.counts(self.ctx)
        for tensors, command, count in zip((self.inputs, self.outputs), commands, counts):
            for i in range(count):
                tensors.append(Tensor(self, self.lib.attr(self.ctx, command, i)))
