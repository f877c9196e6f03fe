# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What an expression of a script makes, and how large it can be, as far as its text says so: a
picture, a buffer, a model that is loaded."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Optional

from maixmem_image import image_bytes

from maixmem_cli.plan.program.project import Image
from maixmem_cli.plan.program.sizes import made_bytes

#: call -> how it makes a picture (project.MAKES)
PICTURES = {
    "Image": "image",
    "resize": "resize",
    "cut": "resize",
    "copy": "copy",
    "mean_pooled": "resize",
    "to_grayscale": "to_grayscale",
}
LOADS = ("load", "load_flash")
_BUFFERS = ("bytearray", "bytes")
_WORD = 4  # bytes of a place in a list
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
}

Size = tuple[int, int]


def is_load(call: ast.expr) -> bool:
    """Whether it is kpu.load(...)."""
    of = call.func if isinstance(call, ast.Call) else None
    if not isinstance(of, ast.Attribute) or of.attr not in LOADS:
        return False
    return isinstance(of.value, ast.Name) and of.value.id.lower() == "kpu"


@dataclass(frozen=True)
class Made:
    """`nbytes` of the GC heap for the result of `call`, and whether it `stays` where nothing holds
    that; a `model` (address or path, None: not known) needs system heap."""

    call: ast.expr
    nbytes: int = 0
    stays: bool = False
    loads: bool = False
    model: int | str | None = None


# The calls of a script that take much. `largest`: the picture that one of an unknown size is at
# most; None: nothing is known of such a one.
class Makers:
    def __init__(self, tree: ast.Module, largest: Size | None, format: str) -> None:
        self._format = format
        self._values: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self._values.setdefault(target.id, []).append(node.value)
        self._camera = largest
        sizes = [self._size(n) for n in ast.walk(tree) if isinstance(n, ast.Call)]
        known = [s for s in (largest, *sizes) if s]
        self._largest = max(known, key=lambda s: s[0] * s[1], default=None)

    def of(self, node: ast.AST) -> Iterator[Made]:
        """What an expression or a plain statement makes, in no certain order."""
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and is_load(n):
                yield Made(n, loads=True, model=self._place(n.args[0]) if n.args else None)
            elif isinstance(n, ast.Call) and (nbytes := self._buffer(n) or self._picture(n)):
                yield Made(n, nbytes, _name(n) == "pix_to_ai")
            elif isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult):
                items = len(n.left.elts) if isinstance(n.left, ast.List) else 0
                times = self._number(n.right)
                if items and times:
                    yield Made(n, _WORD * items * times)

    def _buffer(self, call: ast.Call) -> int:
        if _name(call) in _BUFFERS and len(call.args) == 1:
            return self._number(call.args[0]) or 0
        return 0

    def _picture(self, call: ast.Call) -> int:
        name = _name(call)
        if name == "pix_to_ai":
            return self._ai(call)
        if name not in PICTURES or not self._makes(call, name):
            return 0
        size = self._size(call) or self._largest
        return made_bytes(Image("", size, PICTURES[name], self._format)) if size else 0

    def _ai(self, call: ast.Call) -> int:
        """Of a picture of the camera its buffers have it."""
        assert isinstance(call.func, ast.Attribute)
        size = self._size(call.func.value) or self._largest
        return image_bytes(*size, f"{self._format}_ai") if size else 0

    def _makes(self, call: ast.Call, name: str) -> bool:
        """Whether a call of that name makes a new picture."""
        words = {k.arg for k in call.keywords}
        if name == "Image":
            return bool(call.args or words) and "copy_to_fb" not in words
        if name == "to_grayscale":
            given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "copy")]
            return any(not isinstance(v, ast.Constant) or bool(v.value) for v in given)
        of = call.func.value if isinstance(call.func, ast.Attribute) else None
        return of is not None and not self._is_other(of)

    def _is_other(self, node: ast.expr) -> bool:
        """Whether it is a list or a dict, which have a copy(), too."""
        values = self._values.get(node.id, []) if isinstance(node, ast.Name) else [node]
        return any(isinstance(v, (ast.List, ast.Dict, ast.Set, ast.ListComp)) for v in values)

    # --- sizes ---

    def _size(self, node: ast.expr) -> Size | None:
        """Of the picture that an expression gives, where the text says it."""
        if isinstance(node, ast.Name):
            sizes = {self._of_value(v) for v in self._values.get(node.id, ())}
            return sizes.pop() if len(sizes) == 1 else None
        return self._of_value(node)

    def _of_value(self, node: ast.expr) -> Size | None:
        name = _name(node) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or not name:
            return None
        if name == "snapshot":
            return self._camera
        if name == "Image":
            return self._pair(next((k.value for k in node.keywords if k.arg == "size"), None))
        if name == "resize":
            return self._pair(ast.Tuple(node.args[:2]))
        if name == "cut":
            return self._pair(ast.Tuple(node.args[2:4]))
        if name == "copy":
            roi = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "roi")]
            part = self._known(roi[0]) if roi else None
            return self._pair(ast.Tuple(part.elts[2:])) if isinstance(part, ast.Tuple) else None
        return None

    def _pair(self, node: ast.expr | None) -> Size | None:
        node = self._known(node) if node else None
        numbers = [self._number(n) for n in getattr(node, "elts", ())]
        if len(numbers) != 2 or any(not n or n < 1 for n in numbers):
            return None
        return numbers[0] or 0, numbers[1] or 0

    def _known(self, node: ast.expr) -> ast.expr:
        """The one value of a name."""
        values = self._values.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return values[0] if len(values) == 1 else node

    def _number(self, node: ast.expr) -> int | None:
        node = self._known(node)
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is int else None
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            a, b = self._number(node.left), self._number(node.right)
            small = a is not None and b is not None and 0 < b < 1 << 20
            return _OPERATORS[type(node.op)](a or 0, b or 1) if small else None
        return None

    def _place(self, node: ast.expr) -> int | str | None:
        known: Any = self._known(node)
        text = known.value if isinstance(known, ast.Constant) else None
        return text if isinstance(text, str) else self._number(node)


def _name(call: ast.Call) -> str:
    """The last word of what is called."""
    of: Optional[ast.expr] = call.func
    return of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
