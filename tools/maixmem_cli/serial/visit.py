# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Questions to a board: functions of on_board/ that are sent and run there; answers are plain
values.

One protocol for all: the board prints a mark and the repr() of what the function returns. Nothing
of a question stays on the board but what keep() put there.
"""

from __future__ import annotations

import ast
import contextlib
from typing import Any

from maixmem_cli.serial.question import source
from maixmem_cli.serial.repl import BoardError, ConnectionLost, RawRepl, text_room

_MARK = "@maixmem "
_DROP = "[globals().pop(n, None) for n in {!r}.split(', ')]"
_GC_HEAP_FULL = (
    ". Its GC heap has no room for the question. Next: reset the board, then ask again before its "
    "program runs"
)
_SAY = f"print({_MARK!r} + repr({{}}))"


class Missing(BoardError):
    """A module that the question wants is not on the board."""


def ask(
    board: RawRepl, file: str, function: str, *args: Any, doing: str = "", timeout: float = 60
) -> Any:
    """What function(*args) of on_board/FILE.py returns on the board.

    `timeout` in seconds for the answer; `doing` is for the text of an error. BoardError with the
    board's last line when it raises, Missing for an ImportError, ConnectionLost when there is no
    answer.
    """
    (*pieces, last), names = source(file, function)
    call = _SAY.format(f"{function}({', '.join(map(repr, args))})")
    try:
        for code in pieces:
            _run_text(board, code, timeout, doing)
        code = f"{last}\ntry:\n    {call}\nfinally:\n    del {names}\n"
        return _answer(board, _run_text(board, code, timeout, doing))
    except ConnectionLost:
        raise
    except BoardError:
        if pieces:
            with contextlib.suppress(BoardError):
                _run_text(board, _DROP.format(names), timeout)
        raise


def keep(board: RawRepl, file: str) -> None:
    """Defines all of on_board/FILE.py on the board, for ask_kept()."""
    for code in source(file)[0]:
        _run_text(board, code, 60)


def ask_kept(board: RawRepl, function: str, timeout: float = 60) -> Any:
    """What a function that keep() defined returns; as short as a question can be."""
    return _answer(board, _run(board, _SAY.format(f"{function}()") + "\n", timeout))


def drop_kept(board: RawRepl, file: str, timeout: float) -> None:
    """Takes away what keep() defined."""
    board.check(f"del {source(file)[1]}", timeout=timeout)


def _run_text(board: RawRepl, code: str, timeout: float, doing: str = "") -> str:
    """_run() where the board's GC heap has room for so long a text."""
    _run(board, text_room(len(code)), timeout, doing)
    return _run(board, code, timeout, doing)


def _run(board: RawRepl, code: str, timeout: float, doing: str = "") -> str:
    out, error = board.run(code, timeout, limit=timeout)
    if error:
        last = error.strip().splitlines()[-1]
        text = f"{board.url}: {last} (while {doing})" if doing else last
        if last.startswith("MemoryError"):
            text += _GC_HEAP_FULL
        raise (Missing if last.startswith("ImportError") else BoardError)(text)
    return out


def _answer(board: RawRepl, out: str) -> Any:
    """The value in the output of a question."""
    for line in reversed(out.splitlines()):
        if line.startswith(_MARK):
            try:
                return ast.literal_eval(line[len(_MARK) :])
            except (ValueError, SyntaxError):
                break  # a board that was cut off in its answer
    raise ConnectionLost(f"{board.url}: no answer in {out[-200:]!r}. Next: reset the board.")
