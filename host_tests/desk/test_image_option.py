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


_SEGMENTS = bytes([0xE9, 3, 2, 0x20]) + bytes(8)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"UF2\n" + bytes(24) + (0xE48BFF56).to_bytes(4, "little"), "an RP2040 image (UF2)"),
        (b"UF2\n" + bytes(24) + (0xE48BFF59).to_bytes(4, "little"), "an RP2350 image (UF2)"),
        (b"UF2\n" + bytes(28), "another chip image (UF2)"),
        (_SEGMENTS + bytes(2), "an ESP32 image"),
        (_SEGMENTS + bytes([9, 0]), "an ESP32-S3 image"),
        (b"\x7fELF\x02", "a program in ELF form"),
    ],
)
def test_another_chips_image_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    image, script = tmp_path / "firmware.bin", tmp_path / "main.py"
    image.write_bytes(data + bytes(4000))
    script.write_text("print(1)\n")
    for command in ("profile", "sim"):
        done = CliRunner().invoke(main, [command, str(script), "--firmware", str(image)])
        said = f"{done.output}{done.exception}"
        assert done.exit_code == 2, said
        assert words in said and "the board in software is a K210" in said, said
