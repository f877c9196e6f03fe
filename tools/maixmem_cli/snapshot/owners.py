# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Who holds what, by name, as a tree: main.store.frames[*].raw. Every byte in use is at one place
of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from maixmem_cli.heap.objects import ASKER, MAIN, MODULES, STACK, STATE, THREAD
from maixmem_cli.snapshot.graph import ONLY_C, Graph

ANY = "[*]"  #: items of more than one key
_DEEPEST = 60  # labels of a place: what lies deeper, in a chain of nodes, counts there
_FEW_KEYS = 8  # of a dict that are shown one by one
#: kinds of roots -> what they are called
TITLES = {
    MAIN: "main",
    MODULES: "sys.modules",
    STACK: "locals",
    THREAD: "threads",
    STATE: "the interpreter",
    ASKER: "this snapshot",
    ONLY_C: "reached from C only",
}
_WHOLE = (ASKER, ONLY_C)  # whose names say nothing


@dataclass
class Owner:
    """A place in the tree. `members`: the addresses there; `types`: how many of each type;
    `objects`, `nbytes`: with all below it."""

    path: str
    kind: str
    members: list[int] = field(default_factory=list)
    types: Counter[str] = field(default_factory=Counter)
    children: dict[str, Owner] = field(default_factory=dict)
    objects: int = 0
    nbytes: int = 0
    retained: int = 0

    def sorted(self) -> list[Owner]:
        """What is below it, the largest first."""
        return sorted(self.children.values(), key=lambda o: (-o.nbytes, o.path))

    def all(self) -> Iterator[Owner]:
        """Itself and everything below it, each before what it has."""
        yield self
        for child in self.sorted():
            yield from child.all()


@dataclass
class _Place:
    """The same while it grows: by label."""

    members: list[int] = field(default_factory=list)
    children: dict[str, _Place] = field(default_factory=dict)

    def take(self, other: _Place) -> None:
        """What another has, at the same labels."""
        self.members += other.members
        for label, child in other.children.items():
            self.children.setdefault(label, _Place()).take(child)


def tree(graph: Graph) -> list[Owner]:
    """One tree for each kind of root that holds something."""
    roots = {kind: _Place() for kind in TITLES}
    for address in graph.sizes:
        kind = graph.kinds[address]
        place = roots[kind]
        for label in labels(kind, graph.chains[address])[:_DEEPEST]:
            label = ANY if label[:1] == "[" and _is_number(label[1:-1]) else label
            place = place.children.setdefault(label, _Place())
        place.members.append(address)
    return [
        _owner(place, TITLES[kind], kind, graph)
        for kind, place in roots.items()
        if place.members or place.children
    ]


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()


def labels(kind: str, chain: tuple[str, ...]) -> list[str]:
    """The labels below a root of this kind."""
    if kind in _WHOLE or not chain:
        return []
    first, *rest = chain
    if kind == MAIN:
        first = f".{first}"
    elif kind == MODULES:
        first = first[len(MODULES) :]
    elif kind == STATE:
        return rest
    else:
        first = f": {first}"
    return [first, *rest]


def path(graph: Graph, address: int) -> str:
    """The whole chain of names that leads to an object."""
    kind = graph.kinds[address]
    return TITLES[kind] + "".join(labels(kind, graph.chains[address]))


def _owner(place: _Place, path: str, kind: str, graph: Graph) -> Owner:
    keys = [label for label in place.children if label[:1] == "["]
    if len(keys) > _FEW_KEYS:
        together = _Place()
        for label in keys:
            together.take(place.children.pop(label))
        place.children[ANY] = together
    owner = Owner(path, kind, place.members)
    for label, child in place.children.items():
        owner.children[label] = _owner(child, path + label, kind, graph)
    for address in place.members:
        if graph.is_object(address):
            owner.types[graph.type_of(address)] += 1
    below = owner.children.values()
    owner.objects = sum(owner.types.values()) + sum(o.objects for o in below)
    owner.nbytes = sum(graph.sizes[a] for a in place.members) + sum(o.nbytes for o in below)
    owner.retained = graph.retained_of(_all_members(owner))
    return owner


def _all_members(owner: Owner) -> list[int]:
    return [a for o in owner.all() for a in o.members]
