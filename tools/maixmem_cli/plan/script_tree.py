# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A MaixPy script as a tree whose comments and style stay, and what a change of it looks like."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

LOADS = {"KPU.load", "KPU.load_flash"}
GC_HEAPS = (768 << 10, 1 << 20, 1536 << 10, 393216, 262144, 131072, 2 << 20)
LAST = 10  # entries of a list that gets a bound


# A parsed script. `names` are the calls of each line at the top, as "KPU.load", however KPU was
# imported; a loop counts as one line. Of the board: the pictures that the models take, (address,
# file) of each model, (remedy, firmware) of those that could be on it instead, sizes of the GC
# heap, and of how many entries that has room.
class Script:
    def __init__(
        self,
        source: str,
        sizes: Sequence[tuple[int, int]] = (),
        models: Sequence[tuple[int, Path]] = (),
        firmwares: Sequence[tuple[str, str]] = (),
        gc_heaps: Sequence[int] = GC_HEAPS,
        last: int = LAST,
    ) -> None:
        self.tree = cst.parse_module(source)
        self.sizes, self.models, self.firmwares = sizes, models, firmwares
        self.body = list(self.tree.body)
        self.gc_heaps, self.last = gc_heaps, last
        self.alias = {"kpu": "KPU"}
        for node in m.findall(self.tree, m.ImportAlias(asname=m.AsName())):
            assert isinstance(node, cst.ImportAlias) and node.asname
            self.alias[self.code(node.asname.name)] = self.code(node.name)
        self.names = [self.calls(node) for node in self.body]

    def code(self, node: cst.CSTNode) -> str:
        return self.tree.code_for_node(node)

    def calls(self, node: cst.CSTNode) -> list[str]:
        """The names of the calls in a node, in order."""
        found = []
        for call in m.findall(node, m.Call()):
            assert isinstance(call, cst.Call)
            first, dot, rest = self.code(call.func).partition(".")
            found.append(self.alias.get(first, first) + dot + rest)
        return found

    def line(self, i: int) -> int:
        """The number of the line where the i-th statement at the top begins."""
        return self.line_of(self.body[i])

    def line_of(self, node: cst.CSTNode) -> int:
        """The number of the line where a statement of the script begins; of one behind a loop's
        colon, that of the loop."""
        loop = self.body[self.loop] if self.loop is not None else None
        return (self._places.get(node) or self._places[loop]).start.line

    @functools.cached_property
    def _places(self) -> Any:
        wrapper = MetadataWrapper(self.tree, unsafe_skip_copy=True)
        return wrapper.resolve(PositionProvider)

    def with_body(self, body: Sequence[cst.BaseStatement | cst.SimpleStatementLine]) -> str:
        return self.tree.with_changes(body=body).code

    def replaced(self, old: cst.CSTNode, new: cst.CSTNode) -> str:
        """The script with another node."""
        changed = self.tree.deep_replace(old, new)
        assert isinstance(changed, cst.Module)
        return changed.code

    def lines(self, wanted: object) -> list[int]:
        """Places of plain lines at the top that call one of these names or modules."""
        return [
            i
            for i, names in enumerate(self.names)
            if isinstance(self.body[i], cst.SimpleStatementLine)
            and any(named(name, wanted) for name in names)
        ]

    @property
    def loop(self) -> int | None:
        """The place of the last loop at the top."""
        found = [i for i, n in enumerate(self.body) if isinstance(n, (cst.While, cst.For))]
        return found[-1] if found else None

    def rounds(self) -> list[Any]:
        """The lines of that loop, none without one."""
        return [] if self.loop is None else list(self._block().body)

    def _block(self) -> cst.IndentedBlock:
        """What that loop does; what is behind its colon as lines of their own."""
        assert self.loop is not None
        loop: Any = self.body[self.loop]
        if isinstance(loop.body, cst.IndentedBlock):
            return loop.body
        plain = [part.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) for part in loop.body.body]
        return cst.IndentedBlock([cst.SimpleStatementLine([part]) for part in plain])

    def with_loop(self, rows: list[Any], before: Sequence[cst.BaseStatement] = ()) -> str:
        """The script with these lines in that loop, and lines before it."""
        assert self.loop is not None
        loop: Any = self.body[self.loop]
        new = loop.with_changes(body=self._block().with_changes(body=rows))
        return self.with_body([*self.body[: self.loop], *before, new, *self.body[self.loop + 1 :]])

    def nets(self) -> dict[str, int]:
        """{variable: place} of what loads give at the top."""
        found = {}
        for i in self.lines(LOADS):
            name = re.match(r"\s*(\w+)\s*=", self.code(self.body[i]).rpartition("\n\n")[2])
            if name:
                found[name[1]] = i
        return found


def named(name: str, wanted: object) -> bool:
    """Whether a call is of that module, or one of those names; a snapshot is of none."""
    if isinstance(wanted, str):
        return name.startswith(wanted + ".") and not name.endswith(".snapshot")
    return isinstance(wanted, (set, tuple)) and name in wanted


def parsed(text: str) -> cst.SimpleStatementLine:
    """A plain line."""
    statement = cst.parse_statement(text)
    assert isinstance(statement, cst.SimpleStatementLine)
    return statement


def with_head(s: Script, lines: str) -> str:
    """The script with lines before its first statement, behind its docstring and comments."""
    at = 1 if s.tree.get_docstring() is not None else 0
    new = list(cst.parse_module(lines).body)
    return s.with_body([*s.body[:at], *new, *s.body[at:]])
