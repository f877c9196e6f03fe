# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A manager on a port made of the generic one: a model in several blocks, a heap in holes, and
what a refusal says."""

from __future__ import annotations

import maixmem_generic
import pytest
from maixmem import Cost, NoRoom, Region
from maixmem_models import ModelManager

HOLES = [92096, 70000]


class Holes(maixmem_generic.Port):
    """An NPU whose heap has these holes; a block lies in one."""

    name = "holes"
    margin = 0
    slots = 2

    def __init__(self) -> None:
        super().__init__()
        self.holes = list(HOLES)
        self.blocks: dict[str, list[int]] = {}

    def regions(self) -> list[Region]:
        return [
            Region(
                "npu", sum(HOLES), sum(HOLES) - sum(self.holes), sum(self.holes), max(self.holes)
            )
        ]

    def inspect(self, source: str, **how: object) -> Cost:
        sizes = [int(x) for x in source.split("+")]
        cost = Cost({"npu": sum(sizes)}, {"npu": sum(sizes)})
        cost.source = source
        if how:
            cost.blocks = {"npu": sizes}
        return cost

    def held_by(self, handle: list[tuple[int, int]], region: str) -> int:
        return sum(n for _, n in handle)

    def free_bytes(self) -> int:
        return sum(self.holes)

    def load(self, source: str, **how: object) -> list[tuple[int, int]]:
        held = []
        for n in [int(x) for x in source.split("+")]:
            hole = max(range(2), key=lambda i: self.holes[i])
            assert self.holes[hole] >= n, "the runtime would fail"
            self.holes[hole] -= n
            held.append((hole, n))
        return held

    def unload(self, handle: list[tuple[int, int]]) -> None:
        while handle:
            hole, n = handle.pop()
            self.holes[hole] += n


def test_two_blocks_in_two_holes_fit_where_the_cost_names_them() -> None:
    models = ModelManager(Holes())
    models.add("a", "80000+60000", parts=True)
    assert models.use("a").handle == [(0, 80000), (1, 60000)]


def test_where_it_does_not_name_them_one_piece_is_asked_for() -> None:
    models = ModelManager(Holes())
    models.add("a", "80000+60000")
    with pytest.raises(NoRoom) as e:
        models.use("a")
    assert (e.value.region, e.value.need, e.value.free) == ("npu", 140000, 92096)
    said = str(e.value)
    assert "162096 are free, 92096 in one piece" in said and "release()" not in said, said
    assert "a smaller model" in said


def test_what_is_too_much_in_all_is_said_as_that() -> None:
    models = ModelManager(Holes(), margin=100)
    models.add("a", "90000+75000", parts=True)
    with pytest.raises(NoRoom) as e:
        models.use("a")
    assert (e.value.need, e.value.free) == (165100, 162096)


def test_release_is_advised_where_a_model_is_resident() -> None:
    models = ModelManager(Holes(), keep=2)
    models.add("pinned", "80000", pin=True)
    models.add("b", "75000")
    models.use("pinned")
    with pytest.raises(NoRoom, match=r"82096 are free, 70000 in one piece.*release\(\) a model"):
        models.use("b")
