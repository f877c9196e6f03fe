# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Whether a loop has no end of its own: `while True`, and whether what grows in it has a bound.
What a run that was cut off cannot tell."""

from __future__ import annotations

import ast

from maixmem_cli.profiler.unbounded import added_to
from maixmem_cli.text.syntax import for_ever


def is_endless(source: str, line: int) -> bool:
    """Whether a line is inside an endless loop; of one in a function, which may be called from
    anywhere, whether the script has such a loop at all."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    around = [n for n in ast.walk(tree) if n is not tree and _has(n, line)]
    if any(isinstance(n, (ast.FunctionDef, ast.Lambda)) for n in around) or not around:
        around = [*ast.walk(tree)]
    return any(map(for_ever, around))


def begins_anew(source: str, line: int) -> bool:
    """Whether a loop or a function of the script gives another value to what a line adds to."""
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    grows = {ast.unparse(to) for n in nodes if _at(n, line) and (to := added_to(n))}
    inside = [n for n in nodes if isinstance(n, (ast.For, ast.While, ast.FunctionDef))]
    given = (n for around in inside for n in ast.walk(around) if isinstance(n, ast.Assign))
    return any(ast.unparse(to) in grows for n in given if not added_to(n) for to in n.targets)


def _at(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) == line


def _has(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", 0) or 0)
