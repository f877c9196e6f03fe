# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""librknnrt (Rockchip's NPU runtime): its calls, with the checks that it leaves out.

Behaviour was measured on librknnrt 1.4.0, 1.5.0, 1.5.2 and 1.6.0; the mini runtime (RV1103,
RV1106) was read.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterable
from typing import Any

from maixmem_linux.turn import check_process
from maixmem_text import tell

from maixmem_rknn import api
from maixmem_rknn.api import INFO_ONLY, OUTSIDE, PAGE, MemSize, TensorAttr, pages
from maixmem_rknn.block import Block, Memory
from maixmem_rknn.errors import MALLOC_FAIL, MissingCall, RknnError, check
from maixmem_rknn.kept import Mapped, bound
from maixmem_rknn.lost import Opened, still_open


# Contract. Owns the list of live contexts and of the memories made with each; all sizes are bytes.
# The order of release is kept here: a context takes its memories with it (the runtime would lose
# them), nothing is released twice, and an interrupt in the middle of a release is raised at its
# end. What the runtime refuses is an RknnError, what it would not check a ValueError before the
# call, a call that it does not have a MissingCall. `used` = page-rounded bytes of our own
# memories; `leaked_bytes` = bytes that the runtime did not give back.
class Runtime:
    """The calls of one runtime library."""

    _making = threading.RLock()  # of all: memory is made by one thread at a time, see kept.py

    def __init__(self, library: Any) -> None:
        self.library = library
        self.name = str(getattr(library, "_name", library))
        self._calls: dict[str, Any] = {}
        for name, (result, arguments) in {**api.CALLS, **api.LATER_CALLS}.items():
            call = getattr(library, name, None)
            if call is not None:
                call.restype = result
                call.argtypes = arguments
                self._calls[name] = call
            elif name in api.CALLS:
                text = "{} has no {}: is it the RKNN runtime?\ninstall that of your board, 1.4 "
                text += "or newer"
                raise ImportError(tell(text, self.name, name))
        self.mini = "librknnmrt" in self.name
        # Nothing tells whether a runtime knows RKNN_FLAG_INTERNAL_ALLOC_OUTSIDE: an older one
        # takes it without a word and keeps an internal memory of its own. The flag came with
        # 1.5.2, as this call did.
        self.splits = not self.mini and self.has("rknn_set_input_shapes")
        self._process = os.getpid()
        self.used = 0
        self.leaked_bytes = 0
        self.leaked_contexts = 0
        self._opened: dict[int, set[Any]] = {}  # descriptors that came with each context
        self._mems: dict[int, dict[int, Memory]] = {}
        self.names: dict[int, str] = {}  # of the models, for those who wait for one
        self.files: dict[int, Any] = {}  # memory of no context that a context reads its file from
        self._used_by_none: set[int] = set()  # contexts of which a dup failed
        self._by_address = False  # what kept.py needs was seen of this runtime

    def has(self, name: str) -> bool:
        """Whether this runtime has the call of that name."""
        return name in self._calls

    def _call(self, name: str) -> Any:
        if name not in self._calls:
            text = "{} has no {}.\ninstall a newer runtime, or do without"
            raise MissingCall(tell(text, self.name, name))
        return self._calls[name]

    # --- contexts ---

    def init(self, model: Any, flag: int, master: int = 0) -> int:
        """A context for `model`, a ctypes array that must live until the weights are set (OUTSIDE)
        or this returns.

        A failed init leaves a context. Where the file was refused it holds nothing, and is
        destroyed; where memory ran out it holds what there was, and its destroy ends the process
        (it walks a graph that the init has freed): it is left alone, and the runtime gets a
        request to free its memory. What it does not give back is counted as leaked, and what the
        context says of its memory goes with the error as `held`: the driver has these bytes back
        when the process ends.
        """
        check_process(self.name, self._process)
        extend = api.InitExtend(ctx=master) if master else None
        what = f"rknn_init with flag 0x{flag:x}"
        arguments: Any = lambda h: (h, model, len(model), flag, extend)  # noqa: E731
        if flag & INFO_ONLY:
            return self._context("rknn_init", what, arguments)
        with self._making:
            mapped, opened = Mapped(), Opened()
            try:
                ctx = self._context("rknn_init", what, arguments)
            except RknnError as e:
                if e.code == MALLOC_FAIL:
                    self._have_back(e, mapped, model)
                counted = bound(e.held) if e.held else 0
                self.leaked_bytes += max(0, still_open(opened.new()) - counted)
                raise
            self._opened[ctx] = opened.new()
            return ctx

    def dup(self, ctx: int) -> int:
        """A second context on the weights of `ctx`, which must have been created with OUTSIDE.

        One that ran out of memory leaves no context, but what it had taken, which goes as after
        init, and one use of what `ctx` has, which does not: destroy() counts it.
        """
        name = "rknn_dup_context"
        most = bound(self.mem_size(ctx))
        with self._making:
            mapped = Mapped()
            try:
                return self._context(name, name, lambda handle: (api.Handle(ctx), handle))
            except RknnError as e:
                if e.code == MALLOC_FAIL and e.held is None:
                    self._have_back_of_dup(ctx, mapped, most)
                raise

    def _context(self, name: str, what: str, arguments: Any) -> int:
        handle = api.Handle(0)
        code = held = None
        try:
            code = self._call(name)(*arguments(handle))
        finally:
            if code != 0 and handle.value:
                held = self._discard_failed(handle.value, code)
        if code:
            raise RknnError(what, code, held)
        self._mems[handle.value] = {}
        return int(handle.value)

    # `code` None: a signal came when the call had succeeded.
    def _discard_failed(self, ctx: int, code: int | None) -> MemSize | None:
        if code != MALLOC_FAIL:
            self._calls["rknn_destroy"](ctx)
            return None
        self.leaked_contexts += 1
        held = MemSize()
        size = ctypes.sizeof(held)
        if self._calls["rknn_query"](ctx, api.MEM_SIZE, ctypes.byref(held), size) == 0:
            self.leaked_bytes += bound(held)
        return held

    # A context that only describes the file stands for the failed one: it takes no memory.
    def _have_back(self, e: RknnError, mapped: Mapped, model: Any) -> None:
        if not self._by_address or e.held is None:
            return
        try:
            ctx = self.init(model, OUTSIDE | INFO_ONLY)
        except RknnError:
            return
        try:
            most = bound(e.held) + pages(len(model))
            given = mapped.give_back(self._calls, ctx, most) if self.is_measured(ctx) else 0
        finally:
            self.destroy(ctx)
        if given and given >= e.held.dma:
            self.leaked_bytes -= bound(e.held)
            e.held = None

    def _have_back_of_dup(self, ctx: int, mapped: Mapped, most: int) -> None:
        if self._by_address and self.is_measured(ctx):
            mapped.give_back(self._calls, ctx, most)
        kept = sum(mapped.new().values())
        self.leaked_bytes += kept if kept <= most else 0
        if not self.splits:  # 1.5.2 and later let go of what was shared
            self._used_by_none.add(ctx)

    def is_measured(self, ctx: int) -> bool:
        """Whether it is a runtime of which was seen what this library counts on where memory runs
        out: before 2.0."""
        try:
            return self.version(ctx).startswith("1.")
        except RknnError:
            return False

    def destroy(self, ctx: int, nbytes: int = 0) -> None:
        """Releases the memories of `ctx`, then the context. `nbytes` counts as leaked when the
        runtime refuses."""
        self._mems_of(ctx)
        try:
            self.release_all(ctx)
        finally:
            del self._mems[ctx]
            opened = self._opened.pop(ctx, set())
            self.names.pop(ctx, None)
            mapped = Mapped() if ctx in self._used_by_none else None
            self._used_by_none.discard(ctx)
            if self._calls["rknn_destroy"](ctx) != 0:
                self.leaked_bytes += nbytes
            elif mapped:
                self.leaked_bytes += max(0, nbytes - mapped.gone())
            else:
                self.leaked_bytes += still_open(opened)
            self.release([(0, mem) for mem in [self.files.pop(ctx, None)] if mem])

    def held(self, ctx: int, but: Any = None) -> int:
        """Page-rounded bytes of our own memories of `ctx`, except `but`."""
        file = [pages(mem.contents.size) for c, mem in self.files.items() if c == ctx]
        own = [m.nbytes for m in list(self._mems_of(ctx).values()) if m.mem is not but]
        return sum(own + file)

    def users_of(self, ctx: int, but: Any = None) -> list[str]:
        """Names of the models that work in memories made with `ctx`, except `but`."""
        return sorted({self._name(c) for c, _ in self._views_in(ctx, but)})

    def let_go(self, ctx: int, but: Any = None) -> None:
        """Takes those memories from these models, which must not run any more."""
        self.release(self._views_in(ctx, but))

    def _views_in(self, ctx: int, but: Any) -> list[tuple[int, Any]]:
        """(context, memory) of each view by another model into memories made with `ctx`, except
        `but`. By address: a Block may have been created from the numbers of one."""
        found = []
        for own in list(self._mems_of(ctx).values()):
            if own.block is None and own.mem is not but:
                start = own.mem.contents.virt
                found += self._views_between(ctx, start, start + own.mem.contents.size)
        return found

    def _views_between(self, ctx: int, start: int, end: int) -> list[tuple[int, Any]]:
        return [
            (other, m.mem)
            for other, mems in list(self._mems.items())
            for m in list(mems.values())
            if other != ctx and m.block is not None and start <= m.block.virt < end
        ]

    def run(self, ctx: int) -> None:
        """One inference, until it is done. It flushes the caches of inputs and outputs that the
        runtime made."""
        self._mems_of(ctx)
        check("rknn_run", self._calls["rknn_run"](ctx, None))

    def set_cores(self, ctx: int, mask: int) -> None:
        """The NPU cores that run `ctx` from here on, one bit each; 0: as the driver likes."""
        call = self._call("rknn_set_core_mask")
        self._mems_of(ctx)
        what = "cores of mask {}, which this NPU does not take so (RK3588: one, (0, 1), (0, 1, 2))"
        check(what.format(mask), call(ctx, mask))

    # --- queries ---

    def mem_size(self, ctx: int) -> MemSize:
        """MemSize; zeroed first, because runtimes without SRAM do not write its fields."""
        found: MemSize = self._query(ctx, api.MEM_SIZE, MemSize())
        return found

    def counts(self, ctx: int) -> tuple[int, int]:
        """(inputs, outputs)."""
        found = self._query(ctx, api.IN_OUT_NUM, api.Counts())
        return found.inputs, found.outputs

    def attr(self, ctx: int, command: int, index: int) -> TensorAttr:
        """The TensorAttr of one input or output."""
        found = TensorAttr()
        found.index = index
        self._query(ctx, command, found)
        return found

    def ranges(self, ctx: int, index: int) -> tuple[int, list[tuple[int, ...]]]:
        """(format, shapes) that an input of a dynamic model may have; no shapes for other
        models."""
        found = api.InputRange()
        found.index = index
        try:
            self._query(ctx, api.DYNAMIC_RANGE, found)
        except RknnError:
            return 0, []  # what the runtime answers for a model of one shape
        shapes = [tuple(found.shapes[k][: found.n_dims]) for k in range(min(512, found.count))]
        return found.fmt, shapes

    def set_input_shapes(self, ctx: int, attrs: list[TensorAttr]) -> None:
        """The shapes of all inputs at once, from here on."""
        call = self._call("rknn_set_input_shapes")
        self._mems_of(ctx)
        check("rknn_set_input_shapes", call(ctx, len(attrs), (TensorAttr * len(attrs))(*attrs)))

    def version(self, ctx: int) -> str:
        """Versions of runtime and driver as text."""
        found = self._query(ctx, api.SDK_VERSION, api.Version())
        return f"{found.api.decode()}, driver {found.driver.decode()}"

    def _query(self, ctx: int, command: int, into: Any) -> Any:
        self._mems_of(ctx)
        code = self._calls["rknn_query"](ctx, command, ctypes.byref(into), ctypes.sizeof(into))
        check(f"rknn_query {command}", code)
        return into

    # --- memory ---

    def create_mem(self, ctx: int, nbytes: int, flags: int = 0) -> Any:
        """NPU memory of `nbytes`, or None when there is none; with `flags` by rknn_create_mem2."""
        if not 0 < nbytes < 1 << 32:
            raise ValueError(f"{nbytes} bytes: must be 1 to 4294967295")
        with self._making:
            if flags & api.NO_CONTEXT:
                self._mems.setdefault(0, {})
            self._mems_of(ctx)
            extra = ("rknn_create_mem2", flags) if flags else ("rknn_create_mem",)
            opened = Opened()
            mem = self._call(extra[0])(ctx, nbytes, *extra[1:])
            if not mem:
                self.leaked_bytes += still_open(opened.new())
            if mem and not self.mini:
                self._by_address = mem.contents.priv == mem.contents.virt
            return self._keep(ctx, mem, pages(nbytes), 0, None)

    def view(self, ctx: int, block: Block, nbytes: int, offset: int = 0) -> Any:
        """`nbytes` at `offset` of a Block, for context `ctx`. Allocates nothing. The runtime would
        not check the range.

        As physical address the full runtime stores all ones for every descriptor, good or bad:
        Block.check() looks first.
        """
        block.check(nbytes, offset)
        self._mems_of(ctx)
        if block.fd is None:
            where = (block.phys + offset, block.virt + offset, nbytes)
            mem = self._calls["rknn_create_mem_from_phys"](ctx, *where)
        else:
            call = self._call("rknn_create_mem_from_fd")
            mem = call(ctx, block.fd, block.virt, nbytes, offset)
        mem = self._keep(ctx, mem, 0, offset + (block.phys if block.fd is None else 0), block)
        if mem is None:
            raise RknnError(f"a view of {nbytes} bytes at {offset} of {block}", MALLOC_FAIL)
        return mem

    def release(self, pairs: Iterable[tuple[int, Any]]) -> None:
        """Destroys each (context, memory) of ours that is still alive, even when a signal arrives
        meanwhile."""
        interrupt = None
        for ctx, mem in pairs:
            try:
                self._destroy_mem(ctx, mem)
            except BaseException as e:
                interrupt = e
        if interrupt is not None:
            raise interrupt

    def release_all(self, ctx: int, but: Any = None) -> None:
        """Destroys every memory of `ctx` except `but`."""
        mems = [m.mem for m in self._mems_of(ctx).values()]
        self.release([(ctx, mem) for mem in mems if mem is not but])

    def _destroy_mem(self, ctx: int, mem: Any) -> None:
        check_process(self.name, self._process)
        found = self._mems.get(ctx, {}).pop(ctypes.addressof(mem.contents), None)
        if found is None:
            return
        nbytes = found.nbytes
        self.used -= nbytes
        if found.block is None:
            mem.given_back = found.mem.given_back = True
        else:
            found.block.users.remove(self._name(ctx))
        if self._calls["rknn_destroy_mem"](ctx, mem) != 0:
            self.leaked_bytes += nbytes

    # --- what a context works in ---

    def set_weight(self, ctx: int, mem: Any, need: int) -> None:
        """Gives `ctx` its weight memory: the runtime would overrun a smaller one."""
        self._block(ctx, mem, need, "weight")
        check("rknn_set_weight_mem", self._calls["rknn_set_weight_mem"](ctx, mem))

    def set_internal(self, ctx: int, mem: Any, need: int) -> None:
        """Gives `ctx` its internal memory: the runtime checks neither size nor place."""
        self._block(ctx, mem, need, "internal")
        check("rknn_set_internal_mem", self._calls["rknn_set_internal_mem"](ctx, mem))

    def set_io(self, ctx: int, mem: Any, attr: TensorAttr, need: int) -> None:
        """Attaches an input or output of exactly `need` bytes.

        The mini runtime takes no other size; the full one refuses smaller inputs and overruns
        smaller outputs.
        """
        size = self._ours(ctx, mem).size
        if size != need:
            text = "a tensor of {} bytes, its memory has {}: make it that size"
            raise ValueError(text.format(need, size))
        check("rknn_set_io_mem", self._calls["rknn_set_io_mem"](ctx, mem, attr))

    def sync(self, ctx: int, mem: Any, mode: int) -> None:
        """Makes what one side wrote visible to the other: TO_DEVICE or FROM_DEVICE."""
        call = self._call("rknn_mem_sync")
        self._ours(ctx, mem)
        check("rknn_mem_sync", call(ctx, mem, mode))

    def _block(self, ctx: int, mem: Any, need: int, kind: str) -> None:
        size = self._ours(ctx, mem).size
        start = self._mems[ctx][ctypes.addressof(mem.contents)].start
        if size < need or start % PAGE:
            text = "{} memory: {} bytes at {}; the model needs {} at a multiple of {}"
            raise ValueError(text.format(kind, size, start, need, PAGE))

    # --- parts ---

    def _name(self, ctx: int) -> str:
        return self.names.get(ctx, f"context {ctx}")

    def _mems_of(self, ctx: int) -> dict[int, Memory]:
        check_process(self.name, self._process)
        if ctx not in self._mems:
            raise ValueError(f"context {ctx}: not ours, or destroyed")
        return self._mems[ctx]

    def _ours(self, ctx: int, mem: Any) -> Any:
        if not mem or ctypes.addressof(mem.contents) not in self._mems_of(ctx):
            text = "a memory that context {} did not make, or that was released"
            raise ValueError(text.format(ctx))
        return mem.contents

    # `start` is where it begins in its block, or in physical memory.
    def _keep(self, ctx: int, mem: Any, nbytes: int, start: int, block: Block | None) -> Any:
        if not mem:
            return None
        self._mems[ctx][ctypes.addressof(mem.contents)] = Memory(mem, nbytes, start, block)
        if block is not None:
            block.users.append(self._name(ctx))
        self.used += nbytes
        return mem
