# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The judge of growth: what an owner keeps, looked at once in each round of a loop, always at the
same point. It tells what goes on growing from what is allocated once, what fills up, and what
comes and goes. A function of numbers only: a run on a firmware, on the stand-in, or a plan may ask
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations, groupby, takewhile
from math import ceil
from statistics import mean, median
from types import MappingProxyType

from k210_model.gc_heap import BLOCK

from maixmem_cli.profiler.hash_tables import OF_DICT, entry_of

ENOUGH = 30  #: rounds that tell any leak of every round
LEAST = 15  #: with fewer nothing is said to grow
STEPS = 4  #: up, at least; of a table one less
_FIRST, _SINCE = 2, 3  # rounds in which things are allocated once, and that show it
_EXACT = 4  # rounds of the system heap, each with more than the one before
GROWS, FULL, FLAT, FEW = "grows", "full", "flat", "too few rounds"

_FILLS = 2  # steps up of what fills up; with one it was made once
_GOES_ON = 0.65  # of what the first half of the rounds added, the second half adds at least
_PAUSE = 2  # times the longest pause between two steps: a longer one is the end. Tables double
_FLAT_FOR = 0.25  # of the rounds in which it grew
_TEETH = 4  # what is given back counts when it is that part of the growth
_MORE = 8  # times what the later half has more on average: of even growth 2 are all of it
_GAPS = 2  # times, at least, that it is emptied, each with more
_MANY = 3  # objects of one size: then they are kept one by one, else one object is made anew
_FEW_ONES = 5  # more are kept one by one, each of another size
_UNLIKE = 4  # times as high: a text that is computed now and then, some longer, is no step
_OFTEN = 1.5  # rounds for one object that is kept: more, and not every round keeps one
_TABLE = 1.2  # times as large as before: the table of a dict or a list
_TABLE_STEPS = 3  # the last ones, and no one smaller than the one before
LISTS = 1.6  #: times: the table of a list becomes twice as large, that of a dict a third
_HASHED = 1.33  # times: that of a dict or a set; a small one's steps are uneven
_USED = 0.4  # of a table, at least: half of a list's is as it has become twice as large
ITEM, ENTRY = 8, OF_DICT  #: bytes of a list's and of a dict's
_ROOM = 1.5  # times the entries of a dict: it has less room
_LISTED = 3  # numbers of objects that a list had entries for
_EACH = 0.75  # of the last rounds: more in nearly each of them goes on, whatever was before
_NEAR = 0.1  # of a rate
_LAST, _STEADY = 3, 6  # of the rounds a third, of so many looks
_NEARLY_ALL = 0.7  # of the looks have more than the one before
_BEND = 8  # looks before and after which growth becomes slower
_PARTS = 12  # lines at most whose parts are tried: there are 2 ** so many

Held = Mapping[int, int]  #: {bytes of an object: how many of them}, at one look
NO_TABLES: Mapping[int, float] = MappingProxyType({})
Filled = Mapping[int, int]  #: {bytes of an object: those that it fills}


@dataclass(frozen=True)
class Verdict:
    """`rate`: bytes a round, and `one`: those of them by objects that are replaced, larger, each
    time (a string, a table) and need room for two; `largest`: the largest of these now. `since`:
    the round in which it began; `nbytes`: held at the last look; `rounds`: that were looked at;
    `every`: rounds for one more object, where objects are kept one by one; `table`: what is
    allocated anew is a table that becomes so many times as large, `entry`: of a dict or a set,
    whose entries have so many bytes, `entries`: those that the largest has; 0: unknown."""

    kind: str
    rounds: int
    nbytes: int
    since: int = 0
    rate: float = 0.0
    one: float = 0.0
    largest: int = 0
    every: float = 1.0
    table: float = 0.0
    entry: int = 0
    entries: int = 0

    @property
    def each(self) -> float:
        """Bytes a round; of what is kept now and then, each time."""
        return self.rate * self.every if self.now_and_then else self.rate

    @property
    def enough(self) -> int:
        """Rounds that tell whether what is kept now and then goes on."""
        return max(ENOUGH, ceil((STEPS + 1) * self.every))

    @property
    def now_and_then(self) -> bool:
        """Whether not every round keeps something: a callback."""
        return self.every > _OFTEN


def judge(
    rounds: Sequence[int],
    held: Sequence[Held],
    filled: Sequence[Filled] = (),
    entries: Sequence[Filled] = (),
    *,
    exact: bool = False,
    least: int = LEAST,
    steps: int = STEPS,
) -> Verdict:
    """What one owner held at the end of each of these rounds (rising numbers, some may be left
    out). `filled`: of an object that grows, exact where its blocks are not; `entries`: of tables,
    of all that are as large together. `exact`: of the system
    heap, where nothing waits for a collector: what takes more in each of a few rounds is reported
    too. `least` rounds, and `steps` in which it grew, are enough to say that it grows."""
    amounts = [_bytes(h) for h in held]
    if not rounds:
        return Verdict(FLAT, 0, 0)
    floor = lowest(amounts)
    first = sum(1 for n in floor if n == floor[0]) - 1
    passed, rise = rounds[-1] - rounds[0] + 1, floor[-1] - floor[0]
    if rise <= 0:
        return Verdict(FLAT, passed, amounts[-1])
    if passed < least:
        if exact and passed >= _EXACT and len(set(amounts)) == len(amounts) > _EXACT - 1:
            return Verdict(GROWS, passed, amounts[-1], rounds[0], rise / (rounds[-1] - rounds[0]))
        last = _steps(floor)[-1]
        at_first = last <= _FIRST and rounds[-1] - rounds[last] >= _SINCE
        return Verdict(FLAT if at_first else FEW, passed, amounts[-1], rounds[first])
    by_ones, one = parts(held)
    tables = sum(n for size, n in held[-1].items() if _larger_now(held, size))
    fill = [f.get(size, size) for f, size in zip(filled, one)] or one
    inside, alone, tables_of = _inside(held, entries)
    table = 2 * max(held[-1], default=0) >= amounts[-1]  # else many objects, whatever their steps
    many = _rate_of(rounds, by_ones, least, steps, table)
    by_entries = bool(inside) and _is_of_entries(lowest(one), inside, alone)
    if by_entries:
        ones = _rate_of(rounds, inside, least, steps, table=False)
        ones = ones and (_since_the_last(rounds, inside, tables_of) or ones)
    else:
        ones = _rate_of_one(rounds, one, fill, least, steps)
    if ones and not (many or by_entries) and _is_full(rounds, held[-1], by_ones, one):
        ones = 0.0
    of_tables = tables > 1 and not many
    if tables > 1:  # of equal lists, a table each: none of them alone needs that much in one piece
        many, ones = many or (ones if by_entries else tables * ones), 0.0
    emptied = by_entries and not _is_more_than_teeth(rounds, inside, lowest(inside))
    if many + ones <= 0 and not emptied:  # several that grow, none alone
        many = _rate_of(rounds, amounts, least, steps, table)
    if many + ones <= 0:
        comes_and_goes = not _is_more_than_teeth(rounds, amounts, floor)
        if not comes_and_goes and (every := _now_and_then(rounds, floor, steps)):
            return Verdict(FEW, passed, amounts[-1], rounds[first], every=every)
        kind = FULL if len(_steps(floor)) >= _FILLS else FLAT
        return Verdict(kind, passed, amounts[-1], rounds[first])
    of_largest = _rate_of(rounds, alone, least, steps, table=False) if by_entries else ones
    largest = max((size for size, n in held[-1].items() if n < _MANY), default=0)
    new = 0 if of_tables or many <= ones else _objects(held[-1]) - _objects(held[first])
    return Verdict(
        kind=GROWS,
        rounds=passed,
        nbytes=amounts[-1],
        since=rounds[first],
        rate=many + ones + (0.0 if ones else many * _list_of(held, entries)),
        one=of_largest or ones if ones else 0.0,
        largest=largest if ones else 0,
        table=_table_by(lowest(one), by_entries) if ones else 0.0,
        entry=entry_of(_sizes(lowest(one))) if ones else 0,
        entries=alone[-1] if ones and by_entries else 0,
        every=(rounds[-1] - rounds[first]) / new if new > 0 else 1.0,
    )


def _rate_of(
    rounds: Sequence[int], amounts: Sequence[int], least: int, steps: int, table: bool = True
) -> float:
    """Bytes a round; 0 where it does not go on growing. Not `table`: it can be none."""
    low = lowest(amounts)
    first = sum(1 for n in low if n == low[0]) - 1
    if rate := _rate_of_gaps(rounds, amounts, low):
        return rate
    if not _is_more_than_teeth(rounds, amounts, low):
        return 0.0
    began_faster = max(0, len(rounds) - least), max(steps, ceil(_EACH * least))
    for since, enough in ((first, steps), began_faster):
        at, grown = rounds[since:], low[since:]
        doubles = table and is_table(grown)
        goes_on = _goes_on(at, grown, least, enough, doubles)
        if goes_on and _is_more(amounts[since:], grown):
            return _slope_of(at, grown, doubles)
    last = rounds[-least:], low[-least:]
    return _slope_of(*last, table=False) if _is_even(*last, steps) else 0.0


def _rate_of_one(
    rounds: Sequence[int], blocks: Sequence[int], fill: Sequence[int], least: int, steps: int
) -> float:
    """Of an object that grows: by what it fills, which rises before its blocks do. A table has
    room in vain."""
    low = lowest(blocks)
    by_blocks = _rate_of(rounds, blocks, least, steps)
    block_by_block = 0 < max((b - a for a, b in zip(low, low[1:]) if a), default=0) <= BLOCK
    if block_by_block or (by_blocks and not is_table(low)):
        return _rate_of(rounds, fill, least, steps) or by_blocks
    return by_blocks


def _is_of_entries(low: Sequence[int], inside: Sequence[int], alone: Sequence[int]) -> bool:
    """Whether it is a table that is filled, also before it became larger often: bytes have no
    room, or become larger about as often as there are more. Bytes may be 0 anywhere."""
    room = max(n - entries for n, entries in zip(low, alone))
    filled = room > BLOCK and 2 * len(_steps(low)) < len(_steps(lowest(inside)))
    return bool(_table_by(low) or filled) and _USED * low[-1] <= max(inside)


def _since_the_last(rounds: Sequence[int], inside: Sequence[int], tables: Sequence[int]) -> float:
    """Bytes a round since there are as many tables as now, where that is long ago: one more has
    entries from before, when it was another line's."""
    since = len(tables) - sum(1 for _ in takewhile(lambda n: n == tables[-1], reversed(tables)))
    long = _LAST * (rounds[-1] - rounds[since]) >= rounds[-1] - rounds[0]
    low = lowest(inside)
    return _slope_of(rounds[since:], low[since:], table=False) if long else 0.0


def _inside(
    held: Sequence[Held], entries: Sequence[Filled]
) -> tuple[list[int], list[int], list[int]]:
    """Bytes of the entries of all that is not kept one by one, and of the largest of these; an
    object of one block is full. How many are larger. Tables leave no old copies."""
    singles = _singles(held) if entries else []
    known = [{s: e.get(s, s * n) for s, n in one.items()} for one, e in zip(singles, entries)]
    alone = [k[max(k)] // one[max(k)] if k else 0 for one, k in zip(singles, known)]
    tables = [sum(n for s, n in one.items() if s > BLOCK) for one in singles]
    return [sum(k.values()) for k in known], alone, tables


def lowest(amounts: Sequence[int]) -> list[int]:
    """Of each snapshot: what is never freed after it."""
    return [*accumulate(reversed(amounts), min)][::-1]


def settled(rounds: Sequence[int], amounts: Sequence[int]) -> int | None:
    """The round up to which it grew, where it is seen to be over: most was given back then, or it
    has been flat for long. None: it did not grow, or that is not seen."""
    start = _begin(lowest(amounts))
    most = max(amounts[start:], default=0) - min(amounts[start:], default=0)
    for i in range(start + 1, len(amounts)):
        if most and _TEETH * (amounts[i - 1] - amounts[i]) >= most:
            return rounds[i]
    rises = _steps(lowest(amounts))
    last = rounds[rises[-1]] if rises else None
    long_ago = last is not None and rounds[-1] - last >= _FLAT_FOR * (last - rounds[0])
    return last if long_ago else None


def _is_full(
    rounds: Sequence[int], last: Held, by_ones: Sequence[int], one: Sequence[int]
) -> bool:
    """Whether one is the table of objects that become no more: it has room for some."""
    filled = 2 * LISTS * ITEM * sum(last.values()) >= one[-1]
    return filled and is_table(lowest(one)) and settled(rounds, by_ones) is not None


def slows(
    rounds: Sequence[int],
    amounts: Sequence[int],
    rates: Sequence[float],
    tables: Mapping[int, float] = NO_TABLES,
) -> tuple[int, frozenset[int], bool] | None:
    """The round from which on what grew at these rates, all together, goes on with some of them;
    the numbers of those that may have ended there; whether it can be no others. None: that is not
    seen. `tables`: which are one that becomes so many times as large; until it is due again, it
    has not ended."""
    together = sum(rates)
    near = _NEAR * together
    bends = (_emptied(rounds, amounts), _bend(rounds, lowest(amounts)))
    fit = (b for b in bends if b and abs(b[1] - together) <= near < b[1] - b[2])
    bend = next(fit, None) if together > 0 else None
    if not bend:
        return None
    until, less = bend[0], bend[1] - bend[2]
    if len(rates) > _PARTS:
        return until, frozenset(range(len(rates))), False
    some = [c for n in range(1, len(rates)) for c in combinations(range(len(rates)), n)]
    like = [c for c in some if abs(sum(rates[i] for i in c) - less) <= near]
    may = frozenset[int]().union(*like)
    due = all(tables.get(i, 0.0) * until <= rounds[-1] for i in may)
    return (until, may, len(like) == 1) if may and due else None


Bend = tuple[int, float, float]  #: a round, the bytes a round before it, and after it


def _emptied(rounds: Sequence[int], amounts: Sequence[int]) -> Bend | None:
    """Where a part is freed, which was nothing at first."""
    pairs = enumerate(zip(amounts, amounts[1:]))
    k = next((i for i, (a, b) in pairs if _TEETH * (a - b) >= a - amounts[0] > 0), 0)
    return (
        (rounds[k], _slope(rounds, amounts, 0, k), _slope(rounds, amounts, 0, k + 1))
        if k
        else None
    )


def _bend(rounds: Sequence[int], low: Sequence[int]) -> Bend | None:
    """Where two lines meet that are nearest to all of them."""
    bends = range(_BEND, len(low) - _BEND)
    k = min(bends, key=lambda k: _off(rounds, low, k), default=0)
    return (rounds[k], _slope(rounds, low, 0, k), _slope(rounds, low, k, -1)) if k else None


def _slope(rounds: Sequence[int], amounts: Sequence[int], a: int, b: int) -> float:
    return (amounts[b] - amounts[a]) / (rounds[b] - rounds[a])


def _off(rounds: Sequence[int], low: Sequence[int], bend: int) -> float:
    """How far amounts are from two lines that meet at one of them."""

    def off(a: int, b: int) -> float:
        slope = _slope(rounds, low, a, b)
        return sum(abs(low[a] + slope * (rounds[i] - rounds[a]) - low[i]) for i in range(a, b))

    return off(0, bend) + off(bend, len(low) - 1)


def _begin(low: Sequence[int]) -> int:
    """The index behind what the first round allocated once, where that is most of what is more at
    the end."""
    many = len(low) > STEPS
    return int(many and 2 * (low[1] - low[0]) >= low[-1] - low[0])


def _steps(low: Sequence[int]) -> list[int]:
    """The looks at which more is kept than before."""
    return [i for i in range(1, len(low)) if low[i] > low[i - 1]]


def _now_and_then(rounds: Sequence[int], low: Sequence[int], wanted: int) -> int:
    """Rounds from one step up to the next, where they are as many each time, also up to now, and
    about as high, but the steps are too few to tell; else 0."""
    steps = [i for i in _steps(low) if i > 1]  # what the first round made came once
    ups, heights = [rounds[i] for i in steps], [low[i] - low[i - 1] for i in steps]
    if not _FILLS <= len(ups) < wanted or _UNLIKE * min(heights) < max(heights):
        return 0
    apart, pauses = _apart(rounds), _pauses(ups)
    around = max(ups[0] - rounds[0], rounds[-1] - ups[-1])
    same = max(pauses) - min(pauses) <= apart
    return max(pauses) if same and apart < min(pauses) >= around - apart else 0


def _is_even(rounds: Sequence[int], low: Sequence[int], wanted: int) -> bool:
    """Whether the steps up are as far from each other each time, up to now, and as high: that goes
    on, whatever was before. A timer keeps something in each third round."""
    steps = _steps(low)
    if len(steps) < wanted:
        return False
    heights = [low[i] - low[i - 1] for i in steps]
    pauses = _pauses([rounds[i] for i in steps])
    same = max(pauses) - min(pauses) <= _apart(rounds)
    alike = max(heights) - min(heights) <= _NEAR * max(heights)
    return same and alike and rounds[-1] - rounds[steps[-1]] <= max(pauses)


def _apart(rounds: Sequence[int]) -> int:
    """The most rounds from one that was judged to the next."""
    return max(b - a for a, b in zip(rounds, rounds[1:]))


def _pauses(ups: Sequence[int]) -> list[int]:
    return [b - a for a, b in zip(ups, ups[1:])]


def _goes_on(
    rounds: Sequence[int], low: Sequence[int], least: int, wanted: int, table: bool
) -> bool:
    """Whether it still grows at the end, about as fast as before."""
    steps = _steps(low)
    enough = len(steps) >= wanted - table
    if not enough or rounds[-1] - rounds[0] < least - 1:
        return False
    ups = [rounds[i] for i in (0, *steps)]
    longest = max(_pauses(ups))
    if rounds[-1] - ups[-1] > _PAUSE * longest:
        return False
    half = (rounds[0] + rounds[-1]) / 2
    middle = max(n for at, n in zip(rounds, low) if at <= half)
    return table or low[-1] - middle >= _GOES_ON * (middle - low[steps[0]])


def is_table(low: Sequence[int]) -> bool:
    """Whether each step is by a part of what existed, as tables of lists and dicts grow."""
    steps = [(low[i - 1], low[i]) for i in _steps(low)[-_TABLE_STEPS:]]
    ups = [b - a for a, b in steps]
    larger = len(ups) == _TABLE_STEPS and ups == sorted(ups) and ups[0] < ups[-1]
    return larger and all(b >= _TABLE * a for a, b in steps)


def _is_more_than_teeth(
    rounds: Sequence[int], amounts: Sequence[int], floor: Sequence[int]
) -> bool:
    """A queue that is emptied now and then grows only since it was emptied; what leaks had more
    each time: of a queue that had filled up again, more than when it was emptied first."""
    begin = _begin(floor)
    rise = floor[-1] - floor[begin]
    drops = _drops(amounts, rise)
    if not drops:
        return True
    last = drops[-1]
    again = (i for i in drops if _TEETH * (max(amounts[i : last + 1]) - amounts[i]) >= rise)
    first = next(again, begin)
    before, after = rounds[last] - rounds[first], rounds[-1] - rounds[last]
    return 2 * (floor[last] - floor[first]) * after >= (floor[-1] - floor[last]) * before > 0


def _is_more(amounts: Sequence[int], low: Sequence[int]) -> bool:
    """Whether the later half has more on average: what comes and goes by chance has been less
    before each round, for that is sought up to the end."""
    half = len(amounts) // 2
    more = mean(amounts[half:]) - mean(amounts[:half]) if half else 0.0
    return _MORE * more >= low[-1] - low[0]


def _rate_of_gaps(rounds: Sequence[int], amounts: Sequence[int], floor: Sequence[int]) -> float:
    """Bytes a round of a queue that is emptied again and again, but for a part of it: each time
    more is left, by about as much, and by more than comes between two rounds that were judged,
    where it was emptied between them; 0.0 where it is not. Of one that was emptied twice about as
    much is left as is given back, since it began, too."""
    begin = _begin(floor)
    drops = _drops(amounts, (floor[-1] - floor[begin]) // 2)
    gaps = [i for i in drops if i > begin]
    if len(gaps) < _GAPS:
        return 0.0
    more = median(b - a for a, b in zip(amounts, amounts[1:]) if b > a)
    if len(gaps) == _GAPS:
        gaps.insert(0, begin)
        more = max(more, max(n - least for n, least in zip(amounts, floor)) / 2)
    slope, pairs = _slope(rounds, amounts, gaps[0], gaps[-1]), [*zip(gaps, gaps[1:])]
    left = all(amounts[b] - amounts[a] > more for a, b in pairs)
    even = all(2 * _slope(rounds, amounts, *pair) >= slope for pair in pairs)
    over = rounds[-1] - rounds[gaps[-1]] > _PAUSE * max(rounds[b] - rounds[a] for a, b in pairs)
    return slope if left and even and not over else 0.0


def _drops(amounts: Sequence[int], rise: int) -> list[int]:
    """Where it has least after it gave back that part of the rise, at once or by and by, and
    before it has as much more again."""
    out: list[int] = []
    falls, most = False, 0
    for i, n in enumerate(amounts):
        least = amounts[out[-1]] if falls else n
        most = n if falls else max(most, n)
        if falls and n <= least:
            out[-1] = i
        elif falls:
            falls = _TEETH * (n - least) < rise
        elif n < most and _TEETH * (most - n) >= rise:
            falls = True
            out.append(i)
    return out


def parts(held: Sequence[Held]) -> tuple[list[int], list[int]]:
    """Bytes of objects that are kept one by one, and of the one that is replaced, larger."""
    singles = _singles(held)
    # of a few the largest: the collector may have taken old copies for objects in use
    many = [_bytes(h) - _bytes(s) for h, s in zip(held, singles)]
    return many, [max(s, default=0) for s in singles]


def _singles(held: Sequence[Held]) -> Sequence[Held]:
    """What is not kept one by one."""
    # old copies of one that is small may have been as many, but are not kept
    often = {size for size, n in held[-1].items() if n >= _MANY}
    kept = {size for size in often if not _larger_now(held, size)}
    singles = [{s: n for s, n in h.items() if s not in kept} for h in held]
    tables = sum(held[-1][size] for size in often - kept)
    if max(sum(s.values()) for s in singles) > _FEW_ONES + tables and _stay(singles):
        return [{}] * len(held)
    return singles


def _larger_now(held: Sequence[Held], size: int) -> bool:
    """Whether objects of a size are several that each became larger: before there was any, as many
    of a smaller one existed that are gone."""
    now, n = held[-1], held[-1][size]
    before = next((h for h in reversed(held) if size not in h), {})
    return n >= _MANY and any(s < size and k - now.get(s, 0) >= n for s, k in before.items())


def _list_of(held: Sequence[Held], filled: Sequence[Filled]) -> float:
    """Of what is kept one by one the lists or dicts, which are too young to be seen growing: their
    bytes for one of its. They are new, alone or with more of them, and have place for it all, or
    for what is of one size where each entry keeps several; of several lists that are full a
    further one may have come from another line. Where its entries are known, each keeps as many as
    the other."""
    kept = {s: n for s, n in held[-1].items() if n >= _MANY and not _larger_now(held, s)}
    before = held[len(held) // 2]
    now, then = ({s: n for s, n in h.items() if s not in kept} for h in (held[-1], before))
    tables = [(n, n * s) for s, n in now.items() if n > then.get(s, 0)]
    if _bytes(now) > _bytes(then):
        tables.append((sum(now.values()), _bytes(now)))
    entries = {sum(kept.values()), *kept.values()}  # and the tables themselves
    known = filled[-1] if filled else {}
    new = [known.get(s, 0) for s, n in now.items() if then.get(s, 0) < n == 1]
    fits = [_entries(n, k, room) for n in entries for k, room in tables]
    fit = max([*fits, *(k for n in entries for k in new if _shared(n, k // ITEM))], default=0)
    return fit / _bytes(kept) if fit else 0.0


def _shared(n: int, entries: int) -> bool:
    """Whether of n objects each entry keeps as many, but of the last."""
    return 0 < entries <= n and n % entries <= 1


def _entries(n: int, tables: int, nbytes: int) -> int:
    """Bytes of the entries of n objects, where so many tables of so many bytes together are lists
    or dicts of them; 0 where they are not."""
    further = nbytes // tables if tables > 1 else 0
    if (n - tables) * ITEM <= nbytes + further and nbytes < 2 * n * ITEM:
        return n * ITEM
    dicts = tables > 1 and n * ENTRY <= nbytes < _ROOM * n * ENTRY  # one alone had other entries
    return n * ENTRY if dicts else 0


def list_of(kept: Verdict, held: Sequence[Held], other: Sequence[Filled]) -> Verdict | None:
    """The list of what is kept one by one, where another owner's object is it: with each object
    more it has an entry more. `other`: of that owner."""
    counts = [_objects(h) for h in held]
    known = [(n, max(f), -(-f[max(f)] // ITEM)) for n, f in zip(counts, other) if f]
    entries, apart = {k for *_, k in known}, [k - n for n, _, k in known]
    if len(entries) < _LISTED or max(apart) - min(apart) > 1:  # the last may be in no list
        return None
    first, size = counts.index(known[0][0]), known[-1][1]
    more = _bytes(held[-1]) - _bytes(held[first])
    rate = ITEM * kept.rate * (counts[-1] - counts[first]) / more if more > 0 else 0.0
    return replace(kept, nbytes=size, rate=rate, one=rate, largest=size, every=1.0, table=2.0)


def _stay(singles: Sequence[Held]) -> bool:
    """Whether most of them, each of another size, are kept: of an object that is created anew,
    larger, only copies remain that a word of C's seems to point to."""
    seen = set().union(*singles[:-1])
    return 2 * len(seen & singles[-1].keys()) >= len(seen)


def _objects(held: Held) -> int:
    """How many are about as large as those that have most of the bytes: what belongs to each, and
    the list of them, is of another size."""
    most = max(held, key=lambda nbytes: nbytes * held[nbytes], default=0)
    return sum(n for nbytes, n in held.items() if most <= 2 * nbytes <= 4 * most)


def _bytes(held: Held) -> int:
    return sum(size * n for size, n in held.items())


def _table_by(low: Sequence[int], known: bool = False) -> float:
    """How many times as large a table becomes; 0: it is none. `known`: it is one."""
    sizes = _sizes(low)
    if entry_of(sizes):
        return _HASHED
    larger = len(sizes) > 1 and sizes[-2] and (known or is_table(low))
    return sizes[-1] / sizes[-2] if larger else 0.0


def _sizes(low: Sequence[int]) -> list[int]:
    """Each once."""
    return [n for n, _ in groupby(low)]


def _slope_of(rounds: Sequence[int], low: Sequence[int], table: bool) -> float:
    """Bytes a round: that of the last rounds, where each adds as much; else the middle of the
    slopes between any two looks. Of what has more in few of them between any two steps up: up to
    the next one nothing is added, and the last such time would count. A table that grows by a part
    of itself has room in vain: of that, where it is full, just before each of its last steps up;
    they are so far from each other that the others would be most of the looks."""
    if not table and (steady := _steady(rounds, low)):
        return steady
    points: list[tuple[float, int]] = [*zip(rounds, low)]
    steps = _steps(low)
    if STEPS <= len(steps) < _NEARLY_ALL * len(low):
        points = [((rounds[i - 1] + 1 + rounds[i]) / 2, low[i]) for i in steps]
    if table:
        full = [i for i in _steps(low) if low[i - 1]]
        points = [((rounds[i - 1] + rounds[i] - 1) / 2, low[i - 1]) for i in full[-STEPS:]]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2)]
    return _whole(median(slopes), _table_by(low) if table else 0.0) if slopes else 0.0


def _steady(rounds: Sequence[int], low: Sequence[int]) -> float:
    """Bytes that each of the last rounds adds, one as much as the other; 0: they do not."""
    since = rounds[-1] - (rounds[-1] - rounds[0]) / _LAST
    last = [(a, n) for a, n in zip(rounds, low) if a >= since]
    slopes = {(y - b) / (x - a) for (a, b), (x, y) in zip(last, last[1:])}
    return slopes.pop() if len(slopes) == 1 and len(last) >= _STEADY else 0.0


def _whole(slope: float, table: float) -> float:
    """Of a table that gets about so many entries a round: whole ones."""
    unit = 0 if not table else ITEM if table > LISTS else ENTRY
    entries = round(slope / unit) if unit else 0
    near = entries and abs(slope - entries * unit) < _NEAR * slope
    return entries * unit if near else slope


def rounds_left(growing: Sequence[Verdict], room: int, beside: int = 1) -> int | None:
    """After how many more rounds all of them together have taken `room` bytes; None: never. What
    is replaced needs its old copy beside the new one at once, and so many pieces of its size where
    that one lies in the middle of what is free: 2."""
    together = sum(v.rate for v in growing)
    ends = [room / together] if together > 0 else []
    ends += [
        (room - beside * v.largest) / (together + beside * v.one) for v in growing if v.one > 0
    ]
    return max(0, int(min(ends))) if ends else None
