# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot, a difference, a path as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from maixmem_cli.heap.objects import ASKER, MAIN, MODULES, STACK, STATE, THREAD
from maixmem_cli.profiler import maps
from maixmem_cli.snapshot import diff
from maixmem_cli.snapshot.graph import ONLY_C, Graph
from maixmem_cli.snapshot.owners import TITLES, Owner
from maixmem_cli.snapshot.paths import Way
from maixmem_cli.snapshot.system import PLATFORMS
from maixmem_cli.snapshot.view import View
from maixmem_cli.text import tables
from maixmem_cli.text.output import printable
from maixmem_cli.text.tables import Column

_MOST = 12  # types
_MOST_OWNERS = 30
_NO_LISTS = (
    "system heap: malloc's lists are not whole, or were changed at this moment. Next: again; "
    "maixmem doctor names the damage. A board that writes the snapshot itself needs "
    "maixmem_k210_heap for them"
)
_LEAST = 200  # a place with less than one in so many of the live bytes is not listed
_WIDE = 1000  # columns: names are not folded
_TYPES = (Column("type"), Column("objects", right=True), Column("bytes", right=True))
_OWNERS = (
    Column("who holds it", name=True),
    Column("objects", right=True),
    Column("bytes", right=True),
    Column("retained", right=True),
    Column("type"),
)
_CHANGES = (
    Column("change"),
    Column("who holds it", name=True),
    Column("objects", right=True),
    Column("bytes", right=True),
    Column("type"),
)
_GROWTH = (
    Column("grew each time", name=True),
    Column("objects"),
    Column("bytes"),
    Column("type"),
)
MOMENTS = 2  #: of a difference; more can tell what grows each time
_NAMED = (MAIN, MODULES, STACK, THREAD)


def lines(view: View) -> list[str]:
    """All of a snapshot."""
    out = [*heap(view), "", *by_type(view), "", *by_owner(view), "", *named(view)]
    system = view.taken.system
    if system:
        return [*out, "", *maps.text(system, view.taken.areas[0].pool)]
    return [*out, "", _NO_LISTS] if view.taken.platform in PLATFORMS else out


def heap(view: View) -> list[str]:
    """The numbers of the heap."""
    taken, areas = view.taken, len(view.taken.areas)
    where = f"{areas} areas" if areas > 1 else f"at {taken.areas[0].pool:#x}"
    version = ".".join(map(str, taken.version))
    out = [
        f"{taken.platform}, {taken.interpreter} {version}: GC heap {view.total:,} bytes, {where}",
        (
            f"used {view.used:,}, free {view.free:,} in {view.fragments:,} fragments, the largest "
            f"{view.largest:,}"
        ),
        f"beside them {view.own:,} bytes of what takes the snapshot",
    ]
    if view.garbage is not None:
        out.append(f"garbage that was collected before: {max(0, view.garbage):,} bytes")
    return out


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    found = tables.lines(_WIDE, columns, [(row, "") for row in rows])
    return [line.plain.rstrip() for line in found]


def by_type(view: View) -> list[str]:
    """Types by bytes, the rest as one."""
    rows = [[printable(t.name), f"{t.objects:,}", f"{t.nbytes:,}"] for t in view.types[:_MOST]]
    rest = view.types[_MOST:]
    if rest:
        objects, nbytes = sum(t.objects for t in rest), sum(t.nbytes for t in rest)
        rows.append([f"{len(rest)} more", f"{objects:,}", f"{nbytes:,}"])
    return _table(_TYPES, rows)


def by_owner(view: View) -> list[str]:
    """The tree, without what is small."""
    least = max(1, (view.used + view.own) // _LEAST)
    shown = [o for root in view.owners for o in _large(root, least)]
    if len(shown) > _MOST_OWNERS:  # the largest, in the tree's order
        kept = {id(o) for o in sorted(shown, key=lambda o: -o.nbytes)[:_MOST_OWNERS]}
        shown = [o for o in shown if id(o) in kept]
    rows = [
        [
            printable(o.path),
            f"{o.objects:,}",
            f"{o.nbytes:,}",
            f"{o.retained:,}",
            ", ".join(printable(t) for t, _ in o.types.most_common(2)),
        ]
        for o in shown
    ]
    return _table(_OWNERS, rows)


def _large(owner: Owner, least: int) -> Iterator[Owner]:
    yield owner
    for child in owner.sorted():
        if child.nbytes >= least:
            yield from _large(child, least)


def named(view: View) -> list[str]:
    """How much has an owner by name."""
    by_name = sum(map(view.bytes_of, _NAMED))
    parts = [f"by name {by_name:,}"]
    parts += [f"{TITLES[k]} {view.bytes_of(k):,}" for k in (STATE, ASKER, ONLY_C)]
    out = [f"of {view.used + view.own:,} bytes: {', '.join(parts)}"]
    if view.bytes_of(ONLY_C) and not view.taken.collected:
        out.append("what is reached from C only may be garbage: none was collected (--garbage)")
    return out


def difference(views: Sequence[View]) -> list[str]:
    """What changed from the first of some snapshots to the last; of more than two, what grew each
    time."""
    before, after = views[0], views[-1]
    more, free = after.used - before.used, after.free - before.free
    out = [
        f"GC heap: used {before.used:,} -> {after.used:,} ({more:+,}), free {free:+,}",
        f"largest free block {before.largest:,} -> {after.largest:,}",
        "",
        *_changes(diff.changes(before, after)),
    ]
    return [*out, "", *_growing(views)] if len(views) > MOMENTS else out


def _changes(changes: Sequence[diff.Change]) -> list[str]:
    if not changes:
        return ["the same objects have the same owners"]
    rows = [
        [
            c.what,
            printable(c.path),
            f"{c.more_objects:+,}",
            f"{c.more:+,}",
            ", ".join(map(printable, c.types)),
        ]
        for c in changes
    ]
    if len(rows) > _MOST_OWNERS:
        half = _MOST_OWNERS // 2
        rows = [*rows[:half], ["", f"{len(rows) - 2 * half} more", "", "", ""], *rows[-half:]]
    return _table(_CHANGES, rows)


def _growing(views: Sequence[View]) -> list[str]:
    found = diff.growing(views)
    if not found:
        return [f"nothing grew each time at {len(views)} moments"]
    rows = [
        [
            printable(g.path),
            " ".join(f"{n:,}" for n in g.objects),
            " ".join(f"{n:,}" for n in g.nbytes),
            ", ".join(map(printable, g.types)),
        ]
        for g in found[:_MOST]
    ]
    return _table(_GROWTH, rows)


def way(found: Way, graph: Graph) -> list[str]:
    """Why an object lives: each step from a root to it, and what else refers to it."""
    size = graph.sizes[found.address]
    kind = graph.type_of(found.address) or "no type"
    out = [
        (
            f"{found.name} at {found.address:#x}: {printable(kind)}, {size:,} bytes, retained "
            f"{graph.retained(found.address):,}"
        )
    ]
    out += [f"  {printable(step)}" for step in found.steps]
    others = [printable(h) for h in islice(found.others, _MOST)]
    if others:
        out += ["referred to by:", *(f"  {h}" for h in others)]
    if len(found.others) > _MOST:
        out.append(f"  and {len(found.others) - _MOST} more")
    return out
