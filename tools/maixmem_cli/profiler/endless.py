# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A script whose loop over range() goes on: a test of 60 rounds shows what 600 would end in.

Either its source gets another number and is run anew, or, while it runs, its bytecode gets another
condition. Source: py/compile.c, compile_for_stmt_optimised_range(), and py/bc0.h of MicroPython
1.11; 1.9.4 has the same.
"""

from __future__ import annotations

import ast
import re

_MANY = 1_000_000  # rounds
_UNSEEN = 0.1  # of the rounds: the last ones may have had no look
_MINUS_ONE, _MORE = b"\x7f", b"\xd8"  # the opcode of a small number, and of `>`
# `if var < number`: the value twice, the number (an opcode, or bytes of seven bits), `<`, a jump
_CONDITION = re.compile(
    rb"\x30(?:(?P<small>[\x70-\xaf])|\x14(?P<bytes>[\x80-\xff]*[\x00-\x7f]))\xd7\x36\Z", re.DOTALL
)
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


def lengths(source: str) -> set[int]:
    """The rounds of each loop over range()."""
    return {len(of) for *_, of in _all(source)}


def without_end(bytecode: bytes) -> bytes | None:
    """The end of the bytecode up to a loop's jump, so that it goes on for ever: of `var < number`
    becomes `var > -1`. None: the loop is not over range() of whole numbers that rise."""
    found = _CONDITION.search(bytecode)
    if not found:
        return None
    number = found["bytes"]
    always = _MINUS_ONE if number is None else b"\xff" * (len(number) - 1) + b"\x7f"
    return always + _MORE + bytecode[-1:]


def of_rounds(source: str, rounds: int) -> list[int]:
    """The lines of the loops over range() that had so many rounds, or few more."""
    return [loop.lineno for loop, *_ in _loops(source, rounds)]


def over(source: str, rounds: int, line: int) -> bool:
    """Whether such a loop has that line: no rounds follow."""
    return any(
        loop.lineno <= line <= (loop.end_lineno or 0) for loop, *_ in _loops(source, rounds)
    )


def _loops(source: str, rounds: int) -> list[tuple[ast.For, ast.Call, range]]:
    return [x for x in _all(source) if rounds - _ENTRY <= len(x[2]) <= rounds * (1 + _UNSEEN) + 1]


def _all(source: str) -> list[tuple[ast.For, ast.Call, range]]:
    try:
        loops = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.For)]
    except SyntaxError:
        return []
    calls = [(n, n.iter) for n in loops if isinstance(n.iter, ast.Call)]
    return [(n, call, of) for n, call in calls if (of := _range(call))]


def _range(call: ast.Call) -> range | None:
    """What range() of numbers gives."""
    if not isinstance(call.func, ast.Name) or call.func.id != "range" or call.keywords:
        return None
    try:
        numbers = [ast.literal_eval(a) for a in call.args]
        return range(*numbers)
    except (ValueError, TypeError):
        return None
