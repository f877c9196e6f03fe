# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""--firmware of the commands that run on an image: a file, or a build's name."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from maixmem_cli.cli import main
from maixmem_cli.commands.script_options import IMAGE_FILE
from maixmem_cli.firmware.builds import FIRMWARES


@pytest.mark.parametrize("command", ["profile", "explain"])
def test_the_name_of_a_build_without_its_file(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAIXMEM_FIRMWARE", raising=False)
    script = tmp_path / "main.py"
    script.write_text("print(1)\n")
    done = CliRunner().invoke(main, [command, str(script), "--firmware", "full"])
    said = f"{done.output}{done.exception}"
    assert "'full' is the name of a build" in said and "Next: its .bin" in said, said


def test_the_name_of_a_build_whose_file_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = tmp_path / "maixpy.bin"
    image.write_bytes(bytes(FIRMWARES["minimum"].image))
    monkeypatch.setenv("MAIXMEM_FIRMWARE", str(tmp_path))
    assert IMAGE_FILE.convert("minimum", None, None) == image
    assert IMAGE_FILE.convert(str(image), None, None) == image
    with pytest.raises(click.BadParameter, match="'full' is the name"):
        IMAGE_FILE.convert("full", None, None)
