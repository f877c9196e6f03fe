# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `maixmem init` writes, used as its memory.yml says: every `run:` line in its order, on a
firmware image, is green; with a planted leak it is red, at the line of the leak."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import emulated
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


def run(folder: Path) -> list[tuple[str, subprocess.CompletedProcess[str]]]:
    """Each step as a shell runs it there."""
    here = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    env = dict(os.environ, PATH=here, GITHUB_ACTIONS="true", FIRMWARE_URL="", NO_COLOR="1")
    env.pop("MAIXMEM_FIRMWARE", None)
    done = []
    for step in steps((folder / "memory.yml").read_text(encoding="utf-8")):
        if step.startswith("pip install"):
            continue  # this environment has it
        command = ["bash", "-eo", "pipefail", "-c", step]
        result = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        done.append((step, result))
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    done = invoke("init", str(tmp_path / "new"), "--board", "bit")
    assert done.exit_code == 0, done.output
    shutil.copy(emulated.IMAGES[0], tmp_path / "new" / "maixpy.bin")
    return tmp_path / "new"


def test_its_workflow_is_green_then_red_at_a_leak(folder: Path) -> None:
    done = run(folder)
    assert len(done) == 4, [step for step, _ in done]
    for step, result in done:
        assert result.returncode == 0, f"{step}\n{result.stdout}{result.stderr}"
    assert "--flash one.kmodel@0x300000, two.kmodel@0x400000" in done[-1][1].stderr
    main = folder / "main.py"
    text = main.read_text(encoding="utf-8")
    main.write_text(text.replace('print("done")', _LEAK + 'print("done")'), encoding="utf-8")
    step, result = run(folder)[-1]
    assert "profile" in step and result.returncode == 1, f"{step}\n{result.stderr}"
    line = text.splitlines().index('print("done")') + 5
    assert f"::error file=main.py,line={line}::" in result.stderr, result.stderr


def test_a_script_that_raises_is_that_first(folder: Path) -> None:
    """It was counted as over budget: what a script did not come to is neither."""
    (folder / "main.py").write_text('a = bytearray(400000)\nraise ValueError("mine")\n')
    done = invoke(
        *("profile", str(folder / "main.py"), "--firmware", str(folder / "maixpy.bin")),
        *("--max-gc-live", "1K"),
    )
    assert done.exit_code == 1
    assert "main.py failed: ValueError: mine" in done.stderr, done.stderr
    assert "over budget" not in done.stderr
