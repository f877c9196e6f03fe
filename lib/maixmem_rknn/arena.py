# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory that RKNN models compute in which run one after another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from maixmem import NoRoom

from maixmem_rknn.api import pages
from maixmem_rknn.block import Block
from maixmem_rknn.errors import RknnError
from maixmem_rknn.runtime import Runtime

Create = Callable[[int, int], Any]


class User(Protocol):
    """What the block asks of a model that computes in it."""

    ctx: int | None
    internal: int
    view: Any
    needs_rebind: bool

    def require_ctx(self) -> int:
        """The runtime's number of it."""


# Contract. One block, as large as the largest internal memory among its users (and as `reserve`),
# of which each user has a view of its own size: the demo's README sizes the second view by the
# first model, which the manual and we do not. The block is made on the context of one user,
# `owner`, which must live as long. add() may replace the block by a larger one: the old goes only
# when every user works in the new, so that a failure leaves the old state; meanwhile both are
# taken. When the owner leaves, the block moves to another user, or, where it cannot (no room; the
# mini runtime takes no new internal memory once inputs are attached), the bare context stays until
# the block goes. With an `outside` Block nothing is allocated and nothing grows. `create(ctx,
# nbytes)` makes memory or raises NoRoom. Callers hold the lock.
class Arena:
    """Internal memory for models that run in turn."""

    def __init__(
        self, runtime: Runtime, create: Create, reserve: int = 0, outside: Block | None = None
    ) -> None:
        self._lib = runtime
        self._create = create
        self._reserve = reserve
        self.outside = outside
        self._block = outside
        self.mem: Any = None
        self._deferred: tuple[int, int] | None = None
        self.owner: int | None = None
        self.users: list[User] = []

    @property
    def size(self) -> int:
        """Bytes of the block, 0 without one."""
        return self._block.nbytes if self._block else 0

    @property
    def deferred_bytes(self) -> int:
        """What a context still takes that only waits for the block to go."""
        return self._deferred[1] if self._deferred else 0

    def grown(self, internal: int, size: int) -> int:
        """What a block of `size` bytes becomes once a model that needs `internal` bytes is in."""
        return size if self.outside else max(internal, self._reserve, size)

    def without(self, freed: Collection[User]) -> tuple[int, int]:
        """(size of the block, bytes given back) once the models `freed` are gone, if it can
        move."""
        left = [m for m in self.users if m not in freed]
        if self.outside or len(left) == len(self.users):
            return self.size, 0
        if not left:
            return 0, pages(self.size) + self.deferred_bytes
        if not self._can_move(left):
            return self.size, 0
        least = self._least(left)
        return least, pages(self.size) - pages(least) + self.deferred_bytes

    def blocked(self, internal: int, size: int, users: Collection[User]) -> str | None:
        """Why a block of `size` bytes cannot be enlarged for `internal` while `users`
        work in it, or None."""
        if internal <= size or not (self.outside or (self._lib.mini and users)):
            return None
        text = "{} bytes of internal memory, the shared block has {} and cannot grow: {}"
        advice = "Port(reserve={}), or load the largest model first".format(internal)
        return text.format(
            internal, size, "give Port(arena=...) a larger one" if self.outside else advice
        )

    def add(self, model: User) -> None:
        """Gives a model its view. On failure nothing has changed but memories of its context,
        which go with it."""
        if model.internal > self.size:
            self._replace(self.users + [model], self.grown(model.internal, self.size))
        else:
            assert self._block is not None
            model.view = self._lib.view(model.require_ctx(), self._block, model.internal)
            self._lib.set_internal(model.require_ctx(), model.view, model.internal)
        self.users.append(model)

    def rebind(self, model: User) -> None:
        """Before a run: repeats what a failed replacement could not put back."""
        if model.needs_rebind:
            self._lib.set_internal(model.require_ctx(), model.view, model.internal)
            model.needs_rebind = False

    def remove(self, model: User) -> None:
        """Takes a model out. Afterwards its context may be destroyed, unless `owner` still is it:
        see defer_destroy()."""
        if model not in self.users:
            return
        self.users.remove(model)
        if not self.users:
            self._drop()
        elif self._can_move(self.users):
            try:
                self._replace(self.users, self._least(self.users))
            except (NoRoom, RknnError):
                pass  # the block stays where it is

    def _can_move(self, users: Sequence[User]) -> bool:
        return not self._lib.mini and self.owner not in [None] + [m.ctx for m in users]

    def _least(self, users: Sequence[User]) -> int:
        return max([self._reserve] + [m.internal for m in users])

    def defer_destroy(self, ctx: int, nbytes: int) -> None:
        """Destroys the owner's context, whose model is gone and took `nbytes`, as soon as the
        block goes."""
        self._deferred = (ctx, nbytes)
        self._lib.release_all(ctx, self.mem)

    def _replace(self, users: list[User], size: int) -> None:
        owner = users[0].require_ctx()
        mem = self._create(owner, size)
        views: list[tuple[int, Any]] = []
        moved: list[User] = []
        try:
            block = Block.of(mem)
            for m in users:
                views.append((m.require_ctx(), self._lib.view(m.require_ctx(), block, m.internal)))
            for m, view in zip(users, views):
                moved.append(m)
                self._lib.set_internal(m.require_ctx(), view[1], m.internal)
        except BaseException:
            self._put_back(moved)
            self._lib.release(views + [(owner, mem)])
            raise
        old = [(m.require_ctx(), m.view) for m in users if m.view]
        for m, view in zip(users, views):
            m.view, m.needs_rebind = view[1], False
        self._renew(owner, mem, block, old)

    def _put_back(self, moved: list[User]) -> None:
        for m in moved:
            m.needs_rebind = m.view is not None
            try:
                self.rebind(m)
            except BaseException:
                pass  # rebind() before its next run tries again

    def _drop(self) -> None:
        if self.outside is None:
            self._renew(None, None, None, [])

    def _renew(
        self, owner: int | None, mem: Any, block: Block | None, old: list[tuple[int, Any]]
    ) -> None:
        if self.mem is not None:
            assert self.owner is not None
            old.append((self.owner, self.mem))
        deferred, self._deferred = self._deferred, None
        self.owner, self.mem, self._block = owner, mem, block
        try:
            self._lib.release(old)
        finally:
            if deferred:
                self._lib.destroy(*deferred)
