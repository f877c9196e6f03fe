# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The syntax tree of a stranger's script, one that can be walked, and marks in its text."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from typing import Any

_DEEPEST = 250  # levels: a script of people has some 20, each elif of a chain is one
_NEWER: dict[type[ast.AST], tuple[str, str]] = {
    ast.JoinedStr: ("f-strings", "'{}'.format(x)"),
    ast.NamedExpr: (":=", "x = f()"),
    ast.AnnAssign: ("x: int", "x = 1"),
}
_TOO_DEEP = "it is nested too deeply to be read here, more than %d levels"


def tree(text: str, deepest: int = _DEEPEST) -> ast.Module:
    """SyntaxError for what is no Python, and for what nests so deeply that to walk it would end
    this process. ValueError: a text with a null byte."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ast.parse(text)
    except (RecursionError, MemoryError):
        raise _too_deep(deepest, 1) from None
    level: list[ast.AST] = [found]
    line = 1
    for _ in range(deepest):
        line = next((n.lineno for n in level if hasattr(n, "lineno")), line)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return found
    raise _too_deep(deepest, line)


def lines(text: str) -> ast.Module:
    """The tree of a text, also of one line that begins a block. Empty where there is none."""
    for tried in (text, text + " pass", "if 1: pass\n" + text + " pass"):
        try:
            return ast.parse(tried)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ast.Module([], [])


def newer(line: str) -> tuple[str, str] | None:
    """What a line has that MicroPython 1.11 does not compile, and what does the same there."""
    kinds = {type(n) for n in ast.walk(lines(line))}
    return next((words for kind, words in _NEWER.items() if kind in kinds), None)


def once(text: str) -> tuple[int, ...]:
    """The lines that are in no loop and no function: each is run once, at most."""
    try:
        inside = [*tree(text).body]
    except (SyntaxError, ValueError):
        return ()
    found: set[int] = set()
    for node in inside:  # grows meanwhile
        again = (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            inside += [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)]
            inside += [n for h in getattr(node, "handlers", ()) for n in h.body]
        elif not isinstance(node, again):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return tuple(sorted(found))


def for_ever(node: ast.AST) -> bool:
    """Whether it is a loop that has no end of its own but a break: `while True`."""
    test = node.test if isinstance(node, ast.While) else None
    return isinstance(test, ast.Constant) and bool(test.value)


def _too_deep(levels: int, line: int) -> SyntaxError:
    error = SyntaxError(_TOO_DEEP % levels)
    error.lineno = line
    return error


def inserted(source: str, marks: Sequence[tuple[Any, ...]]) -> str:
    """The source with each mark, (line, column in bytes, text) or with a rank before its text:
    of those in one place the lowest comes first."""
    lines = [line.encode() for line in source.split("\n")]
    for line, column, *_, text in sorted(marks, reverse=True):
        old = lines[line - 1]
        lines[line - 1] = old[:column] + text.encode() + old[column:]
    return b"\n".join(lines).decode()
