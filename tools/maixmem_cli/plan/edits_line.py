# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Changes of a line or two that keep what the program computes: the other call for a part of a
picture, one camera buffer, the address where a model lies, more stack for threads, a bound for
what is collected."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
import libcst.matchers as m

from maixmem_cli.answer.values import Address
from maixmem_cli.plan.script_tree import Script, parsed
from maixmem_cli.profiler.unbounded import added_to
from maixmem_cli.runs.change import Edit, Values, values_of
from maixmem_cli.text import syntax
from maixmem_cli.text.numbers import MODEL_PLACES

_BYTES = 1000  # of bytes, texts and arrays that get a bound
_LISTS, _DICTS = ("[]", "list()"), ("{}", "dict()")
_TEXTS = ("''", '""', "str()", "b''", 'b""', "bytes()")
_ARRAY = re.compile(r"(array\.)?array\(['\"]\w['\"](, *\[\])?\)")  # an empty one
_STACK = 16384  # bytes: enough for each call that was measured (docs/limits.md)


def cuts(s: Script) -> Iterator[Edit]:
    """A part of a picture by cut(): what copy() gave, pix_to_ai() does not take."""
    if ".pix_to_ai(" not in s.tree.code:
        return
    for call in m.findall(s.tree, m.Call(m.Attribute(attr=m.Name("copy")), [m.Arg()])):
        argument: Any = call.args[0]  # type: ignore[attr-defined]
        if argument.keyword and argument.keyword.value != "roi":
            continue
        func: Any = call.func  # type: ignore[attr-defined]
        box = argument.value
        values: Values = ()
        if isinstance(box, cst.Tuple):
            numbers = ", ".join(s.code(e.value) for e in box.elements)
            values = values_of(box=numbers, edited=s.line_of(call))
            given = [cst.Arg(e.value) for e in box.elements]
        else:
            given = [cst.Arg(box, star="*")]
        new = cst.Call(func.with_changes(attr=cst.Name("cut")), given)
        yield Edit("cut", values, s.replaced(call, new))


def single_buffers(s: Script) -> Iterator[Edit]:
    """The camera with one buffer."""
    for call in m.findall(s.tree, m.Call(m.Attribute(attr=m.Name("reset")))):
        args = call.args  # type: ignore[attr-defined]
        rest = [a for a in args if not (a.keyword and a.keyword.value == "dual_buff")]
        if len(rest) == len(args):
            continue
        if rest:
            rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        new = call.with_changes(args=rest)
        yield Edit("dual_buff", values_of(edited=s.line_of(call)), s.replaced(call, new))


def addresses(s: Script) -> Iterator[Edit]:
    """The address of a model instead of one at which none lies."""
    if not any("load" in name or name.endswith(".add") for name in s.calls(s.tree)):
        return
    numbers = [n for n in m.findall(s.tree, m.Integer()) if _number(n) in MODEL_PLACES]
    named = {_number(n) for n in numbers}
    lies = dict(s.models)
    for address in sorted({_number(n) for n in numbers} - set(lies)):
        for at, path in s.models:
            if at in named:
                continue
            tree: Any = s.tree
            for n in numbers:
                if _number(n) == address:
                    tree = tree.deep_replace(n, cst.Integer(f"{at:#x}"))
            line = next(s.line_of(n) for n in numbers if _number(n) == address)
            values = values_of(
                lies_at=Address(at), address=Address(address), model=path.name, line=line
            )
            yield Edit("address", values, tree.code)


def stacks(s: Script) -> Iterator[Edit]:
    """More stack for the threads that begin, at each place that begins some."""
    starts = m.Call(m.Attribute(m.Name(), m.Name("start_new_thread")))
    instead: dict[Any, Any] = {}
    for line in m.findall(s.tree, m.SimpleStatementLine()):
        for call in m.findall(line, starts):
            func: Any = call.func  # type: ignore[attr-defined]
            more = parsed(f"{func.value.value}.stack_size({_STACK})\n")
            instead.setdefault(line, cst.FlattenSentinel([more, line]))
    if instead:
        values = values_of(stack=_STACK, edited=s.line_of(next(iter(instead))))
        yield Edit("stack", values, _with_lines(s, instead))


def _number(node: cst.CSTNode) -> int:
    assert isinstance(node, cst.Integer)
    return node.evaluated_value


@dataclass(frozen=True)
class _Bound:
    """What bounds the container of a statement: the line behind it, the container's name, how many
    it keeps."""

    statement: Any
    line: cst.SimpleStatementLine
    name: str
    last: int


def bounds(s: Script) -> Iterator[Edit]:
    """Only the last of what a line collects, of each alone, and of all together."""
    made = list(_bounds(s))
    for one in made:
        values = values_of(names=one.name, last=one.last, edited=s.line_of(one.statement))
        yield Edit("bound", values, _with_bounds(s, [one]))
    if len(made) > 1:
        values = values_of(names=tuple(dict.fromkeys(one.name for one in made)))
        yield Edit("bound", values, _with_bounds(s, made))


def _bounds(s: Script) -> Iterator[_Bound]:
    kinds: dict[str, str] = {}
    for assign in m.findall(s.tree, m.Assign([m.AssignTarget(m.Name() | m.Attribute())])):
        target: Any = assign.targets[0].target  # type: ignore[attr-defined]
        kinds.setdefault(s.code(target), s.code(assign.value))  # type: ignore[attr-defined]
    for statement in m.findall(s.tree, m.SimpleStatementLine([m.DoNotCare()])):
        (small,) = statement.body  # type: ignore[attr-defined]
        if name := _collects(s.code(small)):
            line, last = _shorter(name, kinds.get(name, ""), s.last)
            if line:
                yield _Bound(statement, parsed(line), name, last)
        elif isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Subscript):
            where = small.targets[0].target
            name, key = s.code(where.value), s.code(where.slice[0])
            if kinds.get(name, "") in _DICTS and key.isidentifier():
                line = f"{name}.pop({key} - {s.last}, None)\n"
                yield _Bound(statement, parsed(line), name, s.last)


def _collects(code: str) -> str:
    """The name of what a statement adds to at its end; "": it does not."""
    into = next(filter(None, map(added_to, syntax.lines(code).body)), None)
    return ast.unparse(into) if into and ".insert(" not in code else ""


def _shorter(name: str, kind: str, last: int) -> tuple[str, int]:
    """The line that leaves the last of what has that name, and how many; "": of another kind."""
    if kind in _LISTS:
        return f"del {name}[:-{last}]\n", last
    if kind == "bytearray()":
        return f"{name}[:] = {name}[-{_BYTES}:]\n", _BYTES
    sliced = kind in _TEXTS or _ARRAY.fullmatch(kind)
    return (f"{name} = {name}[-{_BYTES}:]\n" if sliced else ""), _BYTES


def _with_bounds(s: Script, made: Sequence[_Bound]) -> str:
    lines = {one.statement: cst.FlattenSentinel([one.statement, one.line]) for one in made}
    return _with_lines(s, lines)


def _with_lines(s: Script, lines: dict[Any, Any]) -> str:
    """The script with these in the place of its statements."""
    changed: Any = s.tree.visit(_Instead(lines))
    return changed.code  # type: ignore[no-any-return]


class _Instead(cst.CSTTransformer):
    def __init__(self, lines: dict[Any, Any]) -> None:
        self._lines = lines

    def leave_SimpleStatementLine(self, original_node: Any, updated_node: Any) -> Any:
        return self._lines.get(original_node, updated_node)
