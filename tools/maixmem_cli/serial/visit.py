# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Questions to a board: functions of on_board/ that are sent and run there; answers are plain
values.

One protocol for all: the board prints a mark and the repr() of what the function returns. Nothing
of a question stays on the board but what keep() put there.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import Any

from maixmem_cli.serial.repl import BoardError, ConnectionLost, RawRepl

_MARK = "@maixmem "
_FOLDER = Path(__file__).parent / "on_board"
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
    code, names = source(file, function)
    call = _SAY.format(f"{function}({', '.join(map(repr, args))})")
    code = f"{code}\ntry:\n    {call}\nfinally:\n    del {names}\n"
    return _answer(board, code, timeout, doing)


def keep(board: RawRepl, file: str) -> None:
    """Defines all of on_board/FILE.py on the board, for ask_kept()."""
    _run(board, source(file)[0], 60)


def ask_kept(board: RawRepl, function: str, timeout: float = 60) -> Any:
    """What a function that keep() defined returns; as short as a question can be."""
    return _answer(board, _SAY.format(f"{function}()") + "\n", timeout)


def drop_kept(board: RawRepl, file: str, timeout: float) -> None:
    """Takes away what keep() defined."""
    board.check(f"del {source(file)[1]}", timeout=timeout)


@functools.lru_cache(maxsize=None)
def source(file: str, function: str | None = None) -> tuple[str, str]:
    """The code of a file without its words, or what one function of it needs; the names it
    defines, with commas. Modules that it imports stay names of the board's prompt."""
    tree = ast.parse((_FOLDER / f"{file}.py").read_text(encoding="utf-8"))
    wanted = _reached(tree, function)
    body = [
        node
        for node in tree.body[1:]
        if wanted is None or not isinstance(node, ast.FunctionDef) or node.name in wanted
    ]
    names: list[str] = []
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
            if ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return "\n".join(ast.unparse(node) for node in body), ", ".join(names)


def _reached(tree: ast.Module, function: str | None) -> set[str] | None:
    """The names of the functions that one calls, itself with them; None: all."""
    if function is None:
        return None
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    found, todo = {function}, [function]
    while todo:
        called = {n.id for n in ast.walk(functions[todo.pop()]) if isinstance(n, ast.Name)}
        new = called & functions.keys() - found
        found |= new
        todo += new
    return found


def _run(board: RawRepl, code: str, timeout: float, doing: str = "") -> str:
    out, error = board.run(code, timeout, limit=timeout)
    if error:
        last = error.strip().splitlines()[-1]
        text = f"{board.url}: {last} (while {doing})" if doing else last
        raise (Missing if last.startswith("ImportError") else BoardError)(text)
    return out


def _answer(board: RawRepl, code: str, timeout: float, doing: str = "") -> Any:
    out = _run(board, code, timeout, doing)
    for line in reversed(out.splitlines()):
        if line.startswith(_MARK):
            try:
                return ast.literal_eval(line[len(_MARK) :])
            except (ValueError, SyntaxError):
                break  # a board that was cut off in its answer
    raise ConnectionLost(f"{board.url}: no answer in {out[-200:]!r}. Next: reset the board.")
