# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Projects for the tests of `maixmem fit`."""

from __future__ import annotations

from pathlib import Path

import kmodel_build
from click.testing import CliRunner
from maixmem_cli.cli import main
from maixmem_cli.plan.fit import fit, headers
from maixmem_cli.plan.program.project import read


def model(folder: Path, name: str, channels: tuple[int, ...]) -> str:
    layers = [("conv", n) for n in channels] + [("dequantize",)]
    (folder / name).write_bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())
    return name


def three_models(folder: Path) -> Path:
    """The folder, with three models: 0.4, 1.5 and 1.8 MB."""
    model(folder, "small.kmodel", (128, 256, 64))
    model(folder, "large.kmodel", (256, 512, 64))
    model(folder, "larger.kmodel", (256, 512, 128))
    return folder


def project(folder: Path, text: str) -> Path:
    path = folder / "project.toml"
    path.write_text(text)
    return path


def entry(name: str, address: int, more: str = "") -> str:
    return f'[[model]]\nname = "{name}"\nfile = "{name}.kmodel"\naddress = {address:#x}\n{more}\n'


def answer(folder: Path, text: str):
    wanted = read(project(folder, text))
    return fit(wanted), headers(wanted)


def run(*arguments: object):
    return CliRunner().invoke(main, ["fit", *map(str, arguments)])
