# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Why an object lives: the way from a root to it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from maixmem_cli.heap.objects import MAIN
from maixmem_cli.snapshot.graph import Graph
from maixmem_cli.snapshot.owners import TITLES, path
from maixmem_cli.snapshot.store import SnapshotError


@dataclass(frozen=True)
class Way:
    """`steps`: what leads there, a name and a type each; `others`: all that refers to it."""

    name: str
    address: int
    steps: list[str]
    others: list[str]


def way(graph: Graph, wanted: str) -> Way:
    """To an address (0x...), or to what has this name: main.store, or store. SnapshotError."""
    address = _address(graph, wanted)
    names = {path(graph, a): a for a in reversed(list(graph.sizes)) if graph.is_object(a)}
    name = path(graph, address)
    steps = [
        f"{text}  {graph.type_of(a)}, {graph.sizes[a]:,} bytes"
        for text, a in names.items()
        if name.startswith(text) and name != text and _at_end(name, text)
    ]
    others = sorted(
        {path(graph, h) if isinstance(h, int) else f"the name {h}" for h in graph.holders(address)}
    )
    return Way(name, address, sorted(steps, key=len), others)


def _at_end(name: str, text: str) -> bool:
    """Whether a name goes on behind a part of it with a new label."""
    return name[len(text)] in ".[ "


def _address(graph: Graph, wanted: str) -> int:
    try:
        number = int(wanted, 0)
    except ValueError:
        return _named(graph, wanted)
    for address, size in graph.sizes.items():
        if address <= number < address + size:
            return address
    raise SnapshotError(f"--path {wanted}: nothing in use is there. Next: an address or a name")


def _named(graph: Graph, wanted: str) -> int:
    found: dict[str, int] = {}
    for address in graph.sizes:
        name = path(graph, address)
        if graph.is_object(address):
            found.setdefault(name, address)
    for name in (wanted, f"{TITLES[MAIN]}.{wanted}"):
        if name in found:
            return found[name]
    near = difflib.get_close_matches(f"{TITLES[MAIN]}.{wanted}", found, 3, 0.5)
    hint = f"one of {', '.join(near)}" if near else "a name of the table, or an address"
    raise SnapshotError(f"--path {wanted}: no object has this name. Next: {hint}")
