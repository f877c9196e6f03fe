# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a running script asks of this process over two pipes: how MaixPy takes a text that it is
about to run. Nothing of it is trusted but that it is a text."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

_LONGEST = 1 << 20  # bytes of a text
_HEAD = 11  # bytes of a head: a letter and a number
_PIECE = 1 << 16
SAME, REFUSED, TEXT = b"=", b"!", b"T"
READY = b"P"


# Contract. Owns four ends of pipes; `of_child` are the numbers of two, which the child has too.
# serve() never waits for the child longer than it was told to.
class Asks:
    """The text that comes in is given to `answer`; what that gives goes back: SAME where it is the
    text itself, REFUSED where it begins with "!", else TEXT, each with its length."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self.on_ready: Callable[[], None] = lambda: None  #: it has started what it needs
        self._in, asks = os.pipe()
        answers, self._out = os.pipe()
        self.of_child = (asks, answers)
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._asked, self._to_say = bytearray(), bytearray()
        self._open = {self._in, self._out, asks, answers}

    def __enter__(self) -> Asks:
        return self

    def __exit__(self, *error: object) -> None:
        for number in self._open:
            os.close(number)
        self._open.clear()

    def serve(self, seconds: float) -> None:
        """Waits so long at most; less when the child has a question."""
        reads = [self._in] if self._in in self._open else []
        writes = [self._out] if self._to_say and self._out in self._open else []
        if not reads:
            time.sleep(seconds)
            return
        can_read, can_write, _ = select.select(reads, writes, [], seconds)
        if can_read:
            self._hear()
        if self._to_say and (can_read or can_write):
            self._say()

    def _hear(self) -> None:
        data = os.read(self._in, _PIECE)
        self._asked += data
        if not data or len(self._asked) > _LONGEST + _HEAD or not self._question():
            self._open.discard(self._in)  # it ended, or talks nonsense: no more is heard
            os.close(self._in)

    def _question(self) -> bool:
        """Answers a question that arrived in full; False where it is no question."""
        while len(self._asked) >= _HEAD:
            try:
                n = int(bytes(self._asked[1:_HEAD]))
            except ValueError:
                return False
            if not 0 <= n <= _LONGEST:
                return False
            if len(self._asked) < _HEAD + n:
                break
            if self._asked[:1] == READY:
                self.on_ready()
            text = bytes(self._asked[_HEAD : _HEAD + n])
            del self._asked[: _HEAD + n]
            told = self._answer(text)
            kind = SAME if told == text else REFUSED if told[:1] == REFUSED else TEXT
            told = told[1:] if kind == REFUSED else b"" if kind == SAME else told
            self._to_say += kind + b"%10d" % len(told) + told
        return True

    def _say(self) -> None:
        try:
            done = os.write(self._out, self._to_say[:_PIECE])
        except BlockingIOError:
            return
        except OSError:  # it is gone
            done = len(self._to_say)
        del self._to_say[:done]
