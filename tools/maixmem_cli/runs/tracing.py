# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A script that says which of its lines begins, that a loop goes round, and that it caught an
error: MicroPython has no way to ask for the caller."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from maixmem_cli.profiler.unbounded import added_to
from maixmem_cli.text import syntax

CALL, ROUND, CAUGHT = "_maixmem_at", "_maixmem_round", "_maixmem_caught"
#: arguments that lie where the words of the statement before were, which the interpreter does not
#: clear: what they hold would seem to be kept
_OVER = ",0" * 7
_HEADS = {
    ast.If: "test",
    ast.While: "test",
    ast.For: "iter",
}  # statements that begin with an expression


def marked(source: str) -> str:
    """The script with `_maixmem_at(LINE, ADDS)` before each statement, ADDS 1 where it adds to a
    list or a table, `_maixmem_round(LINE)` before the first of a loop that is in no other loop of
    its function, and `_maixmem_caught()` before the first of a handler, on the same lines.
    SyntaxError as Python has it."""
    tree = syntax.tree(source)
    marks: list[tuple[int, int, str]] = []
    for loop in _outer_loops(tree):
        marks += _marks(_first(loop.body), ROUND, loop.lineno)
    for node in ast.walk(tree):
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


def goes_through(tree: ast.Module) -> Iterator[tuple[int, list[int]]]:
    """(line of a for statement, those of the statements that its body may end with), the inner
    ones first: what it goes through is freed when it is over, which no mark tells from what the
    last statement did."""
    for node in reversed([*ast.walk(tree)]):
        if isinstance(node, ast.For):
            line, ends = node.iter.lineno, [n.lineno for n in _ends(node.body)]
            if line not in ends:
                yield line, ends


def functions(tree: ast.Module) -> Iterator[list[int]]:
    """The lines of the statements that each function may end with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield [n.lineno for n in _ends(node.body)]


def _ends(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The last statement of a body, or those of its own bodies."""
    last = body[-1]
    bodies = [getattr(last, name, []) for name in ("body", "orelse", "finalbody")]
    bodies += [handler.body for handler in getattr(last, "handlers", ())]
    inside = [n for b in bodies if b for n in _ends(b)]
    yield from inside or [last]


def _outer_loops(node: ast.AST) -> Iterator[ast.While | ast.For]:
    """The loops that are in no other one of the same function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.While, ast.For)):
            yield child
            yield from (x for f in _functions(child) for x in _outer_loops(f))
        else:
            yield from _outer_loops(child)


def _functions(node: ast.AST) -> Iterator[ast.AST]:
    """Those that are defined within a statement."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield child
        else:
            yield from _functions(child)


def _first(body: list[ast.stmt]) -> ast.stmt:
    """The first statement that can be marked."""
    for statement in body:
        if isinstance(statement, ast.Try):
            return _first(statement.body)
        if _marks(statement, CALL):
            return statement
    return body[0]


def _marks(statement: ast.AST, call: str, of: int = 0) -> list[tuple[int, int, str]]:
    """[(line, column in bytes, text to insert)] for one statement; `of`: the line that the call
    says, where it is not the statement's."""
    line = statement.lineno  # type: ignore[attr-defined]
    counts = isinstance(statement, ast.AugAssign) and isinstance(statement.value, ast.Constant)
    adds = not counts and bool(added_to(statement))
    if isinstance(statement, ast.With):
        heads = [item.context_expr for item in statement.items]
    elif type(statement) in _HEADS:
        heads = [getattr(statement, _HEADS[type(statement)])]
    elif hasattr(statement, "body") or _is_text(statement):
        return []  # def, class, try; and a docstring, which has to stay the first statement
    else:
        return [(line, statement.col_offset, f"{call}({_said(call, of or line, adds)});")]  # type: ignore[attr-defined]
    found = []
    for head in heads:
        found.append(
            (head.lineno, head.col_offset, f"({call}({_said(call, of or head.lineno)}) or (")
        )
        found.append((head.end_lineno or line, head.end_col_offset or 0, "))"))
    return found


def _said(call: str, line: int, adds: bool = False) -> str:
    """The arguments of that call."""
    return "" if call == CAUGHT else f"{line},{adds:d}{_OVER}" if call == CALL else str(line)


def _is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
