# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What came, what went, what grew between two snapshots of one program, by the name of who holds
it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from maixmem_cli.heap.objects import ASKER
from maixmem_cli.snapshot.owners import Owner
from maixmem_cli.snapshot.store import SnapshotError
from maixmem_cli.snapshot.view import View


@dataclass(frozen=True)
class Change:
    """At one place of the tree: objects and bytes there (not below), before and after; `types` of
    what is more, or less."""

    path: str
    objects: tuple[int, int]
    nbytes: tuple[int, int]
    types: tuple[str, ...]

    @property
    def more(self) -> int:
        return self.nbytes[1] - self.nbytes[0]

    @property
    def more_objects(self) -> int:
        return self.objects[1] - self.objects[0]

    @property
    def what(self) -> str:
        """came, went, grew or shrank."""
        if not self.nbytes[0]:
            return "came"
        if not self.nbytes[1]:
            return "went"
        return "grew" if self.more > 0 else "shrank"


def changes(before: View, after: View) -> list[Change]:
    """Of places where the bytes are others, what grew most first; the snapshots themselves do not
    count."""
    old, new = _places(before), _places(after)
    out = []
    for path in {**old, **new}:
        (n0, b0, t0), (n1, b1, t1) = old.get(path, _NOTHING), new.get(path, _NOTHING)
        if b0 != b1:
            types = (t1 - t0) or (t0 - t1) or t1 or t0
            out.append(Change(path, (n0, n1), (b0, b1), tuple(t for t, _ in types.most_common(2))))
    return sorted(out, key=lambda c: (-c.more, c.path))


@dataclass(frozen=True)
class Growth:
    """A place that had more bytes at each of several moments than at the one before: its objects
    and bytes at each."""

    path: str
    objects: tuple[int, ...]
    nbytes: tuple[int, ...]
    types: tuple[str, ...]


def growing(views: Sequence[View]) -> list[Growth]:
    """What grew each time, most first: what leaks, if the program does the same again and
    again."""
    places = [_places(view) for view in views]
    out = []
    for path in places[-1]:
        found = [place.get(path, _NOTHING) for place in places]
        nbytes = tuple(b for _, b, _ in found)
        if all(a < b for a, b in zip(nbytes, nbytes[1:])):
            types = found[-1][2] - found[0][2]
            named = tuple(t for t, _ in types.most_common(2))
            out.append(Growth(path, tuple(n for n, _, _ in found), nbytes, named))
    return sorted(out, key=lambda g: (g.nbytes[0] - g.nbytes[-1], g.path))


def check(before: View, after: View) -> None:
    """SnapshotError where they are not of one board's program."""
    old, new = before.taken, after.taken
    if (old.platform, old.version, old.areas[0].pool) != (
        new.platform,
        new.version,
        new.areas[0].pool,
    ):
        raise SnapshotError(
            f"two boards or two builds: {old.platform} {old.version} with a heap at "
            f"{old.areas[0].pool:#x}, {new.platform} {new.version} at {new.areas[0].pool:#x}. "
            "Next: two snapshots of one program"
        )


_Place = tuple[int, int, "Counter[str]"]
_NOTHING: _Place = (0, 0, Counter())


def _places(view: View) -> dict[str, _Place]:
    """Objects, bytes and types at each path."""
    out: dict[str, _Place] = {}
    for root in view.owners:
        if root.kind != ASKER:
            out.update((o.path, _own(o, view)) for o in root.all())
    return out


def _own(owner: Owner, view: View) -> _Place:
    nbytes = sum(view.graph.sizes[a] for a in owner.members)
    return sum(owner.types.values()), nbytes, owner.types
