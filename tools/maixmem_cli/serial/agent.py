# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A conversation with on_board/snapshot.py over a raw REPL: the table of blocks, then memory and
names, several requests under way at a time."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Callable

from maixmem_cli.serial.question import source
from maixmem_cli.serial.repl import BoardError, RawRepl

_READY = b"\x06"  # ACK, which a program does not print
_END = b"ffff" + b"0" * 16
_COLLECT = b"fffe" + b"0" * 16
_AT_ONCE = 8  # requests of 20 bytes: less than the buffer of a UART
_PIECE = 4096  # bytes of an answer
_SILENCE = 30.0  # seconds
_TABLE = 120.0  # seconds for the table of a large heap, and for timers that come late
_STEP = 50  # ms of a timer, which is set again until a time has come: a K210's counts no minutes
_NO_TIMER = re.compile(r"no module named '?machine|has no attribute '?Timer", re.IGNORECASE)
_FIRST = re.compile(r"^\d+( -?\d+){8}$", re.MULTILINE)
_SECOND = re.compile(r"^(\w+) \((\d+), (\d+)[^)]*\) (.+)$", re.MULTILINE)


_COUNT = "Next: maixmem doctor, which counts the heap"
#: what the last line of an error has -> why there is no snapshot
_WHY = {
    "mem8": f"no uctypes, memorymap or machine.mem8, one of which reads memory. {_COUNT}",
    "'machine'": f"no uctypes, memorymap or machine, one of which reads memory. {_COUNT}",
    "'struct'": f"no struct, which says how long a word is. {_COUNT}",
    "binascii": f"neither sys.stdin.buffer nor binascii, which send bytes. {_COUNT}",
    "heap is locked": "micropython.heap_lock() is on. Next: unlock it, or reset the board",
    "MemoryError": "no room for some 3 KiB on the GC heap. Next: reset the board, then --run and "
    "--after, before its heap is full",
}


@dataclass(frozen=True)
class Board:
    """What a board says of itself. `types`, `main`, `asker`, `modules`: addresses of the type of
    types, of the dicts of __main__, of who asks and of sys.modules; `before`, `after`: bytes in
    use around the collection; `empty`: the word of the name ""; `free`: bytes; `table` is ""
    where it prints none."""

    word: int
    types: int
    main: int
    asker: int
    modules: int
    before: int
    after: int
    empty: int
    interpreter: str
    version: tuple[int, int]
    platform: str
    free: int
    table: str


class NoSnapshot(BoardError):
    """This firmware has not what a snapshot is taken with."""


def code(call: str, *functions: str) -> str:
    """The agent, which runs in a dict of its own: the names of the program stay as they are."""
    text = "\n".join([piece for f in functions for piece in source("snapshot", f)[0]] + [call])
    return f"exec({text!r}, {{'main': id(globals())}})"


_LACKS = re.compile(r"^(ImportError|AttributeError)", re.MULTILINE)
#: ways to read memory and to send bytes, the first that a firmware has is taken
_MEMORY = {"m0": "(0)", "m1": "(0)", "m2": "(0)"}
_CABLE = {"c0": "()", "c1": "()"}


# Owns the raw REPL between begin() and end(). `moved` counts the bytes on the cable, out and in.
class Agent:
    """The board's side of a snapshot."""

    def __init__(self, repl: RawRepl, progress: Callable[[int], None] = lambda n: None) -> None:
        self._repl = repl
        self.progress = progress
        self.sent = self.received = 0
        self._ways: list[str] = []
        self.named = True  #: whether the board gives names

    def begin(self, collect: bool) -> Board:
        """Starts it in the raw REPL."""
        ways = self._chosen()
        text = code(f"answer(main, {int(collect)}, {ways})", "answer", *self._ways)
        self.sent += len(text)
        self._repl.begin(text)
        return self.listen()

    def arm(self, collect: bool, seconds: Sequence[float]) -> bool:
        """Lets it begin by itself after so many seconds from now, and then from the end of the one
        before. False: the board has no such timer."""
        times = [round(1000 * s) for s in seconds]
        call = f"later(main, {int(collect)}, {self._chosen()}, {_STEP}, {times})"
        _, error = self._repl.run(code(call, "later", *self._ways))
        if error and not _NO_TIMER.search(error):
            raise self._refusal(error)
        return not error

    def disarm(self) -> None:
        """Takes back what has not begun. A timer that is due just now reads a part of this code as
        requests and ends: the code is sent once more."""
        cancel = code("cancel()", "cancel")
        try:
            self._repl.check(cancel)
        except BoardError:
            self._repl.enter()
            self._repl.check(cancel)

    def listen(self, silence: float = _SILENCE) -> Board:
        """What it says first, wherever it was started. NoSnapshot: what runs ended without it."""
        said = self._repl.until(_READY, silence, other=b"\x04", limit=silence + _TABLE)
        self._count(len(said))
        text = said.decode(errors="replace").replace("\r\n", "\n")
        if not said.endswith(_READY):
            raise self._failed(of_program=silence > _SILENCE)
        self._count(len(self._repl.until(b"\n", _SILENCE)))
        return board(text, self._repl.url)

    def _chosen(self) -> str:
        """The arguments that name the ways of this firmware."""
        if not self._ways:
            self._ways = [self._first(_MEMORY), self._first(_CABLE)]
            self.named = not self._repl.run(code("n0()", "n0"))[1]
        return ", ".join(self._ways)

    def _first(self, ways: Mapping[str, str]) -> str:
        error = ""
        for name, arguments in ways.items():
            _, error = self._repl.run(code(name + arguments, name))
            if not error:
                return name
            if not _LACKS.search(error):
                break
        raise self._refusal(error)

    def _failed(self, *, of_program: bool = False) -> BoardError:
        """What ended it, where its output has come to its end: the agent's error, or one of the
        program that was to be looked into."""
        error = self._repl.until(b"\x04", _SILENCE).decode(errors="replace")
        self._repl.until(b">", _SILENCE)
        if of_program:
            said = error.strip("\x04\r\n ").splitlines()
            why = f" ({said[-1]})" if said else ""
            return NoSnapshot(f"{self._repl.url}: no snapshot{why}")
        return self._refusal(error)

    def _refusal(self, error: str) -> BoardError:
        last = (error.strip("\x04\r\n ").splitlines() or ["no answer"])[-1]
        why = next((why for words, why in _WHY.items() if words in last), "it failed")
        return NoSnapshot(f"{self._repl.url}: no snapshot: {why} ({last})")

    def read(self, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        """The memory of each range."""
        pieces = [
            (at, min(_PIECE, high - at)) for low, high in ranges for at in range(low, high, _PIECE)
        ]
        answers = self._ask((n, at) for at, n in pieces)
        for low, high in ranges:
            yield b"".join(next(answers) for _ in range(low, high, _PIECE))

    def names(self, words: Iterable[int]) -> Iterator[str]:
        """The names whose words these are."""
        for line in self._ask((0, word) for word in words):
            try:
                yield str(ast.literal_eval(line.decode())[0])
            except (ValueError, SyntaxError, IndexError, TypeError):
                raise BoardError(
                    f"{self._repl.url}: {line[:60]!r} in the middle of an answer: something else "
                    "prints on the board. Next: end timers and threads that print, then again"
                ) from None

    def _ask(self, requests: Iterable[tuple[int, int]]) -> Iterator[bytes]:
        todo, under_way = iter(requests), deque[int]()
        while True:
            new = []
            while len(under_way) < _AT_ONCE:
                request = next(todo, None)
                if request is None:
                    break
                under_way.append(request[0])
                new.append(b"%04x%016x" % request)
            if new:
                self._repl.send(b"".join(new))
                self.sent += 20 * len(new)
            if not under_way:
                return
            n = under_way.popleft()
            if n:
                answer = self._repl.exactly(2 * n if self._hex else n, _SILENCE)
            else:
                answer = self._repl.until(b"\n", _SILENCE, other=b"\x04")
                if answer.endswith(b"\x04"):
                    raise self._failed()
            self._count(len(answer))
            yield bytes.fromhex(answer.decode()) if n and self._hex else answer

    def collect(self) -> None:
        """Frees what the answers so far have left."""
        self._repl.send(_COLLECT)
        self.sent += len(_COLLECT)

    def end(self) -> None:
        """Ends it; the raw REPL answers again where the agent was started in it."""
        self._repl.send(_END)
        self.sent += len(_END)

    @property
    def _hex(self) -> bool:
        return self._ways[1:] == ["c1"]

    def _count(self, n: int) -> None:
        self.received += n
        self.progress(self.received)


def board(text: str, url: str) -> Board:
    """What the agent printed first."""
    *_, first = (None, *_FIRST.finditer(text))  # what a program printed may be before it
    second = _SECOND.search(text, first.end()) if first else None
    if not first or not second:
        raise BoardError(f"{url}: no answer that can be read: {text[:200]!r}. Next: reset it")
    numbers = map(int, first[0].split())
    word, types, main, asker, modules, before, after, empty, free = numbers
    return Board(
        word=word,
        types=types,
        main=main,
        asker=asker,
        modules=modules,
        before=before,
        after=after,
        empty=empty,
        interpreter=second[1],
        version=(int(second[2]), int(second[3])),
        platform=second[4],
        free=free,
        table=text[second.end() :].strip("\x06\r\n "),
    )
