# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Changes of a line or two that keep what the program computes: the other call for a part of a
picture, one camera buffer, the address where a model lies, a bound for what is collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst
import libcst.matchers as m
from maixmem_k210_chip import SPIFFS_START

from maixmem_cli.answer.values import Address
from maixmem_cli.plan.script_tree import Script, parsed
from maixmem_cli.runs.change import Edit, Values, values_of

_FLASH = range(0x10000, SPIFFS_START)  # where models may lie
_KEPT, _BYTES = 10, 1000  # of a list; of bytes and texts
_COLLECTS = ("append", "extend")


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
        yield Edit("cut", values, _spaced(s.replaced(call, new), s.code(new)))


def _spaced(source: str, call: str) -> str:
    """The source with a space behind each comma of a written call."""
    return source.replace(call, call.replace(", ", ",").replace(",", ", "), 1)


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
    numbers = [n for n in m.findall(s.tree, m.Integer()) if _number(n) in _FLASH]
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


def _number(node: cst.CSTNode) -> int:
    assert isinstance(node, cst.Integer)
    return node.evaluated_value


def bounds(s: Script) -> Iterator[Edit]:
    """Only the last of what a line collects."""
    made = [edit for edit in map(s_bound(s), _statements(s)) if edit]
    for node, lines, name, last in made:
        block = cst.FlattenSentinel([node, *lines])
        source = _with_lines(s, {node: block})
        values = values_of(names=name, last=last, edited=s.line_of(node))
        yield Edit("bound", values, source)
    if len(made) > 1:
        every = {node: cst.FlattenSentinel([node, *lines]) for node, lines, _, _ in made}
        names = tuple(name for _, _, name, _ in made)
        yield Edit("bound", values_of(names=names, last=_KEPT), _with_lines(s, every))


def _statements(s: Script) -> list[Any]:
    return [*m.findall(s.tree, m.SimpleStatementLine([m.DoNotCare()]))]


def s_bound(s: Script) -> Any:
    """What bounds the container of a statement: (statement, lines behind it, name, how many)."""
    kinds: dict[str, str] = {}
    for node in s.body:
        for assign in m.findall(node, m.Assign([m.AssignTarget(m.Name())])):
            target: Any = assign.targets[0].target  # type: ignore[attr-defined]
            kinds.setdefault(target.value, s.code(assign.value))  # type: ignore[attr-defined]

    def bound(statement: Any) -> tuple[Any, list[Any], str, int] | None:
        (small,) = statement.body
        call = small.value if isinstance(small, cst.Expr) else None
        func: Any = call.func if isinstance(call, cst.Call) else None
        if isinstance(func, cst.Attribute) and func.attr.value in _COLLECTS:
            name = s.code(func.value)
            kind = kinds.get(name)
            if kind in ("[]", "list()"):
                return statement, [parsed(f"del {name}[:-{_KEPT}]\n")], name, _KEPT
            if kind == "bytearray()":
                return statement, [parsed(f"{name}[:] = {name}[-{_BYTES}:]\n")], name, _BYTES
        if isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Subscript):
            where = small.targets[0].target
            name, key = s.code(where.value), s.code(where.slice[0])
            if kinds.get(name, "") in ("{}", "dict()") and key.isidentifier():
                return statement, [parsed(f"{name}.pop({key} - {_KEPT}, None)\n")], name, _KEPT
        return None

    return bound


class _Behind(cst.CSTTransformer):
    def __init__(self, lines: dict[Any, Any]) -> None:
        self._lines = lines

    def leave_SimpleStatementLine(self, original_node: Any, updated_node: Any) -> Any:
        return self._lines.get(original_node, updated_node)


def _with_lines(s: Script, lines: dict[Any, Any]) -> str:
    changed: Any = s.tree.visit(_Behind(lines))
    return changed.code  # type: ignore[no-any-return]
