# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The house: who may import whom at import time, and that each constant of the chip is written
down once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import paths
import pytest

FLAT = sorted(paths.LIB.glob("*.py"))
#: what device code may import beside the library: modules of MicroPython, of MaixPy, and CPython's
#: names for them
DEVICE_MODULES = {
    *("gc", "sys", "time", "os", "struct", "ustruct", "hashlib", "uhashlib", "micropython"),
    *(
        "uctypes",
        "__main__",
        "Maix",
        "KPU",
        "image",
        "sensor",
        "lcd",
        "machine",
        "uos",
        "uio",
        "maix",
    ),
}


def imports(nodes: list[ast.stmt], late: bool = False) -> Iterator[str]:
    """Modules that these statements import: when the file is imported, or with `late` inside
    functions as well."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif late or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
                yield from imports(
                    [n for n in ast.walk(node) if isinstance(n, (ast.Import, ast.ImportFrom))]
                    if late
                    else [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)]
                    + [s for n in getattr(node, "handlers", ()) for s in n.body]
                )


def graph(files: list[Path], top: Path) -> dict[str, set[str]]:
    """{module: modules of these files that it imports at import time}."""
    names = {}
    for path in files:
        parts = path.relative_to(top).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    edges = {}
    for name, path in names.items():
        wanted = imports(ast.parse(path.read_text("utf-8")).body)
        found = {
            m if m in names else m.rpartition(".")[0] for m in wanted
        }  # a module or a name in one
        edges[name] = found & names.keys() - {name}
    return edges


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import each other, or []."""
    left = dict(edges)
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def test_a_cycle_would_be_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]
    source = (
        "try:\n  import b\nexcept ImportError:\n  import c\nclass A:\n  import d\n  def "
        "f(self):\n    import e\n"
    )
    assert list(imports(ast.parse(source).body)) == ["b", "c", "d"]


@pytest.mark.parametrize("top", [paths.LIB, paths.TOOLS], ids=["lib", "tools"])
def test_no_two_modules_import_each_other(top: Path) -> None:
    edges = graph(sorted(top.rglob("*.py")), top)
    assert len(edges) > 20 and any(edges.values())
    assert cycle(edges) == []


@pytest.mark.parametrize("path", FLAT, ids=lambda p: p.stem)
def test_what_lies_flat_imports_what_a_board_has(path: Path) -> None:
    """Of CPython's modules only those that MicroPython has too; other boards' modules in their own
    ports alone."""
    library = {p.stem for p in FLAT}
    tree = ast.parse(path.read_text("utf-8"))
    used = {m.split(".")[0] for m in imports(tree.body, late=True)}
    unknown = used - library - DEVICE_MODULES
    assert not unknown, unknown


#: constants that were written down twice before: value -> the one assignment of lib/ that may have
#: it
ONCE = {
    "FLASH_SIZE": 16 << 20,
    "RAM": 6 << 20,
    "IMAGE_OVERHEAD": 37,
    "TRIM": 131072,
    "SPI_EXTRA": 130,
    "SPIFFS_START": 0xD00000,
    "SPIFFS_SIZE": 0x300000,
}
#: what else has such a value and is no copy
OTHER = {"MODEL_BASE", "_BLOCK"}


def value(node: ast.expr) -> object:
    """The number of an expression of numbers, const(...) included; None for others."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "const":
        node = node.args[0]
    try:
        return eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
    except Exception:
        return None


def test_each_constant_of_the_chip_stands_once() -> None:
    found: dict[str, list[str]] = {name: [] for name in ONCE}
    defined = []
    for path in FLAT:
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                label = node.targets[0].id
                for name, number in ONCE.items():
                    if value(node.value) == number and label not in OTHER:
                        found[name].append(f"{path.stem}.{label}")
            if isinstance(node, ast.FunctionDef) and node.name in ("const", "round_up", "_up"):
                defined.append(f"{path.stem}.{node.name}")
            if isinstance(node, ast.Assign) and "const" in {
                getattr(t, "id", "") for t in node.targets
            }:
                defined.append(f"{path.stem}.const")
    assert found == {name: [f"maixmem_k210_chip.{name}"] for name in ONCE}
    assert defined.count("maixmem.const") == 1 and len(defined) == len(set(defined)), defined
    assert [d for d in defined if d.endswith("const")] == ["maixmem.const"]


def one_time_parts() -> set[str]:
    """The modules that run_once() names in lib/."""
    calls = (
        node.args[0].value
        for path in FLAT
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "run_once"
        if isinstance(node.args[0], ast.Constant)
    )
    return {f"maixmem_{name}" for name in calls}


@pytest.mark.parametrize("path", FLAT, ids=lambda p: p.stem)
def test_no_function_imports_a_one_time_part(path: Path) -> None:
    """It would stay in memory: run_once() drops what a part imports at its head."""
    parts = one_time_parts()
    assert len(parts) > 15 and "maixmem_k210_cost" in parts
    late = [
        node.module
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom)
    ]
    assert not parts & set(late)


@pytest.mark.parametrize("path", FLAT, ids=lambda p: p.stem)
def test_nothing_leaves_a_try_that_has_a_finally(path: Path) -> None:
    """MicroPython v1.11 counts the stack of such a return too small: a loop in the finally
    overwrites a local."""
    left = [
        inner.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Try) and node.finalbody
        for part in [*node.body, *node.handlers, *node.orelse]
        for inner in ast.walk(part)
        if isinstance(inner, (ast.Return, ast.Break, ast.Continue))
    ]
    assert left == [], f"{path.name}: lines {left}"


@pytest.mark.parametrize("text", ["1036", "0x4B4D444C"])
def test_each_rule_of_the_firmware_stands_in_one_file(text: str) -> None:
    """The share of a GC heap that gc counts, and the first word of a V4 model."""
    number = int(text, 0)
    files = set()
    for path in FLAT:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and node.value == number:
                files.add(path.stem)
    assert len(files) == 1, files
