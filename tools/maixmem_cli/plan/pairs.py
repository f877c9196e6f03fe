# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Two changes together, of those that do not help alone: each brought a part of the bytes that
were missing, and both bring all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from maixmem_cli.answer.tables import remedies
from maixmem_cli.record.record import Record
from maixmem_cli.runs.change import Edit, Values


def pairs(
    failed: Sequence[tuple[Edit, Record]], before: Record, again: Callable[[str], Sequence[Edit]]
) -> Iterator[Edit]:
    """The pairs of these changes that may help, the cheapest first. `again`: the changes that a
    text may have; `before`: the run without one."""
    brought = [(edit, n) for edit, after in failed if (n := _brought(before, after)) > 0]
    brought.sort(key=lambda row: _cost(row[0]))
    enough = [
        (one, other)
        for (one, n), (other, more) in combinations(brought, 2)
        if one.kind != other.kind and n + more >= (_missing(before) or 0)
    ]
    for one, other in sorted(enough, key=lambda pair: sum(map(_cost, pair))):
        second = next((e for e in again(one.source) if _same(e, other)), None)
        if second:
            yield _both(one, other, second)


def _cost(edit: Edit) -> int:
    return remedies()[edit.kind].cost


def _brought(before: Record, after: Record) -> int:
    """Bytes that are missing no more."""
    was, now = _missing(before), _missing(after)
    return was - now if was is not None and now is not None and _of(before) == _of(after) else 0


def _of(run: Record) -> str:
    """The heap that was full, or that something fills."""
    return run.end.refused.heap if run.end.refused else "".join({g.heap for g in run.growth})


def _missing(run: Record) -> int | None:
    """Bytes that a run did not get of a heap, or that it keeps more of with every round."""
    refused = run.end.refused
    if not refused:
        return sum(g.each for g in run.growth) or None
    if refused.asked is None or refused.level is None:
        return None
    level = refused.level
    return max(0, refused.asked - (level.free if level.largest is None else level.largest))


def _same(one: Edit, other: Edit) -> bool:
    """Whether it is the same change, of a text that may have other lines before it."""
    return one.kind == other.kind and _lineless(one.values) == _lineless(other.values)


def _lineless(values: Values) -> list[object]:
    return [value for _, value in values if type(value) is not int]


def _both(one: Edit, other: Edit, second: Edit) -> Edit:
    """`second`: the other one, in the text that has the first."""
    return Edit(
        f"{one.kind}+{other.kind}",
        (),
        second.source,
        one.card + second.card,
        one.turned + second.turned,
        one.firmware or second.firmware,
        one.gc_heap or second.gc_heap,
        (one, other),
    )
