# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem init`: a new program for a K210 board: script, models, project file, test and gate."""

from __future__ import annotations

from pathlib import Path

import click

from maixmem_cli.firmware.boards import BOARDS, Board
from maixmem_cli.kmodel import example
from maixmem_cli.plan.program import project
from maixmem_cli.text.output import write_file

_STARTER = Path(__file__).with_name("starter")
_MODELS = ("one.kmodel", "two.kmodel")
_MODEL_BYTES = 24 << 10


def _filled(text: str, name: str, board: Board) -> str:
    words = {"title": board.title, "board": name, "image": board.image, "kflash": board.kflash}
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text


def files(name: str) -> dict[str, bytes]:
    """{file: content} of a starter for that board."""
    found = {p.name: p.read_text(encoding="utf-8") for p in sorted(_STARTER.glob("*.*"))}
    out = {file: _filled(text, name, BOARDS[name]).encode() for file, text in found.items()}
    return {**out, **{model: example.data(_MODEL_BYTES) for model in _MODELS}}


def _bare(folder: Path) -> dict[str, bytes]:
    """A project file that fits, with every key explained, and the model that it names, a user's
    own where that exists."""
    made = {"project.toml": project.EXAMPLE.encode(), project.EXAMPLE_MODEL: example.data()}
    own = (folder / project.EXAMPLE_MODEL).exists()
    return {n: made[n] for n in made if n == "project.toml" or not own}


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
    made = _bare(folder) if bare else files(board)
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
