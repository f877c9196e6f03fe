# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Growth whose text shows that it has no bound: each round of a loop without an end adds to an
object, on no condition, and nothing in the script makes that less. Where the text shows less than
that, a run has to tell.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Union

from maixmem_cli.text.syntax import for_ever

ADDS = {"append", "extend", "insert"}  # methods of what grows
_READS = {"len", "print", "sum", "min", "max"}  # functions that keep nothing of what they get
_NUMBERS = {"len", "int", "float", "ord", "abs", "sum"}  # functions that give one
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Try, ast.Yield, ast.YieldFrom)
_TYPES = {"bool", "bytearray", "bytes", "dict", "float", "int", "list", "str", "tuple"}
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension)
_GROW = {*_TYPES, "array"}  # a deque has its length, and a class its own rules
_NOT_ALWAYS = (ast.BoolOp, ast.IfExp, ast.Lambda, *_COMPREHENSIONS)
_WHOLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return)  # statements that are always done
_Body = Union[ast.While, ast.For, ast.FunctionDef]


def unbounded(source: str, loop: int, lines: Collection[int], ever: Collection[int] = ()) -> bool:
    """Whether all of these lines add so, in the loop that the line `loop` is of. `ever`: lines of
    loops over range() that are taken for ones without an end."""
    try:
        script = _Script(ast.parse(source), ever)
    except SyntaxError:
        return False
    return bool(lines) and all(script.adds_for_ever(line, loop) for line in lines)


def numbers(source: str, most: int) -> set[int]:
    """0 and the whole numbers up to `most` that a script has; `most` where it computes one of
    others."""
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except SyntaxError:
        return {most}
    found = {n for n in map(_whole, nodes) if n}
    sums = (n for n in nodes if isinstance(n, ast.BinOp) and not isinstance(n.op, ast.Mod))
    computed = any(
        isinstance(n.left, ast.Constant) and isinstance(n.right, ast.Constant) for n in sums
    )
    return {0, *(n for n in found if n <= most), *([most] if computed else [])}


def keys(source: str, most: int) -> int:
    """The largest number up to `most` whose remainders a script uses: each of so many keys may
    have a bound of its own. 1: none."""
    nodes = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.BinOp))
    of = {_whole(n.right) for n in nodes if isinstance(n.op, ast.Mod)}
    return max({1, *(n for n in of if n <= most)})


def _whole(node: ast.AST) -> int:
    """A number above 0; else 0."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return max(0, node.value)
    return 0


def added_to(statement: ast.AST) -> ast.AST | None:
    """What a statement adds to: x.append(), x += y, x = x + y."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        of = statement.value.func
        return of.value if isinstance(of, ast.Attribute) and of.attr in ADDS else None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return statement.target
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        added, to = statement.value, statement.targets[0]
        same = isinstance(added.op, ast.Add) and _name(added.left) == _name(to) != ""
        return to if same else None
    return None


def makes_larger(source: str) -> bool:
    """Whether a script may make one object larger by its bytes: x += y, x = x + y + z,
    x.extend(y); not by a number that is written there, nor by a length."""
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except SyntaxError:
        return False
    return any(not _is_number(more) for n in nodes for more in _more(n))


def _more(node: ast.AST) -> Iterator[ast.expr]:
    """What a node adds to an object."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield node.value
    if isinstance(node, ast.Call) and _name(node.func) == "extend":
        yield from node.args
    if isinstance(node, ast.Assign):
        value = node.value
        while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            if _name(value.left) == _name(node.targets[0]) != "":
                yield value.right
            value = value.left


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return _name(value.func) in _NUMBERS
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))


class _Script:
    def __init__(self, tree: ast.Module, ever: Collection[int]) -> None:
        self._ever = ever
        self._all = [*ast.walk(tree)]
        self._above = {child: n for n in self._all for child in ast.iter_child_nodes(n)}

    def adds_for_ever(self, line: int, loop: int) -> bool:
        """Whether each round of the loop comes to that line, which adds to what is never less, or
        makes what another one adds."""
        statements = [n for n in self._all if isinstance(n, ast.stmt) and n.lineno == line]
        adds = self._that_adds(statements[-1]) if statements else None
        grows = added_to(adds) if adds else None
        name = _name(grows)
        return (
            adds is not None
            and bool(name)
            and not any(n.arg == name for n in self._all if isinstance(n, ast.arg))
            and self._each_round(adds, loop, ())
            and all(n is grows or self._adds_or_reads(n) for n in self._all if _name(n) == name)
        )

    def _that_adds(self, statement: ast.stmt) -> ast.stmt | None:
        """The statement itself, or of `x = a + b` the one in the same block that adds x."""
        made = _made(statement)
        if not made:
            return statement
        after = (
            n for n in ast.iter_child_nodes(self._above[statement]) if isinstance(n, ast.stmt)
        )
        adding = (n for n in after if n.lineno > statement.lineno and added_to(n))
        return next((n for n in adding if any(_name(x) == made for x in ast.walk(n))), None)

    def _each_round(self, statement: ast.AST, loop: int, of: tuple[str, ...]) -> bool:
        body = self._above[statement]
        if not isinstance(body, (ast.While, ast.For, ast.FunctionDef)) or _leaves_early(body):
            return False
        if not isinstance(body, ast.FunctionDef):
            return self._ends_never(body) and body.lineno <= loop <= (body.end_lineno or 0)
        if body.name in of:
            return False
        calls = (n for n in self._all if isinstance(n, ast.Call) and _name(n.func) == body.name)
        alone = sum(n.name == body.name for n in self._all if isinstance(n, ast.FunctionDef)) == 1
        lines = (self._always(call) for call in calls if alone)
        return any(self._each_round(n, loop, (*of, body.name)) for n in lines if n)

    def _always(self, call: ast.AST) -> ast.AST | None:
        """The statement that a call is a part of, each time; None: on a condition, or none."""
        at = call
        while not isinstance(at, (*_NOT_ALWAYS, ast.stmt)):
            at = self._above[at]
        return at if isinstance(at, _WHOLE) else None

    def _ends_never(self, loop: ast.While | ast.For) -> bool:
        if isinstance(loop, ast.For):
            return loop.lineno in self._ever
        return for_ever(loop)

    def _adds_or_reads(self, use: ast.AST) -> bool:
        """Or it is the first value, at the script's own level, or of an object made there."""
        above = self._above[use]
        if isinstance(above, ast.Attribute):
            return above.attr in ADDS
        if isinstance(above, ast.Call):
            return use is not above.func and _name(above.func) in _READS
        if isinstance(above, ast.BinOp):  # x of x = x + y
            return _name(added_to(self._above[above])) == _name(use)
        if isinstance(above, ast.Assign) and added_to(above) is None:
            begins = use in above.targets and _may_grow(above.value)
            return begins and self._once(self._above[above])
        return isinstance(above, (ast.Assign, ast.AugAssign)) and added_to(above) is use

    def _once(self, body: ast.AST) -> bool:
        """Whether its statements are done once, before any loop."""
        if not isinstance(body, ast.FunctionDef) or body.name != "__init__":
            return isinstance(body, ast.Module)
        of = self._above[body]
        calls = [n for n in self._all if isinstance(n, ast.Call)]
        made = [c for c in calls if isinstance(of, ast.ClassDef) and _name(c.func) == of.name]
        lines = [self._always(c) for c in made]
        return bool(lines) and all(n and isinstance(self._above[n], ast.Module) for n in lines)


def _may_grow(value: ast.AST) -> bool:
    """Whether a new value has no bound of its own."""
    return not isinstance(value, ast.Call) or _name(value.func) in _GROW


def _name(node: ast.AST | None) -> str:
    """Of a variable, or of an attribute."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _made(statement: ast.stmt) -> str:
    """The name of a value that is computed, of nothing that would keep anything itself."""
    if not isinstance(statement, ast.Assign) or added_to(statement):
        return ""
    calls = [n for n in ast.walk(statement.value) if isinstance(n, ast.Call)]
    plain = all(isinstance(c.func, ast.Name) and c.func.id in _TYPES for c in calls)
    target = statement.targets[0]
    return target.id if plain and isinstance(target, ast.Name) else ""


def _leaves_early(body: _Body) -> bool:
    """Whether it may end before its last line."""
    return any(isinstance(n, _LEAVES) for n in ast.walk(body) if n is not body.body[-1])
