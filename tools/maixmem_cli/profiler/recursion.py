# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Recursion that deepens: no loop begins anew, and each call keeps what the one before it had.

The rounds are the calls in one another: what a line made at each depth and still has in use, when
the program was deepest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Callable

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler import growth
from maixmem_cli.profiler.growth import GROWS, Verdict
from maixmem_cli.profiler.ledger import Look
from maixmem_cli.profiler.loops import Chain

LEAST = 10  #: calls in one another
_TO_END = 0.5  # of the script's objects were made before it was deepest


def deepening(looks: Sequence[Look], chain_of: Callable[[int], Chain]) -> dict[Place, Verdict]:
    """Lines whose bytes grow with each call; {} where the program is not in a recursion that only
    deepened. `rounds` are calls in one another, `rate` is bytes for a call of the line's own."""
    depths = [len(again(chain_of(k.site))) for k in looks]
    deepest = max(depths, default=0)
    if deepest < LEAST:
        return {}
    at = depths.index(deepest)
    steady = depths[: at + 1] == sorted(depths[: at + 1])
    if not steady or looks[at].progress < _TO_END * looks[-1].progress:
        return {}
    of: dict[Place, dict[int, Counter[int]]] = {}
    for (site, nbytes), n in looks[at].gc.items():
        chain = chain_of(site) if site > 0 else ()
        if chain and (depth := len(again(chain))):
            of.setdefault(chain[-1], {}).setdefault(depth, Counter())[nbytes] += n
    calls = Counter((p.file, p.function) for p in again(chain_of(looks[at].site)))
    found = {p: _judge(held, deepest) for p, held in of.items()}
    return {
        p: replace(v, rate=v.rate * deepest / calls[p.file, p.function], every=1.0)
        for p, v in found.items()
        if v.kind == GROWS and calls[p.file, p.function]
    }


def again(chain: Chain) -> list[Place]:
    """The lines of those functions that run more than once."""
    times = Counter((p.file, p.function) for p in chain)
    return [p for p in chain if times[p.file, p.function] > 1]


def _judge(held: dict[int, Counter[int]], deepest: int) -> Verdict:
    total: Counter[int] = Counter()
    rounds, sums = [], []
    for depth in range(1, deepest + 1):
        total = total + held.get(depth, Counter())
        rounds.append(depth)
        sums.append(total)
    return growth.judge(rounds, sums, least=LEAST)
