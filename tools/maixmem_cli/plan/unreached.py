# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a script may take where this run did not come to, and another picture or input may: a
branch that was not taken, a function that was not called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from maixmem_cli.plan.program.made import Made, Makers
from maixmem_cli.profiler.unbounded import ADDS, added_to
from maixmem_cli.record import record
from maixmem_cli.record.record import GC, HEAP, Record
from maixmem_cli.runs.loads import candidates
from maixmem_cli.runs.standin_record import WITHIN
from maixmem_cli.text import syntax

_OTHERS = (ast.For, ast.While, ast.FunctionDef, ast.Lambda)  # a break in these is not the loop's
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)


@dataclass(frozen=True)
class Want:
    """At a line: so many bytes of a heap, with what its branch keeps of it before, 0 where that is
    not known; `more` each time that a run comes to it, where nothing takes them out of their list
    again."""

    line: int
    heap: str
    nbytes: int
    more: bool = False


def too_much(of: Record, source: str) -> Want | None:
    """The first line that did not run and may take more than was left at the least."""
    try:
        tree = syntax.tree(source)
    except (SyntaxError, ValueError):
        return None
    if of.reached is None:
        return None
    left = {x.heap: x.level.free for x in of.least}
    if of.board.on == record.STAND_IN and GC in left:
        left[GC] -= WITHIN
    wants = _Walk(tree, frozenset(of.reached), _Costs(of, tree, source)).wants()
    return next((w for w in wants if w.more or w.nbytes > left.get(w.heap, w.nbytes)), None)


class _Costs:
    """Bytes of each heap that statements take."""

    def __init__(self, of: Record, tree: ast.Module, source: str) -> None:
        sizes = [s.size for s in of.steps if s.kind in (record.CAMERA, record.WINDOW)]
        gray = ".GRAYSCALE" in source and ".RGB565" not in source
        self._makers = Makers(tree, sizes[-1] if sizes else None, "gray" if gray else "rgb565")
        flash = {int(address, 0): Path(file) for address, file in of.board.flash.items()}
        card = {path: Path(file) for path, file in (of.board.card or {}).items()}
        self._models: dict[int | str, int] = {}
        for c in candidates(flash, card):
            place = c.model.path if c.model.address is None else c.model.address
            self._models.setdefault(place or "", c.peak)
        self._loaded = max((s.model.keeps or 0 for s in of.of(record.LOAD) if s.model), default=0)

    def of(self, node: ast.AST) -> list[Made]:
        return [*self._makers.of(node)]

    def gives_back(self, node: ast.AST) -> int:
        """Bytes of the system heap: of the largest model that was loaded."""
        freed = (n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == "deinit")
        return self._loaded if any(freed) else 0

    def model(self, place: int | str | None) -> int:
        """What must be free for it; 0: this board does not have it."""
        return self._models.get(place, 0) if place is not None else 0


# The statements of a script in their order, but those that no run comes to: behind an endless
# loop, in a function that nobody names. An error that was not caught may never come, either.
class _Walk:
    def __init__(self, tree: ast.Module, reached: frozenset[int], costs: _Costs) -> None:
        self._tree, self._reached, self._costs = tree, reached, costs
        self._kept = {GC: 0, HEAP: 0}  # by what did not run, up to here
        self._loop: ast.stmt | None = None  # the endless one around, which nothing here leaves

    def wants(self) -> Iterator[Want]:
        """What each statement takes that did not run."""
        yield from self._block(self._tree.body)
        for function in self._called():
            self._kept = {GC: 0, HEAP: 0}
            yield from self._block(function.body)

    def _ran(self, node: ast.stmt) -> bool:
        """Whether it did, or a part of it."""
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        return not self._reached.isdisjoint(lines)

    def _block(self, block: Sequence[ast.stmt]) -> Iterator[Want]:
        outer = self._loop
        if any(isinstance(n, _LEAVES) and not isinstance(n, ast.Continue) for n in block):
            self._loop = None
        for node in block:
            if self._ran(node):
                self._kept = {GC: 0, HEAP: 0}
            endless = syntax.for_ever(node) and not _breaks([*ast.iter_child_nodes(node)])
            inside, self._loop = self._loop, node if endless else self._loop
            yield from self._statement(node)
            self._loop = inside
            if endless or isinstance(node, _LEAVES):
                break
        self._loop = outer

    def _statement(self, node: ast.stmt) -> Iterator[Want]:
        if isinstance(node, ast.FunctionDef):
            return
        bodies = [b for b in _bodies(node) if b]
        if not self._ran(node):
            for head in [node] if not bodies else _heads(node):
                yield from self._takes(node, head)
        before, most = dict(self._kept), dict(self._kept)
        for body in bodies:
            if isinstance(node, ast.If):  # one of them
                self._kept = dict(before)
            yield from self._block(body)
            most = {heap: max(n, self._kept[heap]) for heap, n in most.items()}
        self._kept = most if isinstance(node, ast.If) else self._kept
        for handler in getattr(node, "handlers", ()):
            if any(self._ran(n) for n in handler.body):
                yield from self._block(handler.body)

    def _takes(self, node: ast.stmt, head: ast.AST) -> Iterator[Want]:
        self._kept[HEAP] -= self._costs.gives_back(head)
        kept, taken = dict(self._kept), dict(self._kept)
        costs = self._costs.of(head)
        if not costs and isinstance(node, ast.Expr) and self._adds_for_ever(node):
            yield Want(node.lineno, GC, 0, more=True)
        for made in costs:
            heap = HEAP if made.loads else GC
            n = self._costs.model(made.model) if made.loads else made.nbytes
            taken[heap] += n
            if made.loads or made.stays or _keeps(node):
                kept[heap] += n
            more = heap == GC and self._adds_for_ever(node)
            yield Want(made.call.lineno, heap, taken[heap], more)
        self._kept = kept

    def _adds_for_ever(self, node: ast.stmt) -> bool:
        return self._loop is not None and _only_grows(node, self._loop, self._tree)

    def _called(self) -> Iterator[ast.FunctionDef]:
        """The functions that a run may come to: those that ran, and those that they or the rest of
        the script name."""
        functions = [n for n in ast.walk(self._tree) if isinstance(n, ast.FunctionDef)]
        names = _names(self._tree.body)
        while True:
            live = [f for f in functions if f.name in names or _is_special(f) or self._ran_in(f)]
            if not live:
                return
            functions = [f for f in functions if f not in live]
            for f in live:
                names |= _names(f.body)
            yield from live

    def _ran_in(self, function: ast.FunctionDef) -> bool:
        return any(self._ran(n) for n in function.body)


def _bodies(node: ast.stmt) -> list[list[ast.stmt]]:
    return [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]


def _heads(node: ast.stmt) -> Iterator[ast.AST]:
    """What a statement with a body begins with."""
    return (n for n in ast.iter_child_nodes(node) if isinstance(n, (ast.expr, ast.withitem)))


def _keeps(node: ast.stmt) -> bool:
    """Whether the results of a statement are held by something afterwards."""
    return not isinstance(node, ast.Expr) or added_to(node) is not None


def _only_grows(node: ast.stmt, loop: ast.stmt, tree: ast.Module) -> bool:
    """Whether a statement adds to a list that nothing limits: no method that takes out of it and
    no len() anywhere, and nothing in the loop that stores into it or deletes of it."""
    into = added_to(node)
    if into is None:
        return False
    name = ast.unparse(into)
    limits = [*map(_called_of, ast.walk(tree)), *map(_stored_in, ast.walk(loop))]
    return all(of is None or ast.unparse(of) != name for of in limits)


def _called_of(node: ast.AST) -> ast.expr | None:
    """What a call may take out of, or asks the length of."""
    if not isinstance(node, ast.Call):
        return None
    of = node.func
    if isinstance(of, ast.Attribute) and of.attr not in ADDS:
        return of.value
    is_len = isinstance(of, ast.Name) and of.id == "len"
    return node.args[0] if is_len and node.args else None


def _stored_in(node: ast.AST) -> ast.AST | None:
    """What an expression makes anew, stores into or deletes of."""
    if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return None
    return node.value if isinstance(node, ast.Subscript) else node


def _breaks(block: Sequence[ast.AST]) -> bool:
    return any(
        isinstance(n, ast.Break)
        or (not isinstance(n, _OTHERS) and _breaks([*ast.iter_child_nodes(n)]))
        for n in block
    )


def _is_special(function: ast.FunctionDef) -> bool:
    return function.name.startswith("__")


def _names(block: Sequence[ast.AST]) -> set[str]:
    """What is named in a block, but for the insides of functions."""
    found: set[str] = set()
    for n in block:
        if isinstance(n, ast.FunctionDef):
            found |= _names(n.decorator_list)
            continue
        found |= {str(getattr(n, "id", "")), str(getattr(n, "attr", ""))}
        found |= _names([*ast.iter_child_nodes(n)])
    return found
