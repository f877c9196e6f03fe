# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A conversation with on_board/snapshot.py over a raw REPL: the table of blocks, then memory and
names, several requests under way at a time."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Callable

from maixmem_cli.serial.question import source
from maixmem_cli.serial.repl import BoardError, RawRepl

_READY = b"GO!"
_END = b"ffff" + b"0" * 16
_AT_ONCE = 8  # requests of 20 bytes: less than the buffer of a UART
_PIECE = 4096  # bytes of an answer
_SILENCE = 30.0  # seconds
_FIRST = re.compile(r"^\d+( -?\d+){7}$", re.MULTILINE)
_SECOND = re.compile(r"^(\w+) \((\d+), (\d+)[^)]*\) (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Board:
    """What a board says of itself. `types`, `main`, `asker`, `modules`: addresses of the type of
    types, of the dicts of __main__, of who asks and of sys.modules; `before`, `after`: bytes in
    use around the collection; `empty`: the word of the name ""."""

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
    table: str


class NoSnapshot(BoardError):
    """This firmware has not what a snapshot is taken with."""


def code(collect: bool) -> str:
    """The agent, which runs in a dict of its own: the names of the program stay as they are."""
    text = "\n".join(source("snapshot")[0]) + f"\nf(main, {int(collect)})"
    return f"exec({text!r}, {{'main': id(globals())}})"


# Owns the raw REPL between begin() and end(). `moved` counts the bytes on the cable, out and in.
class Agent:
    """The board's side of a snapshot."""

    def __init__(self, repl: RawRepl, progress: Callable[[int], None] = lambda n: None) -> None:
        self._repl = repl
        self._progress = progress
        self.sent = self.received = 0

    def begin(self, collect: bool) -> Board:
        """Starts it in the raw REPL."""
        text = code(collect)
        self.sent += len(text)
        self._repl.begin(text)
        return self.listen()

    def listen(self) -> Board:
        """What it says first, wherever it was started."""
        said = self._repl.until(_READY, _SILENCE, other=b"\x04")
        self._count(len(said))
        text = said.decode(errors="replace").replace("\r\n", "\n")
        if not said.endswith(_READY):
            error = self._repl.until(b"\x04", _SILENCE).decode(errors="replace")
            self._repl.until(b">", _SILENCE)
            raise self._refusal(error)
        self._count(len(self._repl.until(b"\n", _SILENCE)))
        return board(text, self._repl.url)

    def _refusal(self, error: str) -> BoardError:
        last = (error.strip("\x04\r\n ").splitlines() or ["no answer"])[-1]
        return NoSnapshot(f"{self._repl.url}: no snapshot: {last}")

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
                answer = self._repl.exactly(n, _SILENCE)
            else:
                answer = self._repl.until(b"\n", _SILENCE)
            self._count(len(answer))
            yield answer

    def end(self) -> None:
        """Ends it; the raw REPL answers again where the agent was started in it."""
        self._repl.send(_END)
        self.sent += len(_END)

    def _count(self, n: int) -> None:
        self.received += n
        self._progress(self.received)


def board(text: str, url: str) -> Board:
    """What the agent printed first."""
    first, second = _FIRST.search(text), _SECOND.search(text)
    if not first or not second:
        raise BoardError(f"{url}: no answer that can be read: {text[:200]!r}. Next: reset it")
    word, types, main, asker, modules, before, after, empty = map(int, first[0].split())
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
        table=text[second.end() :],
    )
