# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is for another board, or no kmodel, is said by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import paths
import pytest
from click.testing import CliRunner
from cvimodel_build import cvimodel, program
from maixmem_cli.cli import main
from maixmem_cli.plan.not_ours import NEWER, script_for
from maixmem_maixcam import read_cvimodel
from rknn_raw import small

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


def _shown(path: Path) -> tuple[str, dict[str, Any]]:
    runner = CliRunner()
    text = runner.invoke(main, ["kmodel", str(path)], env={"COLUMNS": "200"}).output
    (entry,) = json.loads(runner.invoke(main, ["kmodel", "--json", str(path)]).stdout)
    return text, entry


def test_a_cvimodel_is_read_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.cvimodel"
    io = [("in", "UINT8", (1, 3, 10, 10))]
    path.write_bytes(cvimodel([("weight", 90000)], [program(shared=5000, inputs=io)]))
    text, entry = _shown(path)
    need = {"cmm": read_cvimodel(str(path)).need()}
    assert entry["other"]["need"] == need and entry["other"]["certainty"] == "exact"
    assert entry["error"] is None and "for cv181x" in text and "of cmm" in text and "exact" in text
    path.write_bytes(path.read_bytes()[:200])
    text, entry = _shown(path)
    assert "not usable: a model for MaixCAM" in text and "Next: copy" in text
    assert entry["other"] is None


def test_an_rknn_says_its_chip_and_who_knows_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.rknn"
    path.write_bytes(small("a", targets=("rk3566",)))
    text, entry = _shown(path)
    assert "for rk3566" in text and "Port.inspect() on the board" in text
    assert entry["other"]["kind"] == "rknn" and entry["other"]["need"] == {}


def test_an_axmodel_is_an_estimate(tmp_path: Path) -> None:
    path = tmp_path / "a.axmodel"
    path.write_bytes(bytes(5000))
    text, entry = _shown(path)
    assert entry["other"]["need"] == {"cmm": 5000} and "(estimate)" in text


def test_fit_says_what_such_a_model_takes(tmp_path: Path) -> None:
    (tmp_path / "a.axmodel").write_bytes(bytes(5120))
    project = tmp_path / "project.toml"
    model = '[[model]]\nname = "a"\nfile = "a.axmodel"\naddress = 0x300000\n'
    project.write_text('firmware = "full"\n' + model)
    done = CliRunner().invoke(main, ["fit", str(project)])
    said = f"{done.output}{done.exception}"
    assert done.exit_code != 0 and "for no K210; takes 5.0 KiB of cmm" in said, said


@pytest.mark.parametrize("version", [6, 7, 8])
def test_a_newer_kmodel_is_a_k230s(version: int, tmp_path: Path) -> None:
    path = tmp_path / "new.kmodel"
    path.write_bytes(b"LDMK" + version.to_bytes(4, "little") + bytes(4096))
    done = CliRunner().invoke(main, ["kmodel", str(path)], env={"COLUMNS": "200"})
    assert done.exit_code == 1 and NEWER in " ".join(done.output.split()), done.output
