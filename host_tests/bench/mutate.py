# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Do the tests notice? Changes one operator or number of a module at a time and runs its device
tests.

    python host_tests/bench/mutate.py [COUNT [SEED]] 200 different mutants, seed 1; prints each
    that survived

    python host_tests/bench/mutate.py all maixmem_pool  every one of a module

A copy is changed, never lib/ itself. Device tests on CPython decide, and for the flash map its
test on the desk; what survives is equivalent or untested.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1] / "kits"), str(HERE.parents[2] / "tools")]

import paths  # noqa: E402
from maixmem_cli.library import suites  # noqa: E402

#: module -> the device tests about it, quick ones first
TESTS = {
    "maixmem_k210_chip": ("test_k210_chip", "test_k210_heap"),
    "maixmem_k210_heap": ("test_k210_heap", "test_k210_port"),
    "maixmem_k210_malloc": ("test_k210_malloc", "test_k210_heap"),
    "maixmem_k210": ("test_k210_heap", "test_k210_port", "test_k210_low_heap"),
    "maixmem": ("test_report", "test_k210_port"),
    "maixmem_pool": ("test_image_pool", "test_pool"),
    "maixmem_k210_kpu": ("test_k210_heap", "test_models_misuse", "test_models"),
    "maixmem_models": (
        *("test_models_eviction", "test_models_misuse", "test_k210_heap", "test_models"),
    ),
    "maixmem_flash": ("test_flash",),
    "maixmem_flash_check": ("test_flash",),
}
#: module -> its test on the desk
DESK = {"maixmem_flash_check": "test_flash_map"}
_SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult}
_SWAPS |= {ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And}
_SWAPS |= {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_SWAPS |= {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is}


def places(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    """(node, field) of everything that can be changed; texts and annotations are not."""
    found = []
    for node in ast.walk(tree):
        op = getattr(node, "ops", [getattr(node, "op", None)])[0]
        if type(op) in _SWAPS:
            found.append((node, "op"))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            found.append((node, "value"))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found.append((node, "not"))
    return found


def mutate(source: str, i: int) -> tuple[str, str]:
    """(the source with its i-th place changed, what was changed)."""
    tree = ast.parse(source)
    node, field = places(tree)[i]
    before = ast.unparse(node)
    if field == "op":
        holder = node.ops if hasattr(node, "ops") else None
        if holder:
            holder[0] = _SWAPS[type(holder[0])]()
        else:
            node.op = _SWAPS[type(node.op)]()
    elif field == "value":
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    else:
        node.op = ast.UAdd()
        node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
    ast.fix_missing_locations(tree)
    return ast.unparse(tree), f"line {node.lineno}: {before}  ->  {ast.unparse(node)}"


def noticed(root: Path, module: str) -> bool:
    """Whether a test about this module fails, hangs or ends early with this copy of the
    project."""
    files = {s.module: s for s in suites.suites()}
    path = os.pathsep.join(map(str, (root / "lib", *paths.DEVICE_PATH[1:])))
    env = dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")
    for name in TESTS[module]:
        command = [sys.executable, "-c", files[name].main()]
        try:
            done = subprocess.run(
                command, check=False, env=env, capture_output=True, text=True, timeout=60
            )
        except subprocess.TimeoutExpired:
            return True
        kinds = [kind for kind, _ in suites.results(done.stdout).values()]
        if "FAIL" in kinds or len(kinds) < len(files[name].tests):
            return True
    return module in DESK and _fails(root, DESK[module])


def _fails(root: Path, name: str) -> bool:
    """Whether a test on the desk fails or hangs."""
    command = [sys.executable, "-m", "pytest", "-x", "-n0", f"host_tests/desk/{name}.py"]
    try:
        done = subprocess.run(command, check=False, cwd=root, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def chosen(count: str, more: list[str]) -> tuple[list[tuple[str, int]], int]:
    """(module, number of a place) of those to try; how many there are."""
    modules = more if count == "all" else sorted(TESTS)
    every = [
        (module, i)
        for module in modules
        for i in range(len(places(ast.parse((paths.LIB / f"{module}.py").read_text("utf-8")))))
    ]
    if count == "all":
        return every, len(every)
    seed = int(more[0]) if more else 1
    return random.Random(seed).sample(every, min(int(count), len(every))), len(every)


def main(count: str = "200", *more: str) -> None:
    tried, number = chosen(count, list(more))
    caught = 0
    with tempfile.TemporaryDirectory() as temp:
        root = Path(temp)
        for name in ("lib", "host_tests", "port_shims", "tools"):
            shutil.copytree(paths.ROOT / name, root / name)
        shutil.copy(paths.ROOT / "pyproject.toml", root)
        for module in sorted({module for module, _ in tried}):
            if noticed(root, module):
                sys.exit(f"mutate: the tests of {module} fail without any change")
        for module, i in tried:
            file = root / "lib" / f"{module}.py"
            source = file.read_text(encoding="utf-8")
            changed, what = mutate(source, i)
            file.write_text(changed, encoding="utf-8")
            good = noticed(root, module)
            file.write_text(source, encoding="utf-8")
            caught += good
            if not good:
                print(f"survived: {module} {what}", flush=True)
    print(
        f"{caught} of {len(tried)} mutants noticed ({100 * caught // len(tried)} %), of {number} "
        "that there are"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
