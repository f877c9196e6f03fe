# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem heap` against the truth, on unmodified images in software: random programs' objects.

    .venv/bin/python host_tests/kits/heap_truth.py IMAGE... [--graphs 30] [--seed 0]

IMAGE is a .bin or .kfpkg of MaixPy, or a .uf2 of MicroPython for the Pico ($MAIXMEM_FIRMWARE names
its boot ROM). Compared, for each program, with the board's RAM from outside, where the table of
blocks is found without the snapshot: heads, sizes, types, and how many of the script's live bytes
have an owner by name. With the board itself: every name that a
program can write must lead to the object with that id(). Retained bytes of a global must be what
the interpreter's state, seen from outside, no longer leads to when it is set to None; how often
gc.mem_alloc() says the same is printed: words that old calls left on C's stack change that.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import sys
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS, paths.KITS)]

import heap_graphs  # noqa: E402
import less_firmware  # noqa: E402
import pico  # noqa: E402
from maixmem_cli.emulator import prepared  # noqa: E402
from maixmem_cli.emulator.connect import connect  # noqa: E402
from maixmem_cli.emulator.ports import SerialPort  # noqa: E402
from maixmem_cli.heap import heaps  # noqa: E402
from maixmem_cli.heap.objects import ASKER, MAIN, STATE  # noqa: E402
from maixmem_cli.serial.agent import Agent  # noqa: E402
from maixmem_cli.serial.repl import RawRepl  # noqa: E402
from maixmem_cli.snapshot import owners, store, take, view  # noqa: E402
from maixmem_cli.snapshot.graph import ONLY_C  # noqa: E402
from maixmem_cli.snapshot.store import Taken  # noqa: E402

#: what the boards are made to lack: --without
WITHOUT: Sequence[str] = ()
#: deep calls write over C's stack, where old words are that the collector takes for references
_DEEP = "def deep(n):\n    return deep(n - 1) if n else 0"
_OVER = "deep(16)"
_USED = "import gc\ngc.collect()\nprint(gc.mem_alloc())"
_EXPRESSION = re.compile(r"main\.[A-Za-z_]\w*(\.[A-Za-z_]\w*|\[-?\d+\]|\['[\w ]*'\])*")
_OF_PARTS = re.compile(
    r"\.(closed_over|default)\[|\.self\b|(?<!Base)(?<!Child)\.method\b|\.(still|of|prop)\b"
)
_PER_QUESTION = 20
_STATE = 8192  # bytes before the GC heap's books, more than the interpreter's state has


@dataclass
class Target:
    """A board in software: its REPL and its RAM at this moment, from an address on."""

    repl: RawRepl
    base: int
    ram: Callable[[], bytes]
    word: int


@dataclass
class Score:
    """Counted over programs; `wrong` are examples of what differs."""

    count: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def check(self, what: str, right: bool, example: str, n: int = 1) -> None:
        self.count[what] += n
        if right:
            self.count[f"{what}, right"] += n
        elif len(self.wrong) < 40:
            self.wrong.append(f"{what}: {example}")


@contextlib.contextmanager
def started(image: Path) -> Iterator[Target]:
    """The image on a board in software."""
    if image.suffix == ".uf2":
        with tempfile.TemporaryDirectory() as folder:
            with pico.Pico(image, Path(folder) / "flash.bin") as board:
                with connect(board.port) as repl:
                    yield Target(repl, 0x20000000, board.ram, 4)
    else:
        with prepared.booted(image, ()) as board:
            repl = RawRepl(image.name, SerialPort(board))
            yield Target(repl, 0x80000000, lambda: bytes(board.ram), 8)


# Has the board's RAM as it was when the table of blocks was read.
class _Watched(Agent):
    target: Target
    ram = b""
    to_come = 0

    def read(self, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        found = list(super().read(ranges))
        self.to_come -= 1
        if not self.to_come:
            self.ram = self.target.ram()
        yield from found


# --- from outside ---
Heads = dict[int, tuple[int, int]]  #: {address: (bytes, first word)}


class Outside:
    """The GC heap in a board's RAM, by the interpreter's own books: py/gc.c keeps the table's
    start, its length, the finaliser table where there is one, the pool's start, its end."""

    def __init__(self, target: Target, ram: bytes) -> None:
        self.w = w = target.word
        self._base = target.base
        self._ram = ram
        self._words = array("Q" if w == 8 else "I", ram[: len(ram) // w * w])
        self._books, self._table, self._length, self.pool = self._find()
        self.heads = self._heads()

    def word(self, address: int) -> int:
        return self._words[(address - self._base) // self.w]

    def _find(self) -> tuple[int, int, int, int]:
        words, end_of_ram = self._words, self._base + len(self._ram)
        for i in range(len(words) - 5):
            table, length = words[i], words[i + 1]
            if not (self._base < table < end_of_ram and 64 < length < 1 << 20):
                continue
            for k in (2, 3):
                pool, end = words[i + k], words[i + k + 1]
                inside = table + length <= pool < end <= end_of_ram
                if inside and end - pool == length * 16 * self.w:
                    return self._base + i * self.w, table, length, pool
        raise ValueError("no GC heap in this RAM")

    def _heads(self) -> Heads:
        out: Heads = {}
        head, block = 0, 4 * self.w
        for i in range(4 * self._length):
            state = self._ram[self._table - self._base + i // 4] >> 2 * (i % 4) & 3
            at = self.pool + i * block
            if state in (1, 3):
                head = at
                out[at] = block, self.word(at)
            elif state == 2:
                out[head] = out[head][0] + block, out[head][1]
        return out

    def roots(self) -> dict[int, int]:
        """{address: word} of the interpreter's state, which is before the books (py/mpstate.h). At
        the prompt it begins with two words that have the dict of __main__, a part of it."""
        first = max(self._books - _STATE, self._base)
        places = range(first, self._books, self.w)
        begins = next(a for a in places if a < self.word(a) == self.word(a + self.w) < self._books)
        return {a: self.word(a) for a in range(begins, self._books, self.w)}

    def old(self) -> dict[int, int]:
        """Of the roots those that lead to a block that nothing begins at: left by what is freed,
        as the last callback of a timer in the scheduler's stack, over a soft reset too. They hold
        whatever is allocated there next."""
        end = self.pool + 4 * self._length * 4 * self.w
        inside = {a: v for a, v in self.roots().items() if self.pool <= v < end}
        return {a: v for a, v in inside.items() if v not in self.heads}

    def held(self, old: dict[int, int]) -> int:
        """Bytes that the interpreter's state leads to, word by word, as the collector goes:
        without what only words on C's stack lead to, which at the prompt are old ones, and
        without these old roots."""
        todo = [v for a, v in self.roots().items() if old.get(a) != v]
        found: dict[int, int] = {}
        while todo:
            at = todo.pop()
            if at in self.heads and at not in found:
                found[at] = n = self.heads[at][0]
                todo += [self.word(a) for a in range(at, at + n, self.w)]
        return sum(found.values())


def compare_system(taken: Taken, ram: bytes, score: Score) -> None:
    """The chunks of a K210's system heap by all of its RAM."""
    truth = store.chunks_of(heaps.Finder().system(ram))
    score.check("system heap", taken.chunks == truth, f"{taken.chunks} outside {truth}")


def compare_outside(target: Target, taken: Taken, ram: bytes, score: Score) -> None:
    """Heads, sizes; then types, of what the RAM says is an object of a type that the snapshot
    knows; whose the bytes are that the RAM says are the script's."""
    truth = Outside(target, ram).heads
    shown = view.view(taken)
    mine = shown.graph.sizes
    late = [a for a in truth if a not in mine]  # allocated after the table was printed
    score.count["heads only outside"] += len(late)
    for address, size in mine.items():
        there = truth.get(address, (0, 0))[0]
        score.check("heads and sizes", there == size, f"{address:#x} {size} outside {there}")
    # each type by the names of its instances: one word, one name
    names: dict[int, set[str]] = {}
    for address in mine:
        if address in truth and shown.graph.is_object(address):
            names.setdefault(truth[address][1], set()).add(shown.graph.objects.type_name(address))
    for word, found in names.items():
        score.check("one name a type", len(found) == 1, f"{word:#x} {found}")
    for o in shown.owners:
        score.count[f"bytes: {o.kind}"] += o.nbytes
    kinds = shown.graph.kinds
    of_script = {a for a in truth if kinds.get(a, ASKER) not in (STATE, ASKER)}
    script = sum(truth[a][0] for a in of_script)
    named = sum(truth[a][0] for a in of_script if kinds[a] != ONLY_C)
    score.count["script's live bytes"] += script
    score.count["script's live bytes with an owner"] += named
    score.check("95 % with an owner", named >= 0.95 * script, f"{named} of {script}")


# --- by the board itself ---
def compare_names(target: Target, taken: Taken, score: Score) -> None:
    """id() and type() of what a name leads to."""
    graph = view.view(taken).graph
    asked: list[tuple[str, int]] = []
    for address in graph.sizes:
        name = owners.path(graph, address)
        if graph.kinds[address] == MAIN and graph.is_object(address):
            nbytes = graph.sizes[address]
            if _EXPRESSION.fullmatch(name) and not _OF_PARTS.search(name):
                asked.append((name[len("main.") :], address))
            score.count["bytes of objects in main"] += nbytes
    for i in range(0, len(asked), _PER_QUESTION):
        part = asked[i : i + _PER_QUESTION]
        lines = [
            f"try:\n x = {e}\n print(id(x), type(x))\nexcept Exception as e:\n print(repr(e))"
            for e, _ in part
        ]
        said = target.repl.check("\n".join([*lines, "x = e = None"])).strip().splitlines()
        for (text, address), line in zip(part, said):
            number, _, kind = line.partition(" ")
            score.check("named objects", number == str(address), f"{text}: {address}, {line}")
            mine = f"<class '{graph.type_of(address)}'>"
            score.check("types", number != str(address) or kind == mine, f"{text}: {mine} {kind}")


def compare_retained(target: Target, names: list[str], score: Score, where: str) -> None:
    """What deletion gives back."""
    for name in names:
        graph = view.view(take.of_board(target.repl)).graph
        before = Kept.of(target)
        target.repl.check(f"{name} = None")
        after = Kept.of(target, before)
        mine, lost = graph.retained(name), before.held - after.held
        score.check("retained", lost == mine, f"{where}{name}: {mine}, lost {lost}")
        score.count["retained, gc.mem_alloc() says the same"] += (
            before.counted - after.counted == mine
        )


@dataclass(frozen=True)
class Kept:
    """Bytes: `held` by the interpreter's state, from outside; `counted` by the board itself, with
    its question and with what old words on C's stack and old roots keep from the collector."""

    held: int
    counted: int
    old: dict[int, int] = field(repr=False)

    @classmethod
    def of(cls, target: Target, before: Kept | None = None) -> Kept:
        """Now; or after another moment, whose old roots are such still."""
        target.repl.check(_OVER)
        counted = int(target.repl.check(_USED).split()[-1])
        there = Outside(target, target.ram())
        old = before.old if before else there.old()
        return cls(there.held(old), counted, old)


def one(target: Target, seed: int, score: Score, cases: int) -> None:
    """One program."""
    r, where = random.Random(seed), f"seed {seed} "
    target.repl.soft_reset()
    has_threads = "1" in target.repl.check(
        "try:\n import _thread\n print(1)\nexcept ImportError:\n print(0)"
    )
    # the Pico's run on its second core, which this one has not
    threads = has_threads and target.word == 8 and seed % 5 == 0
    source = heap_graphs.program(seed, timers=seed % 3 == 0 and not threads, threads=threads)
    less_firmware.hide(target.repl, WITHOUT)
    target.repl.check(f"{_DEEP}\n{source}")
    take.of_board(target.repl)  # a second one leaves nothing
    before = Kept.of(target)
    agent = _Watched(target.repl)
    agent.target = target
    board = agent.begin(collect=True)
    agent.ram = target.ram()
    agent.to_come = 0 if board.table else 2  # the interpreter's state, then the table
    taken = take.read(agent, board, "board")
    ram = agent.ram
    agent.end()
    target.repl.until(b"\x04>", 30)
    after = Kept.of(target, before)
    # an old root may lead to less now: that is no byte more
    score.check("nothing kept", after.held <= before.held, f"{where}{before} {after}")
    score.count["nothing kept, and nothing gone"] += after.held == before.held
    score.count["nothing kept, gc.mem_alloc() says the same"] += after.counted == before.counted
    compare_outside(target, taken, ram, score)
    if target.word == 8:
        compare_system(taken, ram, score)
    compare_names(target, taken, score)
    names = re.findall(r"^(g\d+) = ", source, re.MULTILINE)
    compare_retained(target, r.sample(names, cases), score, where)
    score.count["cable bytes"] += agent.received + agent.sent
    target.repl.check(heap_graphs.END)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", nargs="+", type=Path)
    parser.add_argument("--graphs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--deletions", type=int, default=7)
    parser.add_argument("--without", nargs="*", default=(), choices=sorted(less_firmware.LACKS))
    wanted = parser.parse_args()
    global WITHOUT
    WITHOUT = wanted.without
    bad = False
    for image in wanted.images:
        score = Score()
        with started(image) as target:
            for seed in range(wanted.seed, wanted.seed + wanted.graphs):
                try:
                    one(target, seed, score, wanted.deletions)
                except Exception as e:
                    score.wrong.append(f"seed {seed}: {type(e).__name__}: {e}")
                    score.count["programs that failed"] += 1
                    break
        bad |= bool(score.wrong)
        print(f"{image.name}: {wanted.graphs} programs from seed {wanted.seed}")
        for what, n in sorted(score.count.items()):
            print(f"  {n:9,} {what}")
        for text in score.wrong:
            print(f"  WRONG {text}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
