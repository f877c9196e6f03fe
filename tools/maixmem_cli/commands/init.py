# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem init`: a new program for a K210 board: script, models, project file, test and gate."""

from __future__ import annotations

from pathlib import Path

import click

from maixmem_cli.firmware.boards import BOARDS
from maixmem_cli.plan import starter
from maixmem_cli.text.output import write_file


@click.command(name="init", epilog="Example: maixmem init doorbell --board m5stickv")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--board",
    default="bit",
    show_default=True,
    type=click.Choice(list(BOARDS)),
    help="The board that it is for.",
)
@click.option(
    "--bare",
    is_flag=True,
    help="Only a project file with every key explained, and its model where you have none.",
)
def command(*, folder: Path, board: str, bare: bool) -> None:
    """Write a starter: a script with two models, the models, a project file with budgets, a test
    and a workflow for CI. Nothing that is there is written over."""
    made = starter.bare(folder) if bare else starter.whole(board)
    there = [str(folder / name) for name in made if (folder / name).exists()]
    if there:
        raise click.UsageError(f"{', '.join(there)}: there already. Next: another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise click.BadParameter(f"{folder}: {e.strerror}", param_hint="FOLDER") from e
    for name, content in made.items():
        write_file("FOLDER", folder / name, content)
    step = f"cd {folder}; " if folder != Path() else ""
    test = "" if bare else "; pytest"
    click.echo(f"wrote {', '.join(made)}. Next: {step}maixmem fit project.toml{test}")
