# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A script whose loop over range() goes on: a test of 60 rounds shows what 600 would end in."""

from __future__ import annotations

import ast

_MANY = 1_000_000  # rounds
_UNSEEN = 0.1  # of the rounds: the last ones may have had no look
_ENTRY = 1  # round that is none: its bytecode jumps into the loop, too


def endless(source: str, rounds: int, more: int = _MANY) -> str | None:
    """The same lines, but the loop over range() that had so many rounds, or few more, has `more`;
    None: no loop, or not one alone, is of so many."""
    found = _loops(source, rounds)
    if len(found) != 1:
        return None
    _, call, of = found[0]
    stop = call.args[min(1, len(call.args) - 1)]
    lines = source.split("\n")
    line = lines[stop.lineno - 1].encode()  # columns are of bytes
    far = str(of.start + of.step * more).encode()
    lines[stop.lineno - 1] = (line[: stop.col_offset] + far + line[stop.end_col_offset :]).decode()
    return "\n".join(lines)


def of_rounds(source: str, rounds: int) -> list[int]:
    """The lines of the loops over range() that had so many rounds, or few more."""
    return [loop.lineno for loop, *_ in _loops(source, rounds)]


def over(source: str, rounds: int, line: int) -> bool:
    """Whether such a loop has that line: no rounds follow."""
    return any(
        loop.lineno <= line <= (loop.end_lineno or 0) for loop, *_ in _loops(source, rounds)
    )


def _loops(source: str, rounds: int) -> list[tuple[ast.For, ast.Call, range]]:
    try:
        loops = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.For)]
    except SyntaxError:
        return []
    calls = [(n, n.iter) for n in loops if isinstance(n.iter, ast.Call)]
    ranges = [(n, call, of) for n, call in calls if (of := _range(call))]
    return [x for x in ranges if rounds - _ENTRY <= len(x[2]) <= rounds * (1 + _UNSEEN) + 1]


def _range(call: ast.Call) -> range | None:
    """What range() of numbers gives."""
    if not isinstance(call.func, ast.Name) or call.func.id != "range" or call.keywords:
        return None
    try:
        numbers = [ast.literal_eval(a) for a in call.args]
        return range(*numbers)
    except (ValueError, TypeError):
        return None
