# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem kfpkg`: a package of models that kflash accepts and that passes our own check."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click

from maixmem_cli.commands.options import SIZE, firmware_option
from maixmem_cli.firmware.builds import Firmware
from maixmem_cli.flash.kfpkg import PackageError, read_package, write_package
from maixmem_cli.plan.flash_items import ItemError, Layout
from maixmem_cli.text.numbers import hexa
from maixmem_cli.text.output import write_file


@click.command(
    name="kfpkg",
    epilog="Example: maixmem kfpkg face.kmodel@0x300000 digits.kmodel@0x400000 -o models.kfpkg",
)
@click.argument("items", nargs=-1, required=True, metavar="MODEL@ADDRESS...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The package to write.",
)
@click.option(
    "--size", default="16M", show_default=True, type=SIZE, help="Bytes of the flash chip."
)
@firmware_option("What lies at 0x000000 already. Default: the largest official build may.")
def command(items: tuple[str, ...], output: Path, size: int, firmware: Firmware | None) -> None:
    """Write a flash package: files at addresses, and a firmware .bin if wanted.

    Nothing is written when two files overlap, leave the chip, run into the file system, start
    inside a sector, or lie where the firmware is: that of the package, of --firmware, or else the
    largest official build. Exit status: 0 written, 1 refused, 2 wrong use.
    """
    try:
        layout = Layout.of(items, size, firmware)
    except ItemError as e:
        raise click.UsageError(str(e)) from None
    if not layout.members:
        raise click.UsageError("nothing to pack: a dump is no item of a package")
    findings = layout.verdicts()
    for what, text in findings:
        click.echo(f"{what}: {text}", err=True)
    if findings:
        click.echo(
            f"{output} not written. Next: maixmem flash with the same items shows the "
            "map and the moves",
            err=True,
        )
        sys.exit(1)
    members = [m for _, m in layout.members]
    package = io.BytesIO()
    write_package(package, members)
    write_file("--output", output, package.getvalue())
    try:
        written = read_package(output)
    except PackageError as e:
        raise click.ClickException(
            f"{output}: does not read back: {e}. Next: another --output"
        ) from e
    for wrote, back in zip(members, written):
        if (wrote.data, wrote.address) != (back.data, back.address):
            raise click.ClickException(f"{output}: {wrote.name} reads back differently")
        click.echo(f"{hexa(back.address)}  {back.nbytes:>8} bytes  {back.name}")
    for risk in layout.map.risks():
        click.echo(f"risk: {risk}")
    click.echo(f"wrote {output}: {len(members)} files. Next: kflash {output.name}")
