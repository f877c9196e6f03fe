# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is for another board, or no kmodel, is said by name."""

from __future__ import annotations

from pathlib import Path

import paths
import pytest
from click.testing import CliRunner
from maixmem_cli.cli import main
from maixmem_cli.plan.not_ours import NEWER, script_for

_OTHERS = {
    "from media.sensor import *\nimport nncase_runtime as nn\n": "a K230 under CanMV",
    "import sensor, pyb\nsensor.reset()\n": "an OpenMV camera",
    "from maix import KPU\nkpu = KPU()\n": "a K210 under CanMV",
    "from maix import camera, nn\n": "a MaixCAM",
    "import esp32\nimport camera\ncamera.init(0)\n": "an ESP32",
    "import board, displayio\n": "CircuitPython",
    "import rp2\n": "an RP2040",
    "#include <Sipeed_OV2640.h>\nvoid setup() {}\n": "Arduino",
    "from rknnlite.api import RKNNLite\n": "a Rockchip board",
}


@pytest.mark.parametrize(("text", "board"), _OTHERS.items(), ids=list(_OTHERS.values()))
@pytest.mark.parametrize("command", ["fit", "sim"])
def test_a_script_for_another_board(command: str, text: str, board: str, tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(text)
    done = CliRunner().invoke(main, [command, str(script)])
    said = f"{done.output}{done.exception}"
    assert f"main.py is for {board}" in said and "Next: " in said, said
    assert done.exit_code in (1, 2)  # 1: a UsageError that the group itself shows


def test_our_own_examples_are_ours() -> None:
    ours = [p for p in paths.EXAMPLES.glob("*.py") if "KPU" in p.read_text(encoding="utf-8")]
    assert len(ours) > 1
    for script in ours:
        assert script_for(script, script.read_text(encoding="utf-8")) == ""


def test_a_module_beside_the_script_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "camera.py").write_text("")
    assert script_for(tmp_path / "main.py", "import camera\nimport sensor\n") == ""


@pytest.mark.parametrize(
    ("name", "head", "word"),
    [
        ("a.tflite", b"\x1c\0\0\0TFL3", "TensorFlow Lite"),
        ("a.onnx", b"\x08\x07\x12\x07pytorch", "ONNX"),
        ("a.rknn", b"RKNN", "Rockchip"),
        ("a.cvimodel", b"CviModel", "MaixCAM"),
        ("a.axmodel", b"\x08\x07", "MaixCAM2"),
        ("a.uf2", b"UF2\n\x57\x51\x5d\x9e", "UF2"),
    ],
)
def test_a_file_that_is_no_kmodel(name: str, head: bytes, word: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(head + bytes(4096))
    done = CliRunner().invoke(main, ["kmodel", str(path)], env={"COLUMNS": "200"})
    assert done.exit_code == 1 and word in done.output and "no kmodel" in done.output, done.output


@pytest.mark.parametrize("version", [6, 7, 8])
def test_a_newer_kmodel_is_a_k230s(version: int, tmp_path: Path) -> None:
    path = tmp_path / "new.kmodel"
    path.write_bytes(b"LDMK" + version.to_bytes(4, "little") + bytes(4096))
    done = CliRunner().invoke(main, ["kmodel", str(path)], env={"COLUMNS": "200"})
    assert done.exit_code == 1 and NEWER in " ".join(done.output.split()), done.output
