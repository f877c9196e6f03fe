# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What RKNN models that run one after another share: the turn, and the memory they compute in."""

import threading

from maixmem import NoRoom
from maixmem_librknn import Block
from maixmem_rknnapi import RknnError, pages


class TurnError(RuntimeError):
    """A model was to run, load or unload while this thread is inside the turn of another."""


# Contract. One holder at a time. Another thread waits; the same thread may take it again for the same holder, and gets
# TurnError for another one, because waiting would never end and running would destroy what the first still reads.
class Turn:
    """The right to run in a shared memory."""

    def __init__(self):
        self._lock = threading.RLock()
        self._holder = None
        self._thread = None
        self.depth = 0

    def take(self, who):
        """Waits for the turn and holds it until give()."""
        self._lock.acquire()
        if self.depth and self._holder is not who:
            holder = self._holder
            self._lock.release()
            raise TurnError(
                "{} is in its turn: leave its with block before {}".format(holder, who)
            )
        self._holder = who
        self._thread = threading.get_ident()
        self.depth += 1

    def give(self):
        """Ends what one take() began."""
        self.depth -= 1
        if not self.depth:
            self._holder = None
        self._lock.release()

    def held_by(self, who):
        """True in the thread that has the turn for `who`."""
        return self._holder is who and self._thread == threading.get_ident()


# Contract. One block, as large as the largest internal memory among its users (and as `reserve`), of which each user has a
# view of its own size: the demo's README sizes the second view by the first model, which the manual and we do not.
# The block is made on the context of one user, `owner`, which must live as long. add() may replace the block by a larger one:
# the old goes only when every user works in the new, so that a failure leaves the old state; meanwhile both are taken.
# When the owner leaves, the block moves to another user, or, where it cannot (no room; the mini runtime takes no new internal
# memory once inputs are attached), the bare context stays until the block goes. With an `outside` Block nothing is
# allocated and nothing grows. `create(ctx, nbytes)` makes memory or raises NoRoom. Callers hold the turn.
class Arena:
    """Internal memory for models that run in turn."""

    def __init__(self, runtime, create, reserve=0, outside=None):
        self._lib = runtime
        self._create = create
        self._reserve = reserve
        self.outside = outside
        self._block = outside
        self.mem = None
        self._late = None
        self.owner = None
        self.users = []

    @property
    def size(self):
        """Bytes of the block, 0 without one."""
        return self._block.nbytes if self._block else 0

    @property
    def late_bytes(self):
        """What a context still takes that only waits for the block to go."""
        return self._late[1] if self._late else 0

    def grown(self, internal, size):
        """What a block of `size` bytes becomes once a model that needs `internal` bytes is in."""
        return size if self.outside else max(internal, self._reserve, size)

    def without(self, going):
        """(size of the block, bytes given back) once the models `going` are gone, if it can move."""
        left = [m for m in self.users if m not in going]
        if self.outside or len(left) == len(self.users):
            return self.size, 0
        if not left:
            return 0, pages(self.size) + self.late_bytes
        if not self._can_move(left):
            return self.size, 0
        least = self._least(left)
        return least, pages(self.size) - pages(least) + self.late_bytes

    def blocked(self, internal, size, users):
        """Why a block of `size` bytes cannot be made large enough for `internal` while `users` work in it, or None."""
        if internal <= size or not (self.outside or (self._lib.mini and users)):
            return None
        text = "{} bytes of internal memory, the shared block has {} and cannot grow: {}"
        advice = "Port(reserve={}), or load the largest model first".format(internal)
        return text.format(
            internal, size, "give Port(arena=...) a larger one" if self.outside else advice
        )

    def add(self, model):
        """Gives a model its view. On failure nothing has changed but memories of its context, which go with it."""
        if model.internal > self.size:
            self._replace(self.users + [model], self.grown(model.internal, self.size))
        else:
            model.view = self._lib.view(model.ctx, self._block, model.internal)
            self._lib.set_internal(model.ctx, model.view, model.internal)
        self.users.append(model)

    def settle(self, model):
        """Before a run: repeats what a failed replacement could not put back."""
        if model.loose:
            self._lib.set_internal(model.ctx, model.view, model.internal)
            model.loose = False

    def leave(self, model):
        """Takes a model out. Afterwards its context may be destroyed, unless `owner` still is that context: see keep()."""
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

    def _can_move(self, users):
        return not self._lib.mini and self.owner not in [None] + [m.ctx for m in users]

    def _least(self, users):
        return max([self._reserve] + [m.internal for m in users])

    def keep(self, ctx, nbytes):
        """Destroys the owner's context, whose model is gone and took `nbytes`, as soon as the block goes."""
        self._late = (ctx, nbytes)
        self._lib.release_all(ctx, self.mem)

    def _replace(self, users, size):
        owner = users[0].ctx
        mem = self._create(owner, size)
        views = []
        moved = []
        try:
            block = Block.of(mem)
            for m in users:
                views.append((m.ctx, self._lib.view(m.ctx, block, m.internal)))
            for m, view in zip(users, views):
                moved.append(m)
                self._lib.set_internal(m.ctx, view[1], m.internal)
        except BaseException:
            self._put_back(moved)
            self._lib.release(views + [(owner, mem)])
            raise
        old = [(m.ctx, m.view) for m in users if m.view]
        for m, view in zip(users, views):
            m.view, m.loose = view[1], False
        self._renew(owner, mem, block, old)

    def _put_back(self, moved):
        for m in moved:
            m.loose = m.view is not None
            try:
                self.settle(m)
            except BaseException:
                pass  # settle() before its next run tries again

    def _drop(self):
        if self.outside is None:
            self._renew(None, None, None, [])

    def _renew(self, owner, mem, block, old):
        if self.mem is not None:
            old.append((self.owner, self.mem))
        late, self._late = self._late, None
        self.owner, self.mem, self._block = owner, mem, block
        try:
            self._lib.release(old)
        finally:
            if late:
                self._lib.destroy(*late)
