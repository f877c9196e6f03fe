# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""ulab on the stand-in gives what the firmware's gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import paths
import pytest
import sim_both

_TOLD = [
    line
    for line in (Path(sim_both.__file__).with_name("ulab.txt")).read_text().splitlines()
    if line[:1] != "#"
]
_SCRIPT = """
import ulab as np
a, b = np.array([1, 2, 3, 4]), np.array([[1, 2], [3, 4]])
for text in {0!r}:
    try:
        print(text, "=>", repr(eval(text)).replace("\\n\\t", " "))
    except Exception as e:
        print(text, "!!", repr(e))
""".strip()


def told_by(folder: Path, *options: str) -> list[str]:
    """What the expressions give on the stand-in, or on a firmware."""
    texts = [line.replace(" !! ", " => ").split(" => ")[0] for line in _TOLD]
    script = folder / "ulab_script.py"
    script.write_text(_SCRIPT.format(texts), encoding="utf-8")
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(script), *options]
    done = subprocess.run(
        command, cwd=paths.TOOLS, capture_output=True, text=True, timeout=60, check=False
    )
    return [line for line in done.stdout.splitlines() if " => " in line or " !! " in line]


def test_the_stand_in_gives_what_the_firmware_gave(tmp_path: Path) -> None:
    assert len(_TOLD) > 60
    assert told_by(tmp_path) == _TOLD


def test_the_firmware_gives_it_still(tmp_path: Path) -> None:
    image = sim_both.firmware("full")
    if not image:
        pytest.skip(sim_both.NO_IMAGE)
    assert told_by(tmp_path, "--firmware", str(image)) == _TOLD


@pytest.mark.parametrize("options", [(), ("--unsafe",)])
def test_a_module_beside_the_script_finds_it_too(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "beside.py").write_text("import ulab\nx = ulab.ones(3)\n")
    (tmp_path / "other.py").write_bytes(b"\xff\xfe no text")
    (tmp_path / "folder.py").mkdir()
    script = tmp_path / "main.py"
    script.write_text("import beside\nprint(beside.x.shape())\n")
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(script), *options]
    done = subprocess.run(command, cwd=paths.TOOLS, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(1, 3)"


def test_numbers_take_the_bytes_of_their_type(tmp_path: Path) -> None:
    script = tmp_path / "sizes.py"
    script.write_text(
        "import gc, ulab\n"
        "def left(dtype):\n"
        "    gc.collect()\n"
        "    free = gc.mem_free()\n"
        "    kept = ulab.zeros(4000, dtype=dtype)\n"
        "    gc.collect()\n"
        "    return free - gc.mem_free()\n"
        "left(ulab.int8)\n"  # what comes in with the first call may leave something behind
        "print([left(t) // 4000 for t in (ulab.float, ulab.uint16, ulab.int8)])\n"
    )
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(script)]
    done = subprocess.run(command, cwd=paths.TOOLS, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[4, 2, 1]"
