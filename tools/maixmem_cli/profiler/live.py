# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which of the looks at what is in use are read: the board takes more of them than are needed; and
who keeps what the fullest one saw.

The board marks the GC heap from outside, between two instructions, from the roots that the
firmware's own collector uses (tools/k210board/live.c): as blocks are taken, and where a loop of
the bytecode begins anew.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from maixmem_cli.emulator.readers import moment
from maixmem_cli.emulator.readers.tracer import COMPREHENSIONS, Event
from maixmem_cli.emulator.session import Session
from maixmem_cli.heap import heaps
from maixmem_cli.heap.heaps import BLOCK
from maixmem_cli.heap.objects import UNDER_WAY, Objects
from maixmem_cli.heap.qstrs import Qstrs
from maixmem_cli.profiler import loops
from maixmem_cli.profiler.ledger import BEFORE, Fullest, Look
from maixmem_cli.profiler.ledger import Kept as Held

_LONG, _LAST = 6, 3  # loops that are judged: those that run longest, and those at the end
_OF_A_LOOP = 40
_OF_BLOCKS = 60  # looks that come as blocks are taken
_ROUNDS = 3  # of a loop that is worth a look
_ITEM = re.compile(r"\[[^\]]*\]")
_LOCAL = re.compile(r"(?!a thread).* of (.*)\(\)")  # as heap/frames.py names a frame's value
_NOTHING: Held = Counter()
_GLOBALS = "the names of main.py"  # of the dict itself, which has none


@dataclass(frozen=True)
class Kept:
    """Objects of a site that one chain of names keeps alive; [*]: items of more than one key."""

    site: int
    by: str
    nbytes: int
    objects: int

    @property
    def named(self) -> bool:
        """False: only a word of C's keeps it, which may be left from before."""
        return UNDER_WAY not in self.by


# Made before the script runs: where its names are is known at a prompt.
class Keepers:
    """Who keeps what a session's script has in use."""

    def __init__(self, session: Session) -> None:
        self._session = session
        ram = session.board.ram
        self._state = session.known.state
        self._globals = heaps.word(ram, self._state + 16)

    @property
    def _places(self) -> moment.Known:
        known, books = self._session.known, self._session.finder.gc_state
        return moment.Known((self._state, books), self._globals, known.threads, known.text)

    def stack(self) -> tuple[int, int]:
        """Bytes of the stack that were in use at the fullest look, and that were left."""
        board, (_, gc) = self._session.board, self._session.tracer.began
        return moment.stack(board.seen, board.ram, gc.pool, self._places)

    def of(self, fullest: Fullest, names: Qstrs, running: set[str]) -> list[Kept]:
        """Of the fullest look, those with most bytes first. `running`: the functions that ran
        then: of any other a frame is left from before."""
        board, (_, gc) = self._session.board, self._session.tracer.began
        states = heaps.states(fullest.used).ljust(len(gc.states), b"\0")
        at = moment.of_look(board.seen, board.ram, states, gc.pool, self._places)
        found = Objects(at, names)
        sizes: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)
        number: Counter[tuple[int, str]] = Counter()
        for address, nbytes in at.sizes.items():
            chain = _names(found.chains.get(address, (UNDER_WAY,)), running)
            owner = fullest.owners[(address - gc.pool) // BLOCK]
            key = BEFORE if owner is None else owner, _ITEM.sub("[*]", chain)
            sizes[key][chain] += nbytes
            number[key] += 1
        out = [
            Kept(site, by if len(c) > 1 else next(iter(c)), sum(c.values()), number[site, by])
            for (site, by), c in sizes.items()
        ]
        return sorted(out, key=lambda k: (-k.nbytes, k.by))


def _names(links: tuple[str, ...], running: set[str]) -> str:
    """The chain of names as a script has them: a comprehension is no function of its own."""
    first, *rest = links or (_GLOBALS,)
    of = _LOCAL.fullmatch(first)
    if of and of[1] in COMPREHENSIONS:
        first = "a comprehension"
    elif of and of[1] not in running:
        return UNDER_WAY
    return "".join((first, *rest))


def chosen(looks: Sequence[Event], sites: loops.Sites) -> set[int]:
    """The times of those that are read: the fullest, some of each loop that may be judged, some
    over the run."""
    if not looks:
        return set()
    of: defaultdict[int, list[Event]] = defaultdict(list)
    for look in looks:
        of[look.asked].append(look)
    rounds = [k for jump, k in of.items() if jump and k[-1].end >= _ROUNDS]
    rounds.sort(key=lambda k: k[0].time - k[-1].time)
    last = sorted(rounds[_LONG:], key=lambda k: k[-1].time)[-_LAST:]
    in_loops = [k for loop in (*rounds[:_LONG], *last) for k in _evenly(loop, _OF_A_LOOP)]
    heads = [Look(k.time, 0, _NOTHING, _NOTHING, k.asked, k.end, k.site) for k in in_loops]
    judged = loops.judged(sorted(heads, key=lambda k: k.time), sites)
    keys = {x.key for loop in judged for x in (loop, loop.outer) if x}
    some = [max(looks, key=lambda k: k.a), *_evenly(of[0], _OF_BLOCKS)]
    return {k.time for k in (*some, *(k for k in in_loops if k.asked in keys))}


def _evenly(looks: list[Event], most: int) -> list[Event]:
    """The first, the last, and one of each part of the rounds between."""
    if len(looks) <= most:
        return looks
    first, last = looks[0].end, looks[-1].end
    part = max(1, (last - first) / (most - 1))
    by_part = {int((k.end - first) / part): k for k in looks}
    return [looks[0], *by_part.values()]
