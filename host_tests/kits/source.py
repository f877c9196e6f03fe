# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Our Python read as data: what it imports, and the numbers in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, in functions and for types as well; "module.name" for a name
    that may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def number(node: ast.expr | None) -> int | None:
    """The number that an expression of numbers is, const(...) included; None for others."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "const":
        node = node.args[0]
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        left, right = number(node.left), number(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.LShift) and left != 1:  # 1 << n is a bound, no figure
            return left << right
        if isinstance(node.op, ast.Mult):
            return left * right
    return None
