# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The text of lib/maixmem.pyi: lib/maixmem.py for type checkers and editors, in which each
run_once("part", "function") and resident("part") of the library has the signature of what it
calls. A name that leads nowhere is an error of the build, and of mypy where it is used."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

from maixmem_cli.library import modules, places

_HEAD = '''\
# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Made from lib/maixmem.py and from the calls of run_once() and resident() by `maixmem build`."""
'''
_RESIDENT = """
def resident(name: Literal[{names}]) -> Any: ...
"""
_RUN_ONCE = """
@overload
def run_once(name: Literal["{part}"], function: Literal["{function}"]{parameters}) -> {returns}:
    return maixmem_{part}.{function}({arguments})
"""
_OVERLOADED = ("resident", "run_once")


class StubError(ValueError):
    """A part or a function that is named and does not exist."""


def text() -> str:
    """The stub. StubError where a call names what does not exist."""
    lib = places.lib()
    every = [
        part
        for path in sorted(lib.rglob("*.py"))
        for part in modules.parts(path, ast.parse(path.read_text(encoding="utf-8")))
    ]
    for part in every:
        if not (lib / f"maixmem_{part.name}.py").is_file():
            raise StubError(f"{part.where}: there is no maixmem_{part.name}")
    residents = sorted({part.name for part in every if part.by == "resident"})
    called = {part[:3]: part for part in reversed(every) if part.function}
    checked = [(part, _overload(lib, part)) for _, part in sorted(called.items())]
    kept = [(part, text) for part, text in checked if part.by == "run_once"]
    names = ", ".join(f'"{name}"' for name in residents)
    body = _RESIDENT.format(names=names) + "".join(text for _, text in kept)
    own = _own(lib / "maixmem.py")
    imports = sorted({f"import maixmem_{part.name}" for part, _ in kept})
    head = [_HEAD, "from typing import Any, Literal, overload", "", *imports, ""]
    return "\n".join(head) + own + body


def _own(path: Path) -> str:
    """maixmem.py without what functions do, and without the two that are overloaded."""
    tree = ast.parse(path.read_text(encoding="utf-8"), type_comments=True)
    kept = []
    for node in tree.body[1:]:
        if isinstance(node, ast.FunctionDef) and node.name in _OVERLOADED:
            continue
        kept.append(node)
        if isinstance(node, ast.FunctionDef):
            words = ast.get_docstring(node, clean=False) is not None
            node.body = [*node.body[:words], ast.parse("...").body[0]]
        for inner in ast.walk(node):
            if isinstance(inner, ast.alias):
                inner.asname = inner.name  # else a stub does not hand it on
    return "\n" + "\n".join(map(ast.unparse, kept)) + "\n"


def _overload(lib: Path, call: modules.Part) -> str:
    """run_once() with the signature of what it calls: a function, or a class."""
    module = ast.parse((lib / f"maixmem_{call.name}.py").read_text(encoding="utf-8"))
    names = _names(module, f"maixmem_{call.name}")
    defined = {n.name: n for n in module.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    node = defined.get(call.function)
    if node is None:
        raise StubError(f"{call.where}: maixmem_{call.name} has no {call.function}()")
    returns = f"maixmem_{call.name}.{call.function}"
    skip = 0
    if isinstance(node, ast.ClassDef):
        made = (n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
        node, skip = next(made), 1
    else:
        returns = _typed(node.returns, names)
    return _RUN_ONCE.format(
        part=call.name,
        function=call.function,
        parameters="".join(f", {p}" for p in _parameters(node.args, names, skip)),
        arguments=", ".join(_arguments(node.args, skip)),
        returns=returns,
    )


def _arguments(arguments: ast.arguments, skip: int) -> list[str]:
    """What the stub passes on, so that mypy holds its signature against that of the function."""
    rest = [f"*_{arguments.vararg.arg}"] if arguments.vararg else []
    return [f"_{a.arg}" for a in arguments.args[skip:]] + rest


def _parameters(arguments: ast.arguments, names: dict[str, str], skip: int) -> list[str]:
    """The parameters behind the first `skip`; run_once() passes them by place only."""
    given = arguments.args
    needed = len(given) - len(arguments.defaults)
    shown = [
        f"_{a.arg}: {_typed(a.annotation, names)}{' = ...' if n >= needed else ''}"
        for n, a in enumerate(given)
        if n >= skip
    ]
    if arguments.vararg:
        shown.append(f"*_{arguments.vararg.arg}: {_typed(arguments.vararg.annotation, names)}")
    return shown


def _names(module: ast.Module, name: str) -> dict[str, str]:
    """{name in a module: the same for the stub}: of its classes, and of what it imports of
    maixmem."""
    found = {n.name: f"{name}.{n.name}" for n in module.body if isinstance(n, ast.ClassDef)}
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module == "maixmem":
            found.update({a.asname or a.name: a.name for a in node.names})
    return found


def _typed(annotation: ast.expr | None, names: dict[str, str]) -> str:
    """An annotation as the stub writes it; Any where there is none, or one of another module."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if annotation is None:
        return "Any"
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            if node.id not in names and not hasattr(builtins, node.id):
                return "Any"
            node.id = names.get(node.id, node.id)
    return ast.unparse(annotation)
