# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A computer without a board: what Linux says, and nothing imported that is not there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import maixmem_generic
import paths
import pytest

MEMINFO = """MemTotal:        2012428 kB
MemFree:          152616 kB
MemAvailable:    1680820 kB
Buffers:           40000 kB
CmaTotal:          65536 kB
CmaFree:           60000 kB
HugePages_Total:       3
"""


pytestmark = pytest.mark.usefixtures("plain_python")


@pytest.fixture
def linux(monkeypatch, tmp_path: Path):
    def put(text: str) -> None:
        path = tmp_path / "meminfo"
        path.write_text(text)
        read = maixmem_generic.meminfo
        monkeypatch.setattr(maixmem_generic, "meminfo", lambda: read(str(path)))

    return put


def test_the_fields_of_psutil(linux):
    linux(MEMINFO)
    found = maixmem_generic.virtual_memory()
    assert found == {
        "total": 2012428 * 1024,
        "available": 1680820 * 1024,
        "free": 152616 * 1024,
        "used": (2012428 - 1680820) * 1024,
        "percent": 16.5,
        "cma_total": 65536 * 1024,
        "cma_free": 60000 * 1024,
    }
    ram, cma = maixmem_generic.Port().regions()
    assert (ram.name, ram.total, ram.used, ram.free) == (
        "ram",
        found["total"],
        found["used"],
        found["available"],
    )
    assert (cma.name, cma.total, cma.used, cma.free) == (
        "cma",
        65536 * 1024,
        5536 * 1024,
        60000 * 1024,
    )


@pytest.mark.parametrize(
    "text",
    ["", "MemTotal: 100 kB\n", "MemAvailable: 100 kB\n", "nonsense\nMemTotal:\nMemTotal: x kB\n"],
)
def test_what_is_not_told_is_not_made_up(linux, text: str):
    linux(text)
    assert (
        "used" not in maixmem_generic.virtual_memory() and maixmem_generic.Port().regions() == []
    )


def test_no_meminfo_at_all():
    assert maixmem_generic.meminfo("/nowhere/meminfo") == {}


@pytest.mark.skipif(not shutil.which("free"), reason="no command free here")
def test_total_is_what_free_says():
    words = (
        subprocess.run(["free", "-b"], capture_output=True, text=True, check=True)
        .stdout.splitlines()[1]
        .split()
    )
    assert maixmem_generic.virtual_memory()["total"] == int(words[1])


def plain(code: str) -> subprocess.CompletedProcess:
    """Python with nothing but lib/ on its path."""
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env={"PYTHONPATH": str(paths.LIB)}, capture_output=True, text=True, check=False
    )


def test_import_on_a_plain_computer_reports_what_it_can():
    """No maix, acl or Maix there, and only the modules that are needed come in."""
    code = (
        "import sys, json, maixmem; r = maixmem.report(lambda line: None); "
        "print(json.dumps([r, sorted(m for m in sys.modules if "
        "m.lower().startswith(('maix', 'acl', 'ctypes')))]))"
    )
    done = plain(code)
    assert done.returncode == 0, done.stderr
    report, modules = json.loads(done.stdout)
    assert report["port"] == "generic"
    # of the packages for boards only what looks whether there is such a runtime
    assert [name for name in modules if not name.startswith("ctypes")] == [
        *("maixmem", "maixmem_generic", "maixmem_linux", "maixmem_linux.cgroup", "maixmem_port"),
        *("maixmem_rknn", "maixmem_rknn.librknnrt"),
    ]
    if Path("/proc/meminfo").exists():
        assert report["regions"][0]["name"] == "ram" and report["regions"][0]["total"] > 0


@pytest.mark.parametrize(
    ("module", "missing"),
    [("maixmem_maixcam", "No module named 'maix'"), ("maixmem_ascend", "no pyACL here")],
)
def test_a_port_without_its_runtime_says_what_is_missing(module: str, missing: str):
    done = plain(f"import {module}; {module}.Port")
    assert done.returncode == 1 and missing in done.stderr


@pytest.mark.parametrize("name", ["acl", "maix", "Maix"])
def test_a_folder_of_a_boards_module_name_is_not_that_module(name: str, tmp_path: Path):
    (tmp_path / name).mkdir()
    code = (
        f"import sys; sys.path.append({str(tmp_path)!r}); import maixmem; "
        "print(maixmem.report(out=str)['port'])"
    )
    done = plain(code)
    assert done.stdout.split() == ["generic"], done.stderr
