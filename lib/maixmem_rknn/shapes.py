# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The shapes of a model that was converted for several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maixmem_rknn.api import INPUT_ATTR

Shape = tuple[int, ...]


# Contract. Of a model and its duplicates. `known`: for each input the shapes as they were listed
# before memory was attached, nothing of a model with one; each input has as many as the others,
# and those at one place belong together. `attached`: (input, place) where memory was attached
# since. Asked only when the model may have `several`: of others the runtime logs an error.
class Shapes:
    """What the inputs of a model may be."""

    def __init__(self, lib: Any, ctx: int, several: bool | None) -> None:
        known = []
        if several is not False and not lib.mini:
            known = [lib.ranges(ctx, i)[1] for i in range(lib.counts(ctx)[0])]
        self.known: list[list[Shape]] = known if all(known) else []
        self.attached: set[tuple[int, int]] = set()

    @property
    def places(self) -> int:
        """How many shapes each input has; 1 of a model that was not converted for several."""
        return len(self.known[0]) if self.known else 1

    def place_of(self, wanted: Sequence[Shape], now: Sequence[Shape], name: Any) -> int:
        """The place of these shapes, one for each input. ValueError when they are at none; `now`
        are those that it has."""
        for i, shape in enumerate(wanted):
            if not self.known or shape not in self.known[i]:
                what = ", ".join(map(str, self.known[i])) if self.known else f"{now[i]} only"
                text = "{}: input {} cannot be {}; it was converted for {}"
                raise ValueError(text.format(name, i, shape, what))
        together = list(zip(*self.known))
        if tuple(wanted) not in together:
            text = "{}: {} do not go together; it was converted for {}"
            what = ", ".join([" with ".join(map(str, shapes)) for shapes in together])
            raise ValueError(text.format(name, " and ".join(map(str, wanted)), what))
        return together.index(tuple(wanted))

    # Runtime 1.5.2 lists all shapes of a quantised input otherwise once it was attached as uint8,
    # NHWC as NCHW, and takes those at which that was done only as it lists them. Later runtimes do
    # not.
    def attrs(self, lib: Any, ctx: int, place: int) -> list[Any]:
        """What rknn_set_input_shapes wants for a place."""
        attrs = []
        for i, found in enumerate(self.known):
            fmt, listed = lib.ranges(ctx, i)
            shape = listed[place] if (i, place) in self.attached else found[place]
            attr = lib.attr(ctx, INPUT_ATTR, i)
            attr.dims[: len(shape)] = list(shape)
            attr.n_dims, attr.fmt = len(shape), fmt
            attrs.append(attr)
        return attrs
