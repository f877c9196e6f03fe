# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Types: the stand-ins' stubs are true, the library's inline ones reach who installed it, examples
fit both."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import venv
from pathlib import Path

import paths
import pytest
from readme_blocks import blocks

LIBRARY = sorted(p.stem for p in paths.LIB.glob("*.py"))  # types inline
TYPED = {p.parent.name for p in paths.LIB.glob("*/py.typed")}  # types inline, no stubs
FIRMWARE = sorted(p.stem for p in paths.API.glob("*.pyi"))
# what stubtest is to pass over, and why
_ALLOWED = {
    r"KPU\.kpu_fmap\.__init__": "only the firmware makes one",
    r"KPU\.kpu_fmap\.__iter__": "is there to raise: a kpu_fmap is not iterable",
    r"Maix\.utils\.heap_free": "takes anything, to refuse it in the firmware's words",
    r"sensor\.(reset|snapshot)": "takes anything, as the firmware does",
    r"image\.Image": "a function on the firmware; editors are told a class",
}
# what device code may do and CPython's own stubs do not know: gc.mem_free(), empty lists without a
# type
_DEVICE = ("attr-defined", "var-annotated")


def run(module: str, *arguments: str, path: tuple[Path, ...]) -> subprocess.CompletedProcess:
    """python -m MODULE with the folders on mypy's path and, with all stand-ins, on Python's."""
    others = (paths.SHIMS / name for name in ("maixcam", "ascend", "rknn"))
    runtime = (paths.LIB, *paths.SHIM_PATH, *others)
    env = dict(
        os.environ,
        PYTHONPATH=os.pathsep.join(map(str, runtime)),
        MYPYPATH=os.pathsep.join(map(str, path)),
        PYTHONDONTWRITEBYTECODE="1",
    )
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_stubs_of_the_firmware_are_true(tmp_path: Path) -> None:
    assert FIRMWARE
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"{name}  # {why}\n" for name, why in _ALLOWED.items()))
    options = ("--allowlist", str(allowed), "--ignore-unused-allowlist", "--concise")
    done = run("mypy.stubtest", *options, *FIRMWARE, path=(paths.API,))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an installed copy has: the modules, and the stub packages that the build makes of
    them."""
    out = tmp_path_factory.mktemp("installed")
    venv.create(out / "venv")
    (site,) = (out / "venv").glob("lib/python*/site-packages")
    command = [sys.executable, "setup.py", "-q", "build", f"--build-base={out / 'base'}"]
    command.append(f"--build-lib={site}")
    folder = paths.ROOT / "device"
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "venv"


GOOD = """
import maixmem
from maixmem_flash import FlashMap
from maixmem_kmodel import read_info
from maixmem_models import ModelManager

models = ModelManager()
models.add("a", 0x300000, pin=True)
with models.using("a") as net:
    print(net.name)
print(FlashMap().check()[-1].nbytes + 1, read_info("a.kmodel").nbytes, maixmem.report()["port"])
"""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", ""),
        ("maixmem.reprot()", 'Module has no attribute "reprot"'),
        ("models.ues('a')", '"ModelManager" has no attribute "ues"'),
        ("FlashMap('16M')", 'incompatible type "str"; expected "int"'),
        ("maixmem.set_gc_heap('x')", 'incompatible type "str"; expected "int"'),
        ("maixmem.run_once('report', 'find_prot')", "No overload variant"),
        ("maixmem.run_once('status', 'forget', models)", "No overload variant"),
        ("maixmem.run_once('report', 'find_port').uper()", '"str" has no attribute "uper"'),
        ("maixmem.resident('ent')", "incompatible type \"Literal['ent']\""),
    ],
)
def test_an_installed_copy_tells_its_types(
    installed: Path, tmp_path: Path, line: str, error: str
) -> None:
    file = tmp_path / "use.py"
    file.write_text(GOOD + line + "\n")
    python = f"--python-executable={installed / 'bin' / 'python'}"
    done = run("mypy", "--config-file=", f"--cache-dir={installed}", python, str(file), path=())
    if line:
        assert done.returncode == 1 and "Found 1 error" in done.stdout, done.stdout + done.stderr
        assert "use.py:12" in done.stdout and error in done.stdout, done.stdout
    else:
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
    done = run("mypy", *options, *off, cache, *files, path=(paths.LIB, paths.API))
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
    assert wanted <= {*LIBRARY, *FIRMWARE, *TYPED}, wanted - {*LIBRARY, *FIRMWARE, *TYPED}
