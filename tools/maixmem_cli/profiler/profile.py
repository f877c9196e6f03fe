# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem profile`: one run of a script, its events made into an answer to "where did my memory
go?"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Callable

from maixmem_cli.emulator.readers import moment
from maixmem_cli.emulator.readers.tracer import LOOK, RAW_FILE, Event, Place, Tracer
from maixmem_cli.emulator.session import Outcome, Session
from maixmem_cli.heap import heaps
from maixmem_cli.heap.qstrs import Qstrs
from maixmem_cli.library import places
from maixmem_cli.profiler import (
    endless,
    growth,
    last_rounds,
    leaks,
    ledger,
    live,
    loops,
    post_mortem,
    unbounded,
)
from maixmem_cli.profiler.leaks import BOUNDED, LEAK, RECURSION, Bound, Growth
from maixmem_cli.serial.repl import BoardError

EARLIER = Place("", "before the script", 0)
UNKNOWN = Place("", "no line: the compiler, the firmware", 0)
STACK = "stack"  #: what a recursion fills, if not a heap first
_TOP = 5
_NEAR_END = 0.8  # of a loop's rounds
_NEAR = 0.1  # of a round in which a program ends


@dataclass(frozen=True)
class Line:
    """What one line of Python did to one heap, in bytes; `count` are its allocations."""

    heap: str
    place: Place
    text: str
    at_peak: int
    at_end: int
    in_all: int
    count: int
    live: int  #: of the GC heap when it had most in use, garbage not counted


@dataclass(frozen=True)
class End:
    """After `left` rounds more than the `rounds` that were seen, a heap is full by its leaks, or
    the stack by the calls; rounds of a loop, or calls in one another. `most`: where chance
    decides, not before `left` and after so many at most, None: unknown. `ran`: no forecast, it was
    run on to there."""

    heap: str
    rounds: int
    left: int
    most: int | None
    recursion: bool
    ran: bool = False

    @property
    def sure(self) -> bool:
        """Whether it is about one number."""
        least, most = self.rounds + self.left, self.rounds + (self.most or 0)
        return self.most is not None and most - least <= _NEAR * most


@dataclass(frozen=True)
class RunOn:
    """A program that was run on to a round: it died there of its memory, or it went on."""

    round: int
    died: bool


class Profile:
    """The result of a run. Sizes in bytes, times in instructions since the script began."""

    def __init__(self, session: Session, outcome: Outcome) -> None:
        self.session = session
        self.outcome = outcome
        self.missing = list(session.known.missing)
        self.ending: list[str] = []  #: about an end that is not the script's own
        self.damage: list[str] = []  #: of the system heap's books
        self.books: ledger.Ledger
        self.names: Qstrs  #: of what the interpreter had names for
        self.events: list[Event] = []  #: of the run, in order; of the looks those that are read
        self.gc_total = self.heap_total = 0
        self.unexplained: int | None = None
        self.states = b""  #: of the GC heap's blocks at the end
        self.judged = leaks.Judged([])  #: leaks, and caches that are full
        self.fullest: ledger.Look | None = None  #: when the GC heap had most in use, no garbage
        self._left: tuple[int, int] | None = None  #: rounds at least and at most, by the forecast
        self.ran_on: RunOn | None = None
        self._stack = 0, 0  #: bytes of it in use when the GC heap had most, and left
        self.collected = False  #: whether what is left at the end is without garbage
        self.kept: list[live.Kept] = []  #: who keeps what was in use then
        self._stacks: dict[int, tuple[Place, ...]] = {}
        self._sources: dict[str, list[str]] = {}

    def place(self, site: int) -> Place:
        """The innermost line of a site."""
        if site == ledger.BEFORE:
            return EARLIER
        chain = self.lines_of(site)
        return loops.line_of(chain) if chain else UNKNOWN

    def _named(self, place: Place) -> Place:
        """The same, but the script has its name."""
        return replace(place, file=self.session.script.name) if place.file == RAW_FILE else place

    def stack(self, site: int) -> list[Place]:
        """All lines of a site, the innermost first."""
        return [*self._stacks.get(site, ())]

    def chain(self, site: int) -> tuple[Place, ...]:
        """The same, the outermost first; what no line requested is one place."""
        return tuple(reversed(self.stack(site))) or (self.place(site),)

    def lines_of(self, site: int) -> tuple[Place, ...]:
        """The same of a line of Python, else ()."""
        return tuple(reversed(self.stack(site)))

    def text(self, place: Place) -> str:
        """The source of a line, "" where it is not known."""
        lines = self.source(place.file)
        return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""

    def source(self, name: str) -> list[str]:
        """The lines of a file that was run."""
        if name not in self._sources:
            self._sources[name] = self._read(name)
        return self._sources[name]

    def _read(self, name: str) -> list[str]:
        if name == self.session.script.name:
            return self.session.source.splitlines()
        base = f"{Path(name).stem}.py" if name else ""  # .mpy files may have lost the ending
        for folder in (self.session.script.parent, places.lib()):
            if base and (folder / base).is_file():
                return (folder / base).read_text(encoding="utf-8", errors="replace").splitlines()
        return []

    def lines(self) -> list[Line]:
        """Every line that had bytes at a peak or has some at the end, those with most first."""
        out = []
        for name, account in (("gc", self.books.gc), ("heap", self.books.heap)):
            peak, end, in_all, count = (
                ledger.by_line(c, self.place)
                for c in (account.peak.held, account.held, account.in_all, account.count)
            )
            live = self._live() if name == "gc" else peak
            for p in peak.keys() | end.keys() | in_all.keys() | live.keys():
                numbers = (peak[p], end[p], in_all[p], count[p], live[p])
                out.append(Line(name, p, self.text(p), *numbers))
        return sorted(out, key=lambda n: (-max(n.at_peak, n.at_end), -n.in_all, str(n.place)))

    @property
    def growths(self) -> list[Growth]:
        """Leaks, and caches that are full."""
        return self.judged.growths

    @property
    def leaks(self) -> list[Growth]:
        """Lines that keep more with every round."""
        return [g for g in self.growths if g.leaks]

    @property
    def left_over(self) -> int:
        """Bytes that only a word of C's stack or a register keeps, of no line that runs: a word
        from before keeps garbage, for us as for the firmware."""
        return sum(k.nbytes for k in self.kept if not k.named and not self._runs(k.site))

    def _runs(self, site: int) -> bool:
        """Whether the lines of a site were running when most was in use."""
        made, now = self.stack(site)[::-1], self.stack(self.books.fullest.site)[::-1]
        return site == ledger.BEFORE or (now[: len(made)] == made if made else not now)

    @property
    def live_peak(self) -> int | None:
        """The most of the GC heap in use at once, without what is left over."""
        if self.fullest is None:
            return None
        return max(self.fullest.gc_used - self.left_over, self._at_end)

    @property
    def _at_end(self) -> int:
        """Bytes of the GC heap in use when the script had ended; 0 where that was not found."""
        return self.books.gc.used if self.collected else 0

    @property
    def fullest_at_end(self) -> bool:
        """Whether most was in use when the script ended: of that time no look tells."""
        return self.fullest is not None and self._at_end > self.fullest.gc_used

    def keepers(self, place: Place) -> list[live.Kept]:
        """Who keeps what a line had in use when most was."""
        found: dict[str, live.Kept] = {}
        for k in self.kept:
            if self.place(k.site) == place:
                more = found.get(k.by, live.Kept(k.site, k.by, 0, 0))
                both = more.nbytes + k.nbytes, more.objects + k.objects
                found[k.by] = live.Kept(k.site, k.by, *both)
        return sorted(found.values(), key=lambda k: -k.nbytes)

    def room(self, heap: str) -> int:
        """Bytes that a heap had to give when it had most in use, without garbage."""
        if heap == "heap":
            return max(0, self.heap_total - self.books.heap.peak.used)
        return max(0, self.gc_total - (self.fullest.gc_used if self.fullest else 0))

    @property
    def instructions(self) -> int:
        """That both cores did while the script ran."""
        return self.books.last_time - self.books.first_time

    @property
    def end(self) -> End | None:
        """When all leaks together end the program; None: they do not."""
        on, seen = self.ran_on, self.judged.rounds
        if on and on.died and seen:
            return End("gc", seen, on.round - seen, on.round - seen, False, ran=True)
        found = []
        for heap in ("gc", "heap"):
            of = [g for g in self.leaks if g.heap == heap]
            verdicts, room = [g.verdict for g in of], self.room(heap)
            left = most = growth.rounds_left(verdicts, room)
            if heap == "gc" and self._left is not None:
                left, most = self._left
            elif heap == "gc":  # too far away to be followed
                left = growth.rounds_left(verdicts, room, beside=2)
            if left is not None:
                rounds = max(g.rounds for g in of)
                if heap == "gc" and on:  # not dead there
                    left = max(left, on.round - rounds)
                    most = most if most and most > left else None
                found.append(End(heap, rounds, left, most, all(g.kind == RECURSION for g in of)))
        calls = max((g.rounds for g in self.leaks if g.kind == RECURSION), default=0)
        if calls and (used := self._stack[0]):
            deeper = self._stack[1] * calls // used
            found.append(End(STACK, calls, deeper, deeper, True))
        return min(found, key=lambda e: e.left, default=None)

    def _live(self) -> Counter[Place]:
        if self.fullest_at_end:
            return ledger.by_line(self.books.gc.held, self.place)
        out: Counter[Place] = Counter()
        for (site, nbytes), n in self.fullest.gc.items() if self.fullest else ():
            out[self.place(site)] += nbytes * n
        return out

    def costly(self) -> list[Line]:
        """The five lines of the script that hold most at the peak of a heap."""
        return [n for n in self.lines() if n.place not in (EARLIER, UNKNOWN)][:_TOP]

    def mark(self, number: int) -> str:
        """What kind of call a mark is."""
        return self.session.known.marks[number - 1][0]

    def collect(self, keepers: live.Keepers | None = None) -> None:
        """Reads the events."""
        session = self.session
        system, gc = session.tracer.began
        self.gc_total = gc.total
        self.heap_total = heaps.RAM_END - system.base
        self.books = ledger.Ledger(system, gc)
        self.names = names = Qstrs(
            session.board.ram, (session.known.state, session.finder.gc_state)
        )
        stacks = session.tracer.stacks(names)
        self._stacks = {site: tuple(map(self._named, of)) for site, of in stacks.items()}
        looks_at = loops.Sites(self.lines_of, session.tracer.depths.__getitem__)
        looks = live.chosen(list(session.tracer.of(LOOK)), looks_at)
        self.events = list(session.tracer.events(looks))
        self.books.feed(self.events)
        self.fullest = max(self.books.looks, key=lambda k: k.gc_used, default=None)
        more = self._lost(), self.books.taken_over
        self.judged = leaks.judged(self.books.looks, looks_at, *more)
        self._forecast()
        if keepers and self.fullest:
            running = {p.function for p in self.stack(self.books.fullest.site)}
            self.kept = keepers.of(self.books.fullest, names, running)
            self._stack = keepers.stack()
        try:
            self.unexplained = self.books.unexplained(session.finder.system(session.board.ram))
        except heaps.Damaged as e:
            self.damage = self.damage or [str(e), "Next: --guard says which line does it"]
        except heaps.NotFound as e:
            self.missing.append(f"the system heap at the end: {e}")

    @property
    def growing(self) -> list[Growth]:
        """What the script itself keeps more of, of the GC heap."""
        return [g for g in self.leaks if g.heap == "gc" and g.kind == LEAK]

    def grew_until(self, place: Place) -> int:
        """The last round in which a line had more of the GC heap than before."""
        loop = self.judged.loop
        return leaks.grew_until(self.books.looks, self.lines_of, loop, place) if loop else 0

    def settle(self, bounded: Sequence[Growth], bound: Bound) -> None:
        """These are no leaks: they have a bound."""
        told = [replace(g, kind=BOUNDED, bound=bound) if g in bounded else g for g in self.growths]
        self.judged = replace(self.judged, growths=told)
        self._forecast()

    def _forecast(self) -> None:
        """How many rounds are left, from what the last ones made."""
        self._left = None
        loop, of = self.judged.loop, self.growing
        if loop and of:
            looks = [self.books.looks[i] for i in loop.at]
            at, of_run = self.books.fullest, self.events
            if at.time < looks[0].time:  # most was in use before the loop: code was compiled
                at = ledger.at_look(*self.session.tracer.began, of_run, looks[-1].time)
            self._left = last_rounds.rounds_left(of, looks, at, of_run, self.place)

    def _lost(self) -> Callable[[Place], int]:
        """How often a line called what the firmware never frees: threads that have
        ended; models that were deinited as often as they were loaded."""
        at: dict[str, Counter[Place]] = {}
        for _, number, site in self.books.marks:
            at.setdefault(self.mark(number), Counter())[self.place(site)] += 1
        threads, loads = at.get("thread", Counter()), at.get("load", Counter())
        going = moment.running(self.session.board.ram, self.session.known.threads)
        lost: Counter[Place] = Counter()
        if going < sum(threads.values()) / 2:
            lost.update(threads)
        if sum(at.get("deinit", Counter()).values()) >= sum(loads.values()) - 1:
            lost.update(loads)
        return lost.__getitem__

    def finish(self) -> None:
        """Collects the garbage on the board, untraced: what is left is held."""
        session = self.session
        session.tracer.stop()
        if self.outcome.over:
            try:
                session.repl.check("import gc\ngc.collect()")
                self.collected = True
            except BoardError as e:
                self.missing.append(f"what is held at the end: {e}")
        try:
            states = session.finder.gc(session.board.ram).states
        except heaps.NotFound as e:
            self.missing.append(f"the GC heap at the end: {e}")
            states = bytes(len(self.books.blocks))
        self.books.still_there(states)
        self.states = states


def run(
    session: Session, on_text: Callable[[str], None], *, looks: bool = True, guard: bool = False
) -> Profile:
    """Runs the session's script and follows both heaps; with `looks` also what is in use, which
    finds leaks; with `guard` what damages the system heap."""
    looks = looks and bool(session.known.state)
    keepers = live.Keepers(session) if looks else None
    session.tracer.start(session.finder, gc=True, live=looks, guard=guard)
    wanted = looks and unbounded.makes_larger(session.source)  # run_on
    lengths = endless.lengths(session.source) if wanted else ()
    session.port.keep(partial(_nearly_over, session.tracer, lengths) if lengths else None)
    outcome = session.run(on_text)
    result = Profile(session, outcome)
    result.ending = post_mortem.ending(session, result.outcome)
    session.tracer.where()
    result.damage = post_mortem.damage(session)
    result.collect(keepers)
    result.finish()
    return result


def _nearly_over(tracer: Tracer, lengths: Collection[int]) -> int:
    """The place of a loop that has come near its end since the last call; 0: none has."""
    looks = tracer.new_looks()
    near = (k for k in looks if any(_NEAR_END * n <= k.end < n for n in lengths))
    return next((k.asked for k in near if k.asked), 0)
