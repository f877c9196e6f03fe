# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""No two modules import each other, not even late or for types alone, and the K210's memory as
numbers stands on the library alone."""

from __future__ import annotations

import ast
from pathlib import Path

import paths
import pytest
from source import imported

#: folders whose modules find each other by name
TREES = {
    "lib": (paths.LIB,),
    "tools": (paths.TOOLS,),
    "k210": (paths.LIB, *paths.SHIM_PATH),
    **{name: (paths.SHIMS / name, paths.SHIMS) for name in ("ascend", "canmv", "maixcam", "rknn")},
}


def modules(folders: tuple[Path, ...]) -> dict[str, Path]:
    """{name: file} of what lies in folders or in packages below them; the first wins."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.setdefault(name, path)
    return found


def graph(files: dict[str, Path]) -> dict[str, set[str]]:
    """{module: those of these files that it imports}. What the library imports of a board is the
    board's own."""
    edges = {}
    for name, path in files.items():
        wanted = imported(ast.parse(path.read_text("utf-8")))
        wanted = {m if m in files else m.rpartition(".")[0] for m in wanted}  # a name in a module
        if paths.LIB in path.parents:
            wanted = {m for m in wanted if m in files and paths.LIB in files[m].parents}
        edges[name] = wanted & files.keys() - {name}
    return edges


def reach(edges: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = set(edges[start])
    while todo:
        one = todo.pop()
        found.add(one)
        todo |= edges[one] - found
    return found


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules of which each imports all others in the end."""
    all_of = {name: reach(edges, name) for name in edges}
    groups = {
        tuple(sorted(m for m in found if name in all_of[m]))
        for name, found in all_of.items()
        if name in found
    }
    return sorted(map(list, groups))


def test_a_circle_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("def f():\n  from c import d\n")
    (tmp_path / "c.py").write_text("try:\n  import b as x\nexcept ImportError:\n  pass\n")
    assert circles(graph(modules((tmp_path,)))) == [["b", "c"]]


@pytest.mark.parametrize("tree", TREES)
def test_no_two_modules_import_each_other(tree: str) -> None:
    edges = graph(modules(TREES[tree]))
    assert any(edges.values())
    assert circles(edges) == []


@pytest.mark.parametrize("tree", ["tools", "k210"])
def test_the_tree_is_whole(tree: str) -> None:
    wanted = {"tools": "maixmem_cli.plan.fit", "k210": "k210_model.heap"}
    assert graph(modules(TREES[tree]))[wanted[tree]], "it imports what is not in the tree"


def uses(folder: Path, known: dict[str, Path]) -> set[str]:
    """The modules of a tree that a folder imports, its own left out."""
    own = {name for name, path in known.items() if folder in path.parents}
    edges = graph(known)
    return {m for name in own for m in edges[name]} - own


@pytest.mark.parametrize(
    ("folder", "may"),
    [
        (paths.MODEL, (paths.LIB,)),
        (paths.CHIP, (paths.LIB, paths.SHIMS)),
        (paths.API, (paths.LIB, paths.SHIMS, paths.CHIP)),
    ],
    ids=["model", "chip", "api"],
)
def test_a_lower_part_of_the_stand_in_knows_no_higher_one(
    folder: Path, may: tuple[Path, ...]
) -> None:
    """The model may import the library, the chip the model, what a script imports the chip."""
    files = modules(TREES["k210"])
    higher = {m for m in uses(folder, files) if not _below(files[m], may)}
    assert not higher


def _below(path: Path, folders: tuple[Path, ...]) -> bool:
    return path.parent in folders or path.parent == paths.MODEL


def test_the_command_uses_no_module_of_a_stand_in() -> None:
    """But the model; it runs the others, as a program of their own. What lies in on_board runs
    there."""
    scripts = modules((*paths.SHIM_PATH[:3],)).keys() - {"image"}  # flash.image is the command's
    for name, path in modules((paths.TOOLS,)).items():
        if path.parent.name == "on_board":
            continue
        wanted = {m.split(".")[0] for m in imported(ast.parse(path.read_text("utf-8")))}
        assert not wanted & (scripts | {"maixmem_shims"}), name
