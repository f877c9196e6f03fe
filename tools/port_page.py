# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The contract of a port in docs/ports.md: the docstrings of lib/maixmem_port.py, and what a port
returns and raises, from lib/maixmem.py.

    python tools/port_page.py          writes it between its two marks

A test fails while the page is older than the docstrings.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "lib" / "maixmem_port.py"
VALUES = ROOT / "lib" / "maixmem.py"
#: the classes of VALUES that a port makes, in the order of the page
_CLASSES = ("Region", "Cost", "NoRoom", "KModelError")
PAGE = ROOT / "docs" / "ports.md"
_WIDTH = 90  # columns of a paragraph, as docstrings have
_RETURNED = """
## What a port returns and raises

All four are imported from `maixmem`.
"""
_MARKED = re.compile(
    r"(<!-- contract: made from lib/maixmem_port.py -->\n).*(<!-- end -->)", re.DOTALL
)


def contract(source: str) -> str:
    """The members of the class Port as Markdown, in the order of the file: a table of its
    attributes, then a heading with the signature and the docstring for each method."""
    port = next(n for n in ast.parse(source).body if isinstance(n, ast.ClassDef))
    lines = source.splitlines()
    out = ["| attribute | default | what it is |", "|---|---|---|"]
    out += [
        f"| `{node.targets[0].id}` | `{ast.unparse(node.value)}` | {remark(lines, node)} |"
        for node in port.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    for node in port.body:
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_":
            out += ["", f"### {node.name}", "", "```text", signature(node), "```", ""]
            out += [inspect.cleandoc(ast.get_docstring(node) or ""), "", answer(node)]
    return "\n".join(out) + "\n"


def values(source: str) -> str:
    """The classes as Markdown: how one is created, its docstring, the contract in the comment
    above it, and the attributes that are set afterwards."""
    classes = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.ClassDef)}
    lines = source.splitlines()
    out: list[str] = []
    for name in _CLASSES:
        node = classes[name]
        made = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        head = signature(made[0], name) if made else f"{name}(message: str)"
        out += ["", f"### {name}", "", "```text", head, "```", ""]
        out += [inspect.cleandoc(ast.get_docstring(node) or "")]
        above = comment(lines, node)
        out += ["", above] if above else []
        later = [
            f"`{target.id}` ({ast.unparse(n.value)})"
            for n in node.body
            if isinstance(n, ast.Assign)
            for target in n.targets
            if isinstance(target, ast.Name)
        ]
        out += (
            ["", f"Attributes with a default, set afterwards: {', '.join(later)}."]
            if later
            else []
        )
    return "\n".join(out) + "\n"


def comment(lines: list[str], node: ast.ClassDef) -> str:
    """The comment in the lines above a class, as one paragraph."""
    above: list[str] = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.startswith("# "):
            break
        above.insert(0, line[2:])
    return textwrap.fill(" ".join(above), _WIDTH)


def remark(lines: list[str], node: ast.Assign) -> str:
    """The `#:` comment of an attribute: behind it, or in the lines above."""
    behind = lines[node.lineno - 1].partition("#: ")[2]
    above: list[str] = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.strip().startswith("#: "):
            break
        above.insert(0, line.strip()[3:])
    return behind or " ".join(above)


def signature(node: ast.FunctionDef, made: str = "") -> str:
    """name(parameters with types) -> type, without self; a property is an attribute; `made` is the
    class that an __init__ makes. What has no type in the source is the platform's own: any."""
    returns = typed(node.returns)
    if node.decorator_list:
        return f"{node.name}: {returns}"
    names = [*node.args.args[1:]]
    defaults = [None] * (len(names) - len(node.args.defaults)) + [*node.args.defaults]
    shown = [
        f"{name.arg}: {typed(name.annotation)}" + (f" = {ast.unparse(default)}" if default else "")
        for name, default in zip(names, defaults)
    ]
    if node.args.kwarg:
        shown.append(f"**{node.args.kwarg.arg}: any")
    return f"{made or node.name}({', '.join(shown)})" + ("" if made else f" -> {returns}")


def typed(annotation: ast.expr | None) -> str:
    """An annotation as text; any where there is none."""
    if annotation is None:
        return "any"
    text = annotation.value if isinstance(annotation, ast.Constant) else None
    return text if isinstance(text, str) and text else ast.unparse(annotation)


def answer(node: ast.FunctionDef) -> str:
    """What the base class does."""
    last = node.body[-1]
    if isinstance(last, ast.Raise):
        return "Base class: `NotImplementedError`."
    if isinstance(last, ast.Return) and isinstance(last.value, (ast.Constant, ast.List, ast.Dict)):
        return f"Base class: `{ast.unparse(last.value)}`."
    return "Base class: nothing." if isinstance(last, ast.Expr) else "Base class: does this."


def page(text: str) -> str:
    """The page with the contract of today between its marks."""
    made = contract(SOURCE.read_text(encoding="utf-8"))
    made += _RETURNED + values(VALUES.read_text(encoding="utf-8"))
    return _MARKED.sub(lambda m: m[1] + "\n" + made + "\n" + m[2], text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
