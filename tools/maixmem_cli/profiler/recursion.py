# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Recursion that deepens: no loop begins anew, and each call keeps what the one before it had.

A line's rounds are the calls of its function in one another: what it made in each of them and
still has in use, when the program was deepest.
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
_OWN = LEAST // 2  # of a line's own function
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
    running = looks[at].site
    most = Counter(_function(p) for p in again(chain_of(running)))
    of: dict[Place, dict[int, Counter[int]]] = {}
    for (site, nbytes), n in looks[at].gc.items():
        chain = chain_of(site) if site > 0 else ()
        if chain and most[_function(chain[-1])]:
            call = sum(_function(p) == _function(chain[-1]) for p in chain)
            of.setdefault(chain[-1], {}).setdefault(call, Counter())[nbytes] += n
    found = {p: _judge(held, most[_function(p)]) for p, held in of.items()}
    return {p: replace(v, every=1.0) for p, v in found.items() if v.kind == GROWS}


def _function(place: Place) -> tuple[str, str]:
    return place.file, place.function


def again(chain: Chain) -> list[Place]:
    """The lines of those functions that run more than once."""
    times = Counter(_function(p) for p in chain)
    return [p for p in chain if times[_function(p)] > 1]


def _judge(held: dict[int, Counter[int]], calls: int) -> Verdict:
    total: Counter[int] = Counter()
    rounds, sums = [], []
    for call in range(1, calls + 1):
        total = total + held.get(call, Counter())
        rounds.append(call)
        sums.append(total)
    return growth.judge(rounds, sums, least=_OWN)
