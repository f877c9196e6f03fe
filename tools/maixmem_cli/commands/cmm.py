# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem cmm`: the carve-out of a MaixCAM2, read from and written to its /boot/configs."""

from __future__ import annotations

import json
from pathlib import Path

import click
from maixmem_maixcam.cmm import DEFAULTS, LINUX_MIB, check_cmm, set_cmm

from maixmem_cli.board import maixcam2
from maixmem_cli.text import output

_CONFIGS = "/boot/configs"


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), default=_CONFIGS)
@click.option("--board", type=int, metavar="MIB", help="Memory of the board; read on a MaixCAM2.")
@click.option("--set", "size", type=int, metavar="MIB", help="New size; -1 for the image's own.")
@output.JSON
def command(file: Path, board: int | None, size: int | None, as_json: bool) -> None:
    """Check the carve-out of a MaixCAM2 (maix_memory_cmm), or set it.

    FILE is the /boot/configs of the board, or a copy of it. A size that the boot loader and the
    driver's script would read differently is refused. What FILE was stays beside it as FILE.bak;
    the change counts from the next boot on.
    """
    hw = board or maixcam2.hardware_mib()
    if not hw or hw not in LINUX_MIB:
        sizes = ", ".join(map(str, LINUX_MIB))
        raise click.UsageError(
            f"how much memory the board has is not known. Next: --board {sizes}"
        )
    try:
        with file.open(encoding="utf-8", newline="") as f:
            text = f.read()
        before = check_cmm(text, hw)
        if size is not None:
            text = set_cmm(text, size, hw)
            maixcam2.write(file, text)
    except ValueError as e:
        raise click.UsageError(str(e)) from None
    except OSError as e:
        raise click.ClickException(
            f"{file}: {e.strerror}. Next: run it on the board, or give a copy"
        ) from None
    found = check_cmm(text, hw)
    if as_json:
        keys = ("value", "cmm", "linux", "findings")
        click.echo(
            json.dumps({"file": str(file), "board": hw, **{k: getattr(found, k) for k in keys}})
        )
    else:
        click.echo(found.advice(before.cmm))
        for name, total, linux, cmm in DEFAULTS:
            if total == hw and name == "maixcam2":
                click.echo(
                    f"the vendor's page: {linux} MiB Linux, {cmm} MiB CMM on a board of {hw}"
                )
    raise SystemExit(1 if found.findings else 0)
