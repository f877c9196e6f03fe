# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Whether a loop has no end of its own: `while True`. What a run that was cut off cannot tell."""

from __future__ import annotations

import ast

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


def _has(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", 0) or 0)
