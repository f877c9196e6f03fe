# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The .pyi files: true to the modules beside them, and enough for the examples and for the desk commands."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import maixmem_arena
import maixmem_flash
import maixmem_imagepool
import maixmem_pool
import paths
import pytest
from readme_blocks import blocks

SHIMS = paths.ROOT / "port_shims"
LIBRARY = sorted(p.stem for p in paths.LIB.glob("*.pyi"))
FIRMWARE = sorted(p.stem for p in paths.SHIM.glob("*.pyi"))
# what stubtest is to pass over, and why
_ALLOWED = {
    r"KPU\.kpu_fmap\.__init__": "only the firmware makes one",
    r"KPU\.kpu_fmap\.__iter__": "is there to raise: a kpu_fmap is not iterable",
    r"Maix\.utils\.heap_free": "takes anything, to refuse it in the firmware's words",
    r"sensor\.reset": "takes anything, as the firmware does",
    r"image\.Image": "a function on the firmware; editors are told a class",
}
# what device code may do and CPython's own stubs do not know: gc.mem_free(), empty lists without a type
_DEVICE = ("attr-defined", "var-annotated")


def run(module: str, *arguments: str, path: tuple[Path, ...]) -> subprocess.CompletedProcess:
    """python -m MODULE with the folders on mypy's path and, with all stand-ins, on Python's."""
    runtime = (paths.LIB, paths.SHIM, SHIMS / "maixcam", SHIMS / "ascend", SHIMS / "rknn")
    env = dict(
        os.environ,
        PYTHONPATH=os.pathsep.join(map(str, runtime)),
        MYPYPATH=os.pathsep.join(map(str, path)),
        PYTHONDONTWRITEBYTECODE="1",
    )
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("names", "folder"),
    [(LIBRARY, paths.LIB), (FIRMWARE, paths.SHIM)],
    ids=["library", "firmware"],
)
def test_stubs_are_true(names: list[str], folder: Path, tmp_path: Path) -> None:
    assert names
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"{name}  # {why}\n" for name, why in _ALLOWED.items()))
    options = ("--allowlist", str(allowed), "--ignore-unused-allowlist", "--concise")
    done = run("mypy.stubtest", *options, *names, path=(folder,))
    assert done.returncode == 0, done.stdout + done.stderr


def _attributes(module: str, name: str) -> set[str]:
    """The attributes that a stub declares for a class, those of its bases in this library included."""
    tree = ast.parse((paths.LIB / f"{module}.pyi").read_text(encoding="utf-8"))
    sources = {
        a.name: n.module for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names
    }
    (found,) = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name]
    names = {n.target.id for n in found.body if isinstance(n, ast.AnnAssign)}
    for base in found.bases:
        names |= _attributes(sources.get(base.id, module), base.id)
    return names


def test_objects_have_the_attributes_of_their_stubs() -> None:
    """stubtest does not see what a constructor sets."""
    chip = maixmem_flash.FlashMap()
    chip.add("a", 0x300000, 1)
    chip.add("b", 0x300000, 1)
    pool = maixmem_imagepool.ImagePool(16, 16)
    for made in (
        chip,
        chip.regions[0],
        chip.conflicts()[0],
        pool,
        maixmem_pool.BufferPool(16, 2),
        maixmem_arena.Arena(16),
    ):
        kind = type(made)
        has = {name for name in vars(made) if not name.startswith("_")}
        assert has == _attributes(kind.__module__, kind.__name__), kind


def test_a_check_of_the_flash_map_is_a_list_in_the_stub(tmp_path: Path) -> None:
    file = tmp_path / "use.py"
    file.write_text(
        "from maixmem_flash import FlashMap\nlast = FlashMap().check()[-1].nbytes + 1\n"
    )
    done = run("mypy", "--config-file=", f"--cache-dir={tmp_path}", str(file), path=(paths.LIB,))
    assert done.returncode == 0, done.stdout + done.stderr


def test_examples_fit_the_stubs(tmp_path: Path) -> None:
    files = [str(p) for p in sorted(paths.EXAMPLES.glob("*.py"))]
    for block in blocks(paths.ROOT / "README.md"):
        if block.language == "python":
            file = tmp_path / f"readme_line{block.line}.py"
            file.write_text(block.text, encoding="utf-8")
            files.append(str(file))
    options = (
        "--config-file=",
        "--ignore-missing-imports",
        "--check-untyped-defs",
        "--follow-imports=silent",
    )
    off = [f"--disable-error-code={code}" for code in _DEVICE]
    cache = f"--cache-dir={tmp_path / 'cache'}"
    done = run("mypy", *options, *off, cache, *files, path=(paths.LIB, paths.SHIM))
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_manual_imports_has_stubs() -> None:
    wanted = set()
    for block in blocks(paths.ROOT / "README.md"):
        if block.language == "python":
            for node in ast.walk(ast.parse(block.text)):
                if isinstance(node, ast.Import):
                    wanted.update(a.name for a in node.names)
                elif isinstance(node, ast.ImportFrom):
                    wanted.add(node.module)
    assert wanted <= {*LIBRARY, *FIRMWARE}, wanted - {*LIBRARY, *FIRMWARE}
