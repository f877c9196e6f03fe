# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the package index shows of the project: links that lead into its repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import paths


def _of_setup(option: str) -> str:
    command = [sys.executable, "setup.py", "-q", option]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, check=True)
    return done.stdout.decode()


def _address() -> str:
    project = (paths.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.search('^Repository = "(.+)"$', project, re.MULTILINE)[1]


def test_every_link_of_the_readme_leads_somewhere_on_the_index() -> None:
    shown = _of_setup("--long-description")
    source = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    here = re.findall(r"\]\((?!https:)([^)\s]+)\)", source)
    there = re.findall(rf"\]\({re.escape(_address())}/(?:blob|raw)/HEAD/([^)\s]+)\)", shown)
    assert len(here) > 40 and there == here
    assert re.findall(r"\]\((?!https:)[^)]*\)", shown) == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", shown)
    assert pictures and all(f"{_address()}/raw/HEAD/docs/pictures/" in p for p in pictures)


def test_the_address_is_in_one_place() -> None:
    """Who publishes changes pyproject.toml; the build writes it into the README of the package."""
    named = [
        str(path.relative_to(paths.ROOT))
        for folder in ("docs", "tools", "lib", "examples", "device")
        for path in (paths.ROOT / folder).rglob("*.*")
        if path.suffix in (".md", ".py", ".toml", ".yml", ".json")
        and "OWNER/" in path.read_text(encoding="utf-8")
    ]
    assert named == []


def _built(folder: Path, top: Path) -> set[str]:
    """What a package puts at the top of site-packages."""
    command = [sys.executable, "setup.py", "-q", "build"]
    command += [f"--build-base={folder / 'base'}", f"--build-lib={folder / 'site'}"]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {p.name for p in (folder / "site").iterdir()}


_IMPORTS = """
import maixmem, maixmem_kmodel, maixmem_models, maixmem_pool, maixmem_rknn
import maixmem_maixcam.cvimodel, maixmem_ascend
maixmem.report()
print(maixmem.__file__)
"""


def test_each_package_has_its_own_names_and_the_library(tmp_path: Path) -> None:
    """Only what a user imports is at the top: the command's packages, or none. Both may be
    installed; either can go."""
    desk, device = tmp_path / "desk", tmp_path / "device"
    assert _built(desk, paths.ROOT) == {"maixmem_cli", "maixmem_shims", "maixmem.pth"}
    assert _built(device, paths.ROOT / "device") == {"maixmem_device", "maixmem-device.pth"}
    wanted = {p.name for p in paths.LIB.glob("*.py")}
    for site, folder in ((desk, "maixmem_cli/lib"), (device, "maixmem_device")):
        library = site / "site" / folder
        assert {p.name for p in library.glob("*.py")} == wanted
        (pth,) = (site / "site").glob("*.pth")
        assert pth.read_text().split() == [folder]
        code = f"import site; site.addsitedir({str(site / 'site')!r}){_IMPORTS}"
        done = subprocess.run(
            [sys.executable, "-S", "-c", code],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == str(library / "maixmem.py")
