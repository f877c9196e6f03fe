# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The code of a question to a board: a function of on_board/ with what it calls there and in the
library, where it is not the board's own that is queried."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from pathlib import Path

_FOLDER = Path(__file__).parent / "on_board"
_DEFINED = (ast.FunctionDef, ast.ClassDef)
_PIECE = 1500  # bytes; a board keeps a text in one block, twice while it grows


@functools.lru_cache(maxsize=None)
def source(file: str, function: str | None = None) -> tuple[list[str], str]:
    """The code of a file without its words, or what one function of it needs, in the pieces in
    which it is sent; the names it defines, with commas. Modules that it imports stay names of the
    board's prompt. What its head imports from a module of the library goes along: the board need
    not have or read its own."""
    body: list[ast.stmt] = []
    for node in ast.parse((_FOLDER / f"{file}.py").read_text(encoding="utf-8")).body[1:]:
        ours = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("maixmem")
        body += _of_library(node) if ours else [node]  # type: ignore[arg-type]
    if function is not None:
        wanted = _reached(body, function)
        body = [n for n in body if not isinstance(n, _DEFINED) or n.name in wanted]
    names: list[str] = []
    for node in body:
        _drop_words(node)
        if isinstance(node, _DEFINED):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return _pieces(body), ", ".join(names)


def _pieces(body: list[ast.stmt]) -> list[str]:
    """The code of these, as few texts as their length allows."""
    pieces: list[str] = []
    for code in map(ast.unparse, body):
        if pieces and len(pieces[-1]) + len(code) < _PIECE:
            pieces[-1] += "\n" + code
        else:
            pieces.append(code)
    return pieces


def _of_library(node: ast.ImportFrom) -> list[ast.stmt]:
    """What a module of the library defines and imports whole, with its constants (numbers, texts)
    in place; and of those the ones that are requested by name."""
    module = importlib.import_module(node.module or "")
    values = {
        name: n
        for name, n in vars(module).items()
        if type(n) is int or (type(n) is str and name.isupper())
    }
    tree = _Constants(values).visit(ast.parse(inspect.getsource(module)))
    wanted = [a.name for a in node.names if a.name in values]
    constants = ast.parse("\n".join(f"{name} = {values[name]!r}" for name in wanted)).body
    return [n for n in tree.body if isinstance(n, (ast.Import, *_DEFINED))] + constants


class _Constants(ast.NodeTransformer):
    """Puts values in the place of their names: two modules may have one name for two."""

    def __init__(self, values: dict[str, int | str]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = isinstance(node.ctx, ast.Load) and node.id in self._values
        return ast.Constant(self._values[node.id]) if known else node


def _reached(body: list[ast.stmt], function: str) -> set[str]:
    """The names of the functions and classes that one uses, itself with them."""
    defined = {n.name: n for n in body if isinstance(n, _DEFINED)}
    found, todo = {function}, [function]
    while todo:
        used = {n.id for n in ast.walk(defined[todo.pop()]) if isinstance(n, ast.Name)}
        new = used & defined.keys() - found
        found |= new
        todo += new
    return found


def _drop_words(node: ast.stmt) -> None:
    for inner in ast.walk(node):
        if isinstance(inner, _DEFINED) and ast.get_docstring(inner, clean=False) is not None:
            inner.body[:1] = [] if inner.body[1:] else [ast.Pass()]
