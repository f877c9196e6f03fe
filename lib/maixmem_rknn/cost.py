# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How an RKNN model is to be loaded, and what that takes."""

from __future__ import annotations

import difflib
import inspect
from typing import Any

from maixmem import Cost
from maixmem_text import tell

from maixmem_rknn import api
from maixmem_rknn.api import INTERNAL_OUTSIDE, OUTSIDE, PAGE, SHARE_WEIGHT, MemSize, pages
from maixmem_rknn.block import Block
from maixmem_rknn.container import RknnFile
from maixmem_rknn.runtime import Runtime
from maixmem_rknn.tensor import Options, apply, item_bytes, layout

# The bytes that the runtime reports are the sum of its requests. The driver takes whole pages for
# each, and up to three were seen: so much more may be taken.
_ROUNDING = 2 * PAGE


_SRAM = {False: 0, True: api.ENABLE_SRAM, "shared": api.ENABLE_SRAM | api.SHARE_SRAM}
# what the runtime flushes: the flags that tell it not to
_NOT_IN, _NOT_OUT = api.NO_FLUSH_INPUTS, api.NO_FLUSH_OUTPUTS
_FLUSH = {True: 0, "inputs": _NOT_OUT, "outputs": _NOT_IN, False: _NOT_IN | _NOT_OUT}
# option: a call that came with it or before, and the runtime that has it
_NEEDS = {
    "cores": ("rknn_set_core_mask", "the full one"),
    "sram": ("rknn_mem_sync", "1.6.0"),
    "flush": ("rknn_create_mem2", "2.0.0"),
    "zero_copy": ("rknn_create_mem2", "2.2.0"),
}


def core_mask(cores: Any) -> int:
    """One bit for each of `cores`: a number from 0, several of them, or None for 0. ValueError for
    all else."""
    numbers = [] if cores is None else list(cores) if isinstance(cores, (tuple, list)) else [cores]
    if [n for n in numbers if type(n) is not int or not 0 <= n < 16]:
        text = "cores={!r}: give the number of a core, 0 and up, or several: cores=(0, 1)"
        raise ValueError(text.format(cores))
    return sum({1 << n for n in numbers})


# The ways of loading; Port.load() says what they mean. `duplicate` is what Port.dup() makes.
# `external`: weights and internal memory are blocks that we, or the caller, make for it. Without
# that the runtime makes all itself.
class LoadOptions:
    """How a load is to be done."""

    def __init__(
        self,
        *,
        shared: bool = True,
        dup: bool = False,
        dynamic: bool = False,
        master: Any = None,
        weights: Block | None = None,
        internal: Block | None = None,
        inputs: Options = None,
        outputs: Options = None,
        cores: Any = None,
        sram: Any = False,
        flush: Any = True,
        zero_copy: bool = False,
        duplicate: bool = False,
    ) -> None:
        own = dynamic or sram or (master is not None and not duplicate)
        if (weights or internal or dup) and own:
            text = "weights=, internal= and dup=True here, master=, dynamic=True and sram= there "
            raise ValueError(text + "exclude each other: with those the runtime makes the memory")
        if sram not in _SRAM or flush not in _FLUSH:
            text = "sram={!r}, flush={!r}: sram is {}; flush is {}"
            known = [" or ".join(map(repr, table)) for table in (_SRAM, _FLUSH)]
            raise ValueError(text.format(sram, flush, *known))
        given = (cores is not None, sram, flush is not True, zero_copy)
        self.given = [name for name, has in zip(_NEEDS, given) if has]
        self.cores = core_mask(cores)
        self.extra = _SRAM[sram] | _FLUSH[flush] | (api.ZERO_COPY if zero_copy else 0)
        self.zero_copy = zero_copy
        self.flushes = (flush in (True, "inputs"), flush in (True, "outputs"))
        self.dup = dup
        self.duplicate = duplicate
        self.master = master
        self.weights = weights
        self.internal = internal
        self.inputs = inputs
        self.outputs = outputs
        self.external = duplicate or not own
        private = dup or duplicate or internal is not None or weights is not None
        self.shared = shared and self.external and not private

    # 0x200 leaves the weights where init put them and costs least; 0x10 copies them out, which
    # dup_context, weight memory of the caller, the mini runtime and those before 1.5.2 need (0x200
    # is refused by the one and ignored by the others). Loads are from buffers always: with 0x10 a
    # path keeps the file besides the copy.
    def flag(self, lib: Runtime) -> int:
        """The flag for rknn_init."""
        if not self.external:
            return self.extra | (SHARE_WEIGHT if self.master else 0)
        if self.dup or self.duplicate or self.weights is not None or not lib.splits:
            return self.extra | OUTSIDE
        return self.extra | INTERNAL_OUTSIDE

    def refuse(self, lib: Runtime) -> str | None:
        """Why a runtime cannot load so, or None."""
        for name in self.given:
            call, since = _NEEDS[name]
            if not lib.has(call):
                text = "{} does not know {}=.\nlibrknnrt {2} or newer, or leave it away"
                return tell(text, lib.name, name, since)
        return None


def uncounted(flag: int, file: RknnFile, weight: int) -> int:
    """Bytes at most of the one request that the runtime leaves out of its sum; a part of the
    graph.

    Of files by older toolkits what is kept besides weights of the caller, of models that share
    weights all that is kept.
    """
    if flag & OUTSIDE and file.uncounted:
        return max(0, file.graph - weight)
    return file.graph if flag & SHARE_WEIGHT else 0


# For each of several shapes the runtime makes one or two requests, and its sum has those of the
# first shape. All it keeps of a file is a part of the graph.
def _other_shapes(flag: int, file: RknnFile, size: MemSize, places: int) -> int:
    if places < 2:
        return 0
    weight = size.weight if flag & OUTSIDE else 0
    internal = 0 if flag & (OUTSIDE | INTERNAL_OUTSIDE) else size.internal
    left = (file.graph or file.nbytes) - weight - (size.dma - internal)
    return pages(max(0, int(left))) + (2 * places - 2) * PAGE


# What the runtime says of one file loaded with one flag: `weight` and `internal` (a page where it
# says 0, because whether a model without runs when it is given nothing was not measured),
# `resident` what it takes itself, of which a duplicate takes `counted` again, `taken` the bytes of
# its requests; the attributes of inputs and outputs; at how many `places` shapes are.
class ModelSizes:
    """Sizes of one model, in bytes."""

    def __init__(
        self,
        size: MemSize,
        flag: int,
        file: RknnFile,
        io: tuple[list[Any], list[Any]],
        places: int = 1,
    ) -> None:
        self.size = size
        self.weight = size.weight or PAGE
        self.internal = size.internal or PAGE
        self.io = io
        self.places = places
        self.dma = int(size.dma)
        self.reckoned = False  # no load has shown it yet
        others = _other_shapes(flag, file, size, places)
        self.taken = self.dma + others
        self.counted = self.resident = pages(size.dma) + _ROUNDING + others
        self.resident += max(0, pages(uncounted(flag, file, self.weight)) - PAGE)

    def io_bytes(self, options: LoadOptions, mini: bool) -> int:
        """Inputs and outputs with the types that the options ask for, each in whole pages."""
        total = 0
        for output, attrs in enumerate(self.io):
            for attr in attrs:
                memory = layout(attr, bool(output), mini)[1]
                told = type(attr).from_buffer_copy(attr)
                apply(told, options.outputs if output else options.inputs, bool(output))
                total += pages(memory * item_bytes(told))
        return total


# With no flag a runtime from 1.5.2 on makes the internal memory besides what it makes with 0x200.
# An older one was asked with 0x10, which leaves out the weights and a part of the file, and has
# inputs and outputs of its own as well: of each output the larger of its two layouts, and twice
# that where it does not say the padded size (1.4.0). Seen of int8 and of float32.
def with_own(sizes: ModelSizes, file: RknnFile, lib: Runtime, ctx: int) -> ModelSizes:
    """The sizes of a load in which the runtime makes all memory, from those where it made the
    least, in a context that still exists."""
    all_made = MemSize.from_buffer_copy(sizes.size)
    all_made.dma += sizes.size.internal
    if not lib.splits:
        all_made.dma += pages(sizes.size.weight) + uncounted(OUTSIDE, file, sizes.weight)
        for output, attrs in enumerate(sizes.io):
            command = api.NATIVE_OUTPUT_ATTR if output else api.NATIVE_INPUT_ATTR
            for attr in attrs:
                own = int(lib.attr(ctx, command, attr.index).size)
                if output:
                    padded = attr.size_with_stride > attr.size
                    own = max(own, attr.size_with_stride) if padded else 2 * max(own, attr.size)
                all_made.dma += pages(own)
    found = ModelSizes(all_made, 0, file, sizes.io, sizes.places)
    found.reckoned = True
    return found


def options(how: dict[str, Any]) -> LoadOptions:
    """The LoadOptions of what was given by name. TypeError names one that there is not."""
    known = list(inspect.signature(LoadOptions).parameters)
    known.remove("duplicate")
    unknown = [name for name in how if name not in known]
    if unknown:
        text = "a .rknn file is not loaded with {0}=.\n{1}"
        near = difflib.get_close_matches(unknown[0], known, 1) or known
        raise TypeError(tell(text, unknown[0], "= or ".join(near) + "="))
    return LoadOptions(**how)


# `weight` and `internal` are the runtime's own figures, exact (None until it could be asked).
# need["npu"] is what the model keeps for itself, inputs and outputs included; peak["npu"] is a
# load with no other model there, the internal memory included. Both are "at most": the runtime
# tells the sum of its requests, the driver takes whole pages for each. Before the runtime was
# asked (no room to) the file alone is known, a "bound": at least.
class RknnCost(Cost):
    """What one load takes; update() as more becomes known."""

    def __init__(
        self, source: Any, options: LoadOptions, nbytes: int, lib: Runtime, refuse: str | None
    ) -> None:
        super().__init__({}, {})
        self.certainty = "unknown"
        self.refuse = refuse
        self.source = source
        self.options = options
        self.nbytes = nbytes
        self.sizes: ModelSizes | None = None
        self.weight: int | None = None
        self.internal: int | None = None
        self._lib = lib
        if refuse is None:
            self.update(None)

    def update(self, sizes: ModelSizes | None) -> None:
        """Takes in what is known of the file now."""
        self.sizes = sizes
        self.certainty = "at most" if sizes else "bound"
        mini = self._lib.mini
        own, internal, transient = pages(self.nbytes), 0, 0
        if sizes:
            options = self.options
            flag = options.flag(self._lib)
            self.weight, self.internal = sizes.weight, sizes.internal
            own = sizes.counted if options.duplicate else sizes.resident
            own += sizes.io_bytes(options, mini)
            if flag & OUTSIDE and options.weights is None and not options.duplicate:
                own += pages(sizes.weight)
            if options.external and options.internal is None:
                internal = pages(sizes.internal)
            if mini:
                transient = pages(sizes.weight)  # its own copy, until the weights are set
            own += 0 if options.shared else internal
        shared = internal if self.options.shared else 0
        self.need = {"npu": own}
        self.peak = {"npu": own + transient + shared, "ram": self.nbytes}

    # 16 are taken of a model of three inputs and outputs by 1.4.0 and 1.5.0, which lose 128 KiB
    # outside all books with 15; newer runtimes take 15 of it, and 13 of one of two.
    @property
    def files(self) -> int:
        """File descriptors that a load takes, at most."""
        sizes = self.sizes
        return 11 + len(sizes.io[0] + sizes.io[1]) + 2 * sizes.places if sizes else 16

    def least(self) -> int:
        """What no load can do without, as the runtime reports it."""
        options, sizes = self.options, self.sizes
        if sizes is None:
            return 0
        weights = sizes.weight if options.master is None and options.weights is None else 0
        internal = pages(sizes.internal) if options.internal is None else 0
        return pages(weights) + internal + sizes.io_bytes(options, self._lib.mini)
