# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What refers to what in a snapshot, and what would be free without an object: its retained bytes
(dominators, by Cooper, Harvey and Kennedy's algorithm)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Union

from maixmem_cli.heap.objects import ASKER, Objects
from maixmem_cli.snapshot.store import Taken

ONLY_C = "only C"  #: what nothing that is known leads to
_ALL = ""  # the root of all roots
Node = Union[int, str]  #: an object's address, or a root by its first name


class Graph:
    """The objects of a snapshot. `sizes`: bytes by address; `kinds`: of the root that an object is
    reached from; `chains`: the names that lead there; `refers`: where each object and root leads
    directly."""

    def __init__(self, taken: Taken) -> None:
        self.taken = taken
        moment = taken.moment()
        self.sizes = moment.sizes
        self.objects = Objects(moment, taken.names)
        self._reach_the_rest()
        self.chains, self.kinds = self.objects.chains, self.objects.kinds
        self.refers: dict[Node, list[Node]] = {
            holder: [a for a in to if self._lasts(holder, a)]
            for holder, to in self.objects.refers.items()
        }
        self._dominator: dict[Node, Node] = {}
        self._held: dict[Node, int] = {}

    def _reach_the_rest(self) -> None:
        """What no root leads to: from those that nothing refers to, then one of each circle."""
        found = self.objects
        rest = [a for a in self.sizes if a not in found.chains]
        referred = {v for a in rest for _, v in found.edges(a) if v != a}
        for address in [*(a for a in rest if a not in referred), *rest]:
            if address not in found.chains:
                found.reach(ONLY_C, address)

    def _lasts(self, holder: Node, address: int) -> bool:
        """False where the snapshot itself refers to what others hold: its stack has old words, and
        all of it is gone when it ends."""
        kind = self.kinds[holder] if isinstance(holder, int) else holder
        return kind != ASKER or self.kinds[address] == ASKER

    # --- objects ---
    def type_of(self, address: int) -> str:
        """The type of an object, or of the one that this belongs to; "" where it is not known."""
        return self.objects.what(address)

    def is_object(self, address: int) -> bool:
        """False for what is a part of one."""
        return bool(self.objects.type_name(address)) and address not in self.objects.part_of

    def holders(self, address: int) -> list[Node]:
        """What refers to it directly."""
        return [h for h, to in self.refers.items() if address in to and h != address]

    # --- retained bytes ---
    def retained(self, node: Node) -> int:
        """Bytes that would be free without it."""
        self._dominate()
        return self._held.get(node, 0)

    def retained_of(self, nodes: Collection[int]) -> int:
        """Bytes that would be free without each of these, those inside of others once."""
        self._dominate()
        inside = set(nodes)
        return sum(self._held.get(n, 0) for n in inside if not self._under(n, inside))

    def _under(self, node: Node, others: Collection[int]) -> bool:
        while node in self._dominator and node != _ALL:
            node = self._dominator[node]
            if node in others:
                return True
        return False

    def _dominate(self) -> None:
        if self._held:
            return
        refers = dict(self.refers)
        refers[_ALL] = [h for h in refers if isinstance(h, str)]
        order = _reverse_postorder(refers)
        self._dominator = _dominators(refers, order)
        self._held = {n: self.sizes.get(n, 0) if isinstance(n, int) else 0 for n in order}
        for node in reversed(order[1:]):
            self._held[self._dominator[node]] += self._held[node]


def _reverse_postorder(refers: dict[Node, list[Node]]) -> list[Node]:
    order: list[Node] = []
    seen: set[Node] = {_ALL}
    todo: list[tuple[Node, Iterator[Node]]] = [(_ALL, iter(refers[_ALL]))]
    while todo:
        node, children = todo[-1]
        new = next((c for c in children if c not in seen), None)
        if new is None:
            order.append(node)
            todo.pop()
        else:
            seen.add(new)
            todo.append((new, iter(refers.get(new, ()))))
    return order[::-1]


def _dominators(refers: dict[Node, list[Node]], order: list[Node]) -> dict[Node, Node]:
    """The nearest node through which every way to another leads."""
    number = {node: i for i, node in enumerate(order)}
    before: defaultdict[Node, list[Node]] = defaultdict(list)
    for holder, to in refers.items():
        for node in to:
            if holder in number:
                before[node].append(holder)
    found: dict[Node, Node] = {_ALL: _ALL}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            ways = [h for h in before[node] if h in found]
            nearest = ways[0]
            for way in ways[1:]:
                nearest = _common(nearest, way, found, number)
            if found.get(node) != nearest:
                found[node], changed = nearest, True
    return found


def _common(a: Node, b: Node, found: dict[Node, Node], number: dict[Node, int]) -> Node:
    while a != b:
        while number[a] > number[b]:
            a = found[a]
        while number[b] > number[a]:
            b = found[b]
    return a
