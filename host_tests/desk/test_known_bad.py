# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds that are known to be bad are named where they are seen, and a package's own file system
is no conflict."""

from __future__ import annotations

from pathlib import Path

import kmodel_build
import pytest
from click.testing import CliRunner
from maixmem_cli.cli import main
from maixmem_cli.firmware.builds import IMAGE_START
from maixmem_cli.firmware.known_bad import known_bad


@pytest.mark.parametrize(
    ("version", "faults"),
    [
        ("v0.5.0-9-g0123456", 2),
        ("v0.5.0-31-gd3e71c0", 1),
        ("v0.5.0-46-g06e16a3", 2),
        ("maixpy_v0.5.0_98_g7ec09ea_with_lvgl", 2),
        ("v0.5.1-47-g0123456", 1),
        ("v0.5.1-48-g0123456", 0),
        ("v0.6.2-84-g8fcd84a58", 0),
        ("version unknown", 0),
    ],
)
def test_faults_of_a_build(version: str, faults: int) -> None:
    assert len(known_bad(version)) == faults


def test_kmodel_and_flash_name_a_bad_build(tmp_path: Path) -> None:
    image = tmp_path / "old.bin"
    image.write_bytes(IMAGE_START + bytes(4096) + b"v0.5.0-46-g06e16a3\0" + bytes(4096))
    model = tmp_path / "yolo20.kmodel"
    model.write_bytes(kmodel_build.v3((28, 28, 3), [("conv", 8), ("dequantize",)]).to_bytes())
    run = CliRunner().invoke
    for words in (
        ["kmodel", str(model), "--firmware", str(image)],
        ["flash", str(image), f"{model}@0x300000"],
        ["flash", f"{model}@0x300000", "--firmware", str(image)],
    ):
        said = " ".join(run(main, words, env={"COLUMNS": "300"}).output.split())
        assert "known bad build v0.5.0-46: kpu.load()" in said and "#248" in said, said
    assert "known bad" not in run(main, ["kmodel", str(model)]).output


def test_the_contents_of_the_file_system_are_no_conflict(tmp_path: Path) -> None:
    """As M5Stack's own package has them."""
    whole = tmp_path / "resources.img"
    whole.write_bytes(b"\xff" * 0x300000)
    done = CliRunner().invoke(main, ["flash", f"{whole}@0xd00000", "--firmware", "full"])
    assert done.exit_code == 0 and "overlap" not in done.output, done.output
    assert "filesystem" in done.output
    whole.write_bytes(bytes(5000))
    done = CliRunner().invoke(main, ["flash", f"{whole}@0xd00000", "--firmware", "full"])
    assert done.exit_code == 1 and "overlap" in done.output, "part of it is not the file system"
