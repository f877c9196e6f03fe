# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem heap`: both heaps of a K210 as they are, chunk by chunk, of a board in software or a
dump of its RAM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from maixmem_k210_chip import RAM

from maixmem_cli.commands.script_options import FLASH, SD, firmware_options
from maixmem_cli.emulator import cores
from maixmem_cli.emulator.board import RAM_SIZE
from maixmem_cli.text.output import JSON, print_json, write_file

if TYPE_CHECKING:
    from maixmem_cli.heap import heaps

_RAM = (RAM, RAM_SIZE)  # bytes of a dump, without and with the KPU's


@click.command(
    name="heap",
    epilog="Example: maixmem heap emu:maixpy.bin --script main.py --camera pattern --frames 10 "
    "--svg heap.svg",
)
@click.argument("source", metavar="emu:IMAGE|RAM.bin")
@click.option(
    "--script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Run it first, then look.",
)
@FLASH
@SD
@firmware_options
@click.option(
    "--svg", type=click.Path(dir_okay=False, path_type=Path), help="Write both maps to this file."
)
@click.option(
    "--save-ram",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the RAM to this file.",
)
@JSON
def command(
    *,
    source: str,
    script: Path | None,
    svg: Path | None,
    save_ram: Path | None,
    as_json: bool,
    **on_board: Any,
) -> None:
    """Show used chunks, holes and the top of the system heap, and the blocks of the GC heap.

    SOURCE is emu:IMAGE, a firmware that is started for it, or a dump of a K210's RAM from
    0x80000000 on. Exit status: 0 fine, 1 the heaps are not found or their lists do not agree, 2
    wrong use.
    """
    from maixmem_cli.heap import heaps
    from maixmem_cli.profiler import maps

    finder = heaps.Finder()
    if source.startswith("emu:"):
        ram, finder = _of_board(source, script, on_board)
    else:
        ram = _of_file(source)
    if save_ram:
        write_file("--save-ram", save_ram, ram)
    try:
        system, gc = finder.system(ram), finder.gc(ram)
    except heaps.NotFound as e:
        raise click.ClickException(f"{source}: {e}") from e
    if svg:
        write_file("--svg", svg, maps.svg(system, gc))
    if as_json:
        print_json(maps.as_json(system, gc))
    else:
        click.echo("\n".join(maps.text(system, gc)))


def _of_file(name: str) -> bytes:
    try:
        data = Path(name).read_bytes()
    except OSError as e:
        raise click.BadParameter(f"{name}: {e.strerror}. Next: emu:IMAGE or a file") from e
    if len(data) not in _RAM:
        raise click.BadParameter(
            f"{name} has {len(data)} bytes, a K210's RAM {_RAM[0]} or {_RAM[1]}"
        )
    return data


def _of_board(
    source: str, script: Path | None, options: dict[str, Any]
) -> tuple[bytes, heaps.Finder]:
    """The RAM, and what knows where its heaps are."""
    cores.check()
    from maixmem_cli.emulator import ports, session
    from maixmem_cli.profiler import post_mortem
    from maixmem_cli.runs import run_firmware

    try:
        image, files, _ = ports.wanted(source)
    except OSError as e:
        raise click.BadParameter(str(e)) from None
    if not image.is_file():
        raise click.BadParameter(f"{image}: no such file. Next: emu:IMAGE, a .bin or .kfpkg")
    wanted = session.Options(files=(*files, *options.pop("flash")), **options)
    with (
        run_firmware.failing(script or image),
        session.Session(image, script, wanted) as board,
    ):
        if script:
            board.trace(gc=False)
            run_firmware.watch(board)
            outcome = board.run(lambda text: click.echo(text, nl=False, err=True))
            click.echo(outcome.error, nl=False, err=True)
            run_firmware.tell(post_mortem.ending(board, outcome))
        return bytes(board.board.ram), board.finder
