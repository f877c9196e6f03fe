# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How an RKNN model is to be loaded, and what that takes."""

from maixmem import Cost
from maixmem_rknnapi import INTERNAL_OUTSIDE, OUTSIDE, PAGE, SHARE_WEIGHT, pages


# The ways of loading; Port.load() says what they mean. A twin is what Port.dup() makes. `given`: not in the shared block,
# but in memory that we give it, not the runtime. In the shared block all models have the same flag, as in the
# vendor's own demonstration of an arena.
class How:
    """How a load is to be done."""

    def __init__(
        self, *, shared=True, dup=False, master=None, weights=None, internal=None, twin=False
    ):
        if dup and master is not None:
            raise ValueError("dup=True and master=... exclude each other: dup() shares weights")
        self.dup = dup
        self.twin = twin
        self.master = master
        self.weights = weights
        self.internal = internal
        self.given = dup or twin or internal is not None or weights is not None
        self.shared = shared and not self.given

    # 0x200 leaves the weights where init put them and costs least; 0x10 copies them out, which only dup_context,
    # weight memory of the caller and the mini runtime (it refuses 0x200) need. Loads are from buffers always: with
    # 0x10 a path keeps the file besides the copy. MEM_SIZE needs neither flag, whatever the manual says.
    def flag(self, mini):
        """The flag for rknn_init."""
        if not self.shared and not self.given:
            flag = 0
        elif mini or self.dup or self.twin or self.weights is not None:
            flag = OUTSIDE
        else:
            flag = INTERNAL_OUTSIDE
        return flag | (SHARE_WEIGHT if self.master else 0)


# What is known of one file: the runtime's own figures (a page where it says 0, because whether a model without runs when it
# is given nothing was not measured), and what a load in each way took besides the shared block.
class Facts:
    """Sizes of one model, in bytes."""

    def __init__(self, size):
        self.weight = size.weight or PAGE
        self.internal = size.internal or PAGE
        self.taken = {}


# `weight` and `internal` are the runtime's own figures, exact (None until it could be asked). need["npu"] is what the
# model keeps for itself; peak["npu"] is a load with no other model there, the internal memory included. What the
# runtime keeps of a file was at most the file on the models measured, so a first forecast is an "estimate", without
# inputs and outputs; after a load in the same way its measured bytes count, a "bound" because of the page ends that the
# runtime does not tell. Before the runtime was asked (no room to) the file alone is known: a "bound" as well.
class RknnCost(Cost):
    """What one load takes; update() as more becomes known."""

    def __init__(self, source, how, nbytes, mini, refuse=None):
        super().__init__({}, {}, "unknown", refuse, source)
        self.how = how
        self.nbytes = nbytes
        self.facts = None
        self.weight = None
        self.internal = None
        self._mini = mini
        if refuse is None:
            self.update(None)

    def update(self, facts):
        """Takes in what is known of the file now."""
        self.facts = facts
        own = self.measured()
        self.certainty = "estimate" if facts and own is None else "bound"
        internal = transient = 0
        if facts:
            self.weight, self.internal = facts.weight, facts.internal
            internal = pages(facts.internal) if self.how.internal is None else 0
            transient = (
                pages(facts.weight) if self._mini else 0
            )  # its own copy, until the weights are set
        if own is None:
            own = pages(self.nbytes) + (0 if self.how.shared else internal)
        self.need = {"npu": own}
        self.peak = {
            "npu": own + transient + (internal if self.how.shared else 0),
            "ram": self.nbytes,
        }

    def least(self):
        """What no load can do without: its own weights and internal memory, as the runtime reports them."""
        how = self.how
        weights = self.weight if how.master is None and how.weights is None else 0
        return pages(weights) + (pages(self.internal) if how.internal is None else 0)

    def measured(self):
        """What a load in this way took besides the shared block, or None before the first."""
        return self.facts.taken.get(self._key()) if self.facts else None

    def learn(self, nbytes):
        """Remembers what a load took."""
        self.facts.taken[self._key()] = nbytes
        self.update(self.facts)

    def _key(self):
        how = self.how
        return (how.flag(self._mini), how.twin, how.weights is None, how.internal is None)
