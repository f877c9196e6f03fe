# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A script that says which of its lines begins, and that it caught an error: MicroPython has no
way to ask for the caller."""

from __future__ import annotations

import ast

from maixmem_cli.text import syntax

CALL, CAUGHT = "_maixmem_at", "_maixmem_caught"
_HEADS = {
    ast.If: "test",
    ast.While: "test",
    ast.For: "iter",
}  # statements that begin with an expression


def marked(source: str) -> str:
    """The script with `_maixmem_at(LINE)` before each statement, and `_maixmem_caught()` before
    the first of a handler, on the same lines. SyntaxError as Python has it."""
    marks: list[tuple[int, int, str]] = []
    for node in ast.walk(syntax.tree(source)):
        for body in ("body", "orelse", "finalbody"):
            for statement in (
                getattr(node, body, None) or ()
                if isinstance(getattr(node, body, None), list)
                else ()
            ):
                marks += _marks(statement, CALL)
        if isinstance(node, ast.ExceptHandler):
            marks += _marks(node.body[0], CAUGHT)
    return syntax.inserted(source, marks)


def _marks(statement: ast.AST, call: str) -> list[tuple[int, int, str]]:
    """[(line, column in bytes, text to insert)] for one statement."""
    line = statement.lineno  # type: ignore[attr-defined]
    if isinstance(statement, ast.With):
        heads = [item.context_expr for item in statement.items]
    elif type(statement) in _HEADS:
        heads = [getattr(statement, _HEADS[type(statement)])]
    elif hasattr(statement, "body") or _is_text(statement):
        return []  # def, class, try; and a docstring, which has to stay the first statement
    else:
        return [(line, statement.col_offset, f"{call}({_said(call, line)});")]  # type: ignore[attr-defined]
    found = []
    for head in heads:
        found.append((head.lineno, head.col_offset, f"({call}({_said(call, head.lineno)}) or ("))
        found.append((head.end_lineno or line, head.end_col_offset or 0, "))"))
    return found


def _said(call: str, line: int) -> str:
    """The argument of that call."""
    return str(line) if call == CALL else ""


def _is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
