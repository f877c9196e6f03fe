# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a snapshot shows: numbers of the heap, bytes by type, who holds them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from maixmem_cli.heap.objects import ASKER
from maixmem_cli.snapshot.graph import Graph
from maixmem_cli.snapshot.owners import Owner, tree
from maixmem_cli.snapshot.store import Taken

UNKNOWN = "no type"  #: of memory that C keeps


@dataclass(frozen=True)
class ByType:
    """Objects of a type, and their bytes with the memory that belongs to them."""

    name: str
    objects: int
    nbytes: int


@dataclass(frozen=True)
class View:
    """`used` counts the bytes of live blocks without `own`, those of the snapshot itself;
    `garbage`: what the collection before it freed, None where there was none. `fragments`: runs of
    free blocks."""

    taken: Taken
    graph: Graph
    total: int
    used: int
    own: int
    free: int
    largest: int
    fragments: int
    garbage: int | None
    types: list[ByType]
    owners: list[Owner]

    def bytes_of(self, kind: str) -> int:
        """Held by roots of a kind."""
        return sum(o.nbytes for o in self.owners if o.kind == kind)


def view(taken: Taken) -> View:
    """Of what was taken."""
    graph = Graph(taken)
    runs = [n for area in taken.areas for n in area.free_runs]
    total = sum(area.end - area.pool for area in taken.areas)
    owners = tree(graph)
    own = sum(o.nbytes for o in owners if o.kind == ASKER)
    board = taken.board
    garbage = board["before"] - board["after"]
    return View(
        taken=taken,
        graph=graph,
        total=total,
        used=total - sum(runs) - own,
        own=own,
        free=sum(runs),
        largest=max(runs, default=0),
        fragments=len(runs),
        garbage=garbage if taken.collected else None,
        types=_by_type(graph),
        owners=owners,
    )


def _by_type(graph: Graph) -> list[ByType]:
    nbytes: Counter[str] = Counter()
    objects: Counter[str] = Counter()
    for address, size in graph.sizes.items():
        if graph.kinds[address] == ASKER:
            continue
        name = graph.type_of(address) or UNKNOWN
        nbytes[name] += size
        objects[name] += graph.is_object(address) or name == UNKNOWN
    return [ByType(name, objects[name], n) for name, n in nbytes.most_common()]
