# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One input or output of an RKNN model: what its bytes mean, and the memory they are in."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from maixmem_linux.whole import whole
from maixmem_text import tell

from maixmem_rknn.api import FORMATS, FROM_DEVICE, TO_DEVICE, TYPES, TensorAttr
from maixmem_rknn.block import Block
from maixmem_rknn.shapes import Shapes

_NAMES = {number: name for name, (number, _) in TYPES.items()}
_AFFINE = 2  # qnt_type: scale and zero point
_NHWC = 1
_FIELDS = ("type", "fmt", "scale", "zero_point", "pass_through")

#: What load(inputs=..., outputs=...) takes: a type for all, or by index or name a type or {field:
# value}.
Options = Any


class Owner(Protocol):
    """What an input or output asks of its model."""

    lib: Any
    options: tuple[Options, Options]
    sets: Shapes
    place: int
    flushes: tuple[bool, bool]

    def require_ctx(self) -> int:
        """The runtime's number of it."""

    def check_lock(self) -> None:
        """RuntimeError outside of its with block."""

    def check_no_views(self) -> None:
        """Ends views; ValueError while slices of them are in use."""

    def lend(self, view: memoryview, area: Any) -> memoryview:
        """Keeps a view until the end of its with block."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *exc: object) -> None: ...


def type_of(attr: TensorAttr) -> str:
    """The name of the element type of an attribute, or "type N" for those that have no bytes of
    their own."""
    return _NAMES.get(attr.type, f"type {attr.type}")


def item_bytes(attr: TensorAttr) -> int:
    """Bytes of one element."""
    return (
        TYPES[_NAMES[attr.type]][1] if attr.type in _NAMES else max(1, attr.size // attr.n_elems)
    )


# A quantised input of a picture's shape: those are fed with pixels. The runtime calls it int8 and
# would take the pixels as int8 too; given as uint8, the NPU normalises and quantises them itself,
# with the means of the conversion.
def is_picture(attr: TensorAttr) -> bool:
    """Whether an input is a quantised picture: N, H, W and 1, 3 or 4 channels."""
    shape = attr.dims[: attr.n_dims]
    quantised = type_of(attr) == "int8" and attr.qnt_type == _AFFINE
    return quantised and attr.fmt == _NHWC and attr.n_dims == 4 and shape[3] in (1, 3, 4)


def apply(attr: TensorAttr, options: Options, output: bool) -> TensorAttr:
    """Changes a queried attribute into what the caller wants to give or get. ValueError names a
    wrong option."""
    wanted = _wanted(attr, options)
    if wanted is None:
        wanted = {"type": "uint8"} if not output and is_picture(attr) else {}
    for key, value in wanted.items():
        _check_option(attr, key, value)
    if "type" in wanted:
        attr.type = TYPES[wanted["type"]][0]
    if "fmt" in wanted:
        attr.fmt = FORMATS.index(wanted["fmt"])
    attr.scale = wanted.get("scale", attr.scale)
    attr.zp = wanted.get("zero_point", attr.zp)
    attr.pass_through = int(wanted.get("pass_through", attr.pass_through))
    return attr


# None: nothing is said of this one. "native": as the model has it.
def _wanted(attr: TensorAttr, options: Options) -> dict[str, Any] | None:
    if isinstance(options, Mapping):
        options = options.get(attr.index, options.get(attr.name.decode(errors="replace")))
    if options is None or options == "native":
        return options and {}
    return {"type": options} if isinstance(options, str) else dict(options)


def _check_option(attr: TensorAttr, key: str, value: Any) -> None:
    known: Any = {"type": TYPES, "fmt": FORMATS[:2]}.get(key)
    if key not in _FIELDS or (known and value not in known):
        text = "tensor {} ({}): {}={!r}: the fields are {}; types {}; formats {}"
        lists = [", ".join(names) for names in (_FIELDS, TYPES, FORMATS[:2])]
        raise ValueError(
            text.format(attr.index, attr.name.decode(errors="replace"), key, value, *lists)
        )


# Of the queried attribute, before apply(): with `stride` the rows of an input are padded; an
# output in the format of the model's author is written without any padding, whatever
# size_with_stride says (measured: the runtime writes as many bytes as elements of the type asked
# for). The mini runtime wants its native size exactly.
def layout(attr: TensorAttr, output: bool, mini: bool) -> tuple[int, int]:
    """(elements of data, elements in memory) of an input or output."""
    if output and not mini:
        return attr.n_elems, attr.n_elems
    padded = max(attr.size, attr.size_with_stride) // item_bytes(attr)
    return (padded if output else attr.n_elems), padded


# Contract. One input or output. `attr` is what the runtime is told, `type`, `fmt`, `scale` and
# `zero_point` the same in words; `packed` bytes of data; `nbytes` of its memory, larger than that
# only for inputs whose rows are padded to the width stride. The memory is made when the model is
# loaded and belongs to it; attach() replaces it.
class Tensor:
    """The memory of one input or output."""

    def __init__(self, model: Owner, attr: TensorAttr, output: bool) -> None:
        self._model = model
        self._mem: Any = None
        self._block: Block | None = None
        self.output = output
        self.renew(attr)

    def renew(self, attr: TensorAttr) -> None:
        """Takes over a queried attribute: at loading, and when a dynamic model has other
        shapes."""
        model = self._model
        data, memory = layout(attr, self.output, model.lib.mini)
        self.name = attr.name.decode(errors="replace")
        self.shape = tuple(attr.dims[: attr.n_dims])
        self.attr = apply(attr, model.options[self.output], self.output)
        item = item_bytes(self.attr)
        self.packed = data * item
        self.nbytes = memory * item

    @property
    def type(self) -> str:
        """The element type: uint8, int8, float16, float32..."""
        return type_of(self.attr)

    @property
    def fmt(self) -> str:
        """The layout: nhwc, nchw, nc1hwc2, undefined."""
        return FORMATS[self.attr.fmt] if 0 <= self.attr.fmt < len(FORMATS) else "undefined"

    @property
    def scale(self) -> float:
        """Real value = (element - zero_point) * scale, where the element type is the model's
        own."""
        return float(self.attr.scale)

    @property
    def zero_point(self) -> int:
        """See scale."""
        return int(self.attr.zp)

    def view(self) -> memoryview:
        """The memory itself as a memoryview of `nbytes`, within the model's with block; it ends
        with that."""
        self._model.check_lock()
        mem = self._mem.contents
        area = (ctypes.c_ubyte * self.nbytes).from_address(mem.virt + mem.offset)
        return self._model.lend(memoryview(area).cast("B"), weakref.ref(area))

    def write(self, data: Any) -> None:
        """Copies `data` in: packed, or as it lies in memory. Within the model's with block."""
        view = self.view()
        source = memoryview(data).cast("B")
        if len(source) == self.nbytes:
            view[:] = source
        elif len(source) == self.packed:
            self._spread(view, source)
        else:
            text = "{} bytes for an input of {} {}: {} packed or {} with stride.\ngive so many, "
            text += "or load(inputs=...) with your type"
            text = tell(text, len(source), self.shape, self.type, self.packed, self.nbytes)
            raise ValueError(text)
        if self._block is None:
            self.sync(TO_DEVICE)

    def read(self) -> bytes:
        """A copy as bytes, as it lies in memory. Within the model's with block."""
        if self._block is None:
            self.sync(FROM_DEVICE)
        return bytes(self.view())

    @whole
    def attach(self, block: Block, offset: int = 0) -> None:
        """Works in `block` from now on: a camera's or another program's memory. What it had before
        is released.

        Cached memory is flushed around each run, by the runtime's call or the kernel's; ValueError
        where there is neither.
        """
        model = self._model
        if block.cached and block.fd is None and not model.lib.has("rknn_mem_sync"):
            text = (
                "{}: cached memory that only has a physical address, and {} cannot flush it (no "
            )
            text += "rknn_mem_sync).\nuncached memory, or a block with its fd"
            raise ValueError(tell(text, model, model.lib.name))
        with model:
            model.check_no_views()
            self._set(model.lib.view(model.require_ctx(), block, self.nbytes, offset))
            self._block = block

    def allocate(self, create: Callable[[int, int], Any]) -> None:
        """Allocates memory of its own: `create(ctx, nbytes)`."""
        self._set(create(self._model.require_ctx(), self.nbytes))
        self._block = None

    def change(self, attr: TensorAttr, create: Callable[[int, int], Any]) -> None:
        """Takes other attributes and memory for them; what it had is not released."""
        self.renew(attr)
        self._mem = None
        self.allocate(create)

    def undo(self, before: dict[str, Any]) -> None:
        """Is again what it was, vars() of then, for the runtime too; memory that change() made is
        released."""
        lib, ctx, mem = self._model.lib, self._model.require_ctx(), self._mem
        vars(self).update(before)
        lib.set_io(ctx, self._mem, self.attr, self.nbytes)
        if mem is not None and mem is not self._mem:
            lib.release([(ctx, mem)])

    def sync(self, mode: int) -> None:
        """Flushes cached memory of the caller, and memory of the runtime that it does not flush
        itself in each run (load(flush=...)): TO_DEVICE what was written, FROM_DEVICE before
        reading."""
        block, lib = self._block, self._model.lib
        if self._model.flushes[self.output] if block is None else not block.cached:
            return
        if block is None or lib.has("rknn_mem_sync"):
            lib.sync(self._model.require_ctx(), self._mem, mode)
        else:
            block.sync(mode == TO_DEVICE)

    def flush_block(self) -> None:
        """For memory of the caller: of an input before each run, of an output after it."""
        if self._block is not None:
            self.sync(FROM_DEVICE if self.output else TO_DEVICE)

    def _set(self, mem: Any) -> None:
        lib, ctx = self._model.lib, self._model.require_ctx()
        try:
            lib.set_io(ctx, mem, self.attr, self.nbytes)
        except BaseException:
            lib.release([(ctx, mem)])
            raise
        if not self.output:
            self._model.sets.attached.add((self.attr.index, self._model.place))
        old, self._mem = self._mem, mem
        if old is not None:
            lib.release([(ctx, old)])

    # Rows of NHWC are padded to the stride in pixels.
    def _spread(self, view: memoryview, source: memoryview) -> None:
        shape, stride = self.shape, self.attr.w_stride
        row = self.packed // (shape[0] * shape[1])
        step = row // shape[2] * stride
        for y in range(shape[0] * shape[1]):
            view[y * step : y * step + row] = source[y * row : y * row + row]
