# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model that MaixCAM holds, and the activations that models share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, List

from maixmem_text import tell

from maixmem_maixcam.costs import ModelCost

Block = List[int]  # [bytes, users]


# What load() gives: stands in front of the object of maix.nn and is the only thing that refers to
# it, so that dropping it here frees the model, whoever still holds the Model. `cost` is what
# inspect() said, `taken` what the carve-out lost while loading (None when it cannot be read).
# After unload() any use is a RuntimeError.
class Model:
    """A loaded model; its methods are those of the maix.nn object."""

    def __init__(self, net: Any, source: Any, cost: ModelCost) -> None:
        self._net = net
        self.source = source
        self.cost = cost
        self.taken: int | None = None
        self.block: Block | None = None

    def __getattr__(self, name: str) -> Any:
        if name[0] == "_":
            raise AttributeError(name)
        if self._net is None:
            text = "{}: this model was unloaded.\nuse() or load() it again"
            raise RuntimeError(tell(text, self.source))
        # no local variable for it: a traceback would keep the model
        return getattr(self._net, name)


# The activations of all models share blocks: a model takes the first block that is large enough,
# else a new one beside the smaller, and a block goes back with its last user. This keeps the same
# list for the models that were loaded here (those loaded elsewhere only make the need smaller).
# Blocks are [bytes, users], largest first.
class Activations:
    """Working memory that the runtime of MaixCAM shares between models."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def credit(self, n: int, going: Sequence[Block | None] = ()) -> int:
        """Bytes of n that are allocated already, and stay when the users in `going` (their blocks)
        are gone."""
        for block in self.blocks:
            if block[1] > len([b for b in going if b is block]):
                return n if block[0] >= n else 0
        return 0

    def take(self, n: int) -> Block:
        """The block for a model that needs n bytes."""
        if not self.credit(n):
            self.blocks.insert(0, [n, 0])
        self.blocks[0][1] += 1
        return self.blocks[0]

    def give(self, block: Block) -> None:
        """Takes one user off a block."""
        block[1] -= 1
        if not block[1]:
            self.blocks.remove(block)
