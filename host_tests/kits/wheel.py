# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The project as a user has it: its wheel in an environment of its own, away from the sources.

Nothing comes over the network. The wheel is built from this checkout; of the packages beside it
the environment has those that the wheel requires and no others, as hard links to those of the
environment that runs the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import paths
from packaging.requirements import Requirement

_SOURCES = ("lib", "tools", "port_shims", "host_tests/device", "device")
_FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in")
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
_WAIT = 120  # seconds for another process that makes the same
#: stands for kflash, which nothing here can check: a package that is there, written to a port
_KFLASH = """\
#!/bin/sh
for last; do :; done
[ "$1" = -p ] && [ -n "$2" ] && [ -s "$last" ] || { echo "kflash: $*" >&2; exit 1; }
"""


def build(folder: Path, root: Path = paths.ROOT) -> Path:
    """Builds the wheel of a checkout, in a copy of what it needs."""
    copy = folder / "sources"
    for name in _SOURCES:
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(root / name, copy)
    options = ("-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(copy))
    done = subprocess.run([*_PIP, "wheel", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def required(requirement: str) -> Iterator[Distribution]:
    """The distribution that a requirement names, and all that it requires itself, each once."""
    wanted, seen = [Requirement(requirement)], set()
    while wanted:
        one = wanted.pop()
        found = distribution(one.name)
        for line in found.requires or ():
            more = Requirement(line)
            extras = one.extras or {""}
            meant = not more.marker or any(more.marker.evaluate({"extra": e}) for e in extras)
            if meant and (more.name, tuple(more.extras)) not in seen:
                seen.add((more.name, tuple(more.extras)))
                wanted.append(more)
        yield found


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


def _add(found: Distribution, packages: Path, programs: Path) -> None:
    """What a distribution installed, in another environment: its files, its programs."""
    for file in found.files or ():
        if file.parts[0] != ".." and file.suffix != ".pyc":
            there = packages / file
            there.parent.mkdir(parents=True, exist_ok=True)
            _link(str(found.locate_file(file)), str(there))
    for entry in found.entry_points.select(group="console_scripts"):
        text = f"#!{programs / 'python'}\nimport sys\nfrom {entry.module} import {entry.attr}\n"
        (programs / entry.name).write_text(f"{text}sys.exit({entry.attr}())\n", encoding="utf-8")
        (programs / entry.name).chmod(0o755)


def environment(folder: Path, wheel: Path, extras: str = "") -> Path:
    """A new environment with the wheel, `[extras]` of it included; its folder of programs."""
    venv.create(folder, symlinks=True)
    programs = folder / "bin"
    packages = next((folder / "lib").glob("python*/site-packages"))
    options = ("--no-deps", "--no-index", "--no-compile", str(wheel))
    subprocess.run(
        [*_PIP, "--python", str(programs / "python"), "install", "-q", *options], check=True
    )
    requirement = f"maixmem{extras}"
    for found in required(requirement):
        if found.metadata["Name"].partition("-")[0] != "maixmem":
            _add(found, packages, programs)
    (programs / "kflash").write_text(_KFLASH, encoding="utf-8")
    (programs / "kflash").chmod(0o755)
    return programs


def once(folder: Path, extras: str = "") -> Path:
    """The programs of the one environment that the processes of a test run share."""
    ready = folder / "ready"
    try:
        folder.mkdir()
    except FileExistsError:
        end = time.monotonic() + _WAIT
        while not ready.is_file():
            assert time.monotonic() < end, f"{folder} was not finished by another process"
            time.sleep(0.2)
    else:
        environment(folder / "venv", build(folder), extras)
        ready.touch()
    return folder / "venv" / "bin"


class Desk:
    """A terminal in a folder: bash, with the wheel's programs and the system's, nothing else of
    this checkout."""

    def __init__(self, programs: Path, folder: Path, **names: str) -> None:
        self.folder, self.home = folder, folder
        keep = ("LANG", "LC_ALL", "TMPDIR", "HOME")
        system = os.pathsep.join(
            p
            for p in os.environ["PATH"].split(os.pathsep)
            if p != str(programs) and not Path(p).is_relative_to(paths.ROOT)
        )
        self.environment = {
            **{name: os.environ[name] for name in keep if name in os.environ},
            "PATH": f"{programs}{os.pathsep}{system}",
            "COLUMNS": "100",
            **names,
        }

    def run(self, line: str) -> tuple[int, str]:
        """Runs a line; its exit status and what it printed. `cd` lasts, as at a prompt."""
        where = self.home / ".where"
        script = f"{line}\nstatus=$?\npwd > '{where}'\nexit $status\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        self.folder = Path(where.read_text(encoding="utf-8").strip())
        return done.returncode, done.stdout
