# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `maixmem init` writes, used as its memory.yml says: every `run:` line in its order, on a
firmware image, is green; with a planted leak it is red, at the line of the leak; green again with
the leak accepted."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import emulated
import paths
import pytest
from commands import invoke
from emulated import needs_cc, needs_image

pytestmark = [needs_cc, needs_image]

_LEAK = """
kept = []
for turn in range(40):
    for size in range(3):
        kept.append(bytearray(300))
"""


def steps(workflow: str) -> list[str]:
    """The commands of `run:`, folded blocks on one line."""
    found = re.findall(r"^ +(?:- )?run: (?:>\n((?: {10}.*\n)+)|(.*)\n)", workflow, re.MULTILINE)
    return [" ".join((block or line).split()) for block, line in found]


Done = list[tuple[str, subprocess.CompletedProcess[str]]]


def run(folder: Path, installed: Path) -> Done:
    """Each step as a shell runs it there, to the first that fails. `installed`: of a wheel."""
    env = dict(os.environ, GITHUB_ACTIONS="true", FIRMWARE_URL="", NO_COLOR="1")
    env["PATH"] = os.pathsep.join((str(installed / "bin"), os.environ["PATH"]))
    env.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(installed.parent), PIP_NO_BUILD_ISOLATION="1")
    env.pop("MAIXMEM_FIRMWARE", None)
    done: Done = []
    for step in steps((folder / "memory.yml").read_text(encoding="utf-8")):
        command = ["bash", "-eo", "pipefail", "-c", step]
        result = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        done.append((step, result))
        if result.returncode:
            break
    return done


def green(done: Done) -> None:
    step, last = done[-1]
    assert (len(done), last.returncode) == (5, 0), f"{step}\n{last.stdout}{last.stderr}"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment for the wheel of this tree, which `pip install -r requirements.txt` puts
    there; what the wheel needs is that of these tests."""
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=paths.ROOT, capture_output=True, check=True
    )
    for name in filter(None, files.stdout.decode().split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (paths.ROOT / name).is_file():
            shutil.copy(paths.ROOT / name, tree / name)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "-w", folder, tree], check=True)
    there = folder / "there"
    venv.create(there, with_pip=True, symlinks=True)
    (site,) = there.glob("lib/python3*/site-packages")
    borrowed = folder / "borrowed"
    borrowed.mkdir()
    for path in Path(pytest.__file__).parents[1].iterdir():
        if "maixmem" not in path.name and path.suffix != ".pth":
            (borrowed / path.name).symlink_to(path)
    (site / "borrowed.pth").write_text(f"{borrowed}\n")
    command = there / "bin" / "pytest"
    command.write_text(f'#!/bin/sh\nexec "{there}/bin/python" -m pytest "$@"\n')
    command.chmod(0o755)
    return there


def boards_of(image: Path) -> list[str]:
    """Those that run it."""
    if "m5stickv" in image.name.lower():
        return ["m5stickv"]
    return ["bit", "amigo"] if "minimum" in image.name else ["bit", "maixduino"]


_EACH = [(image, board) for image in emulated.IMAGES for board in boards_of(image)]


@pytest.mark.parametrize("image, board", _EACH if emulated.THOROUGH else _EACH[:1])
def test_its_workflow_is_green_then_red_at_a_leak(
    tmp_path: Path, installed: Path, image: Path, board: str
) -> None:
    """An image or a package, which is `maixpy.bin` all the same."""
    new = tmp_path / "new"
    assert invoke("init", str(new), "--board", board).exit_code == 0
    shutil.copy(image, new / "maixpy.bin")
    done = run(new, installed)
    green(done)
    assert "--flash one.kmodel@0x300000, two.kmodel@0x400000" in done[-1][1].stderr
    main = new / "main.py"
    text = main.read_text(encoding="utf-8")
    main.write_text(text.replace('print("done")', _LEAK + 'print("done")'), encoding="utf-8")
    step, result = run(new, installed)[-1]
    line = text.splitlines().index('print("done")') + 5
    assert "pytest" in step and result.returncode == 1
    assert f"leak: main.py:{line}: GC heap: grows" in result.stdout, result.stdout
    profile = steps((new / "memory.yml").read_text(encoding="utf-8"))[-1]
    alone = subprocess.run(
        ["bash", "-c", profile.replace("maixmem", str(installed / "bin" / "maixmem"), 1)],
        cwd=new,
        env=dict(os.environ, GITHUB_ACTIONS="true"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert alone.returncode == 1
    assert f"::error file=main.py,line={line}::" in alone.stderr, alone.stderr
    told = invoke("profile", str(main), "--firmware", str(new / "maixpy.bin"), "--json")
    assert told.exit_code == 1  # it leaks; what it prints makes the leak a known one
    (new / "baseline.json").write_text(told.stdout, encoding="utf-8")
    green(run(new, installed))


def test_a_script_that_raises_is_that_first(tmp_path: Path) -> None:
    """It was counted as over budget: what a script did not come to is neither."""
    (tmp_path / "main.py").write_text('a = bytearray(400000)\nraise ValueError("mine")\n')
    done = invoke(
        *("profile", str(tmp_path / "main.py"), "--firmware", str(emulated.IMAGES[0])),
        *("--max-gc-live", "1K"),
    )
    assert done.exit_code == 1
    assert "main.py failed: ValueError: mine" in done.stderr, done.stderr
    assert "over budget" not in done.stderr
