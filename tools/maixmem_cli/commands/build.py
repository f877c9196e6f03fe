# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem build`: bytecode, sizes against the budgets, and the files that mip and firmware
builders read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from maixmem import __version__
from rich import box
from rich.table import Table

from maixmem_cli.library import packages, places
from maixmem_cli.library.build import build, stale
from maixmem_cli.library.bytecode import VERSIONS, CompileError
from maixmem_cli.text.output import JSON, console


def show(sizes: dict[str, dict[int, int]], out: Path) -> None:
    """The sizes as a table."""
    table = Table(
        title=f"maixmem {__version__} in {out}: bytes", title_justify="left", box=box.SIMPLE
    )
    table.add_column("module")
    table.add_column(".py", justify="right")
    for version in VERSIONS:
        table.add_column(f".mpy v{version}", justify="right")
    for module, row in sizes.items():
        cells = [str(row[v]) for v in (0, *VERSIONS)]
        table.add_row(module, *cells)
    table.add_section()
    for name in packages.PACKAGES:
        chosen = packages.of_package(name)
        sums = [sum(sizes[m][v] for m in chosen) for v in (0, *VERSIONS)]
        table.add_row(f"package {name}", *map(str, sums))
    console().print(table)


@click.command(
    name="build",
    epilog="Example: maixmem build --out dist && mpremote mip install --target /flash "
    "dist/mpy4/package.json",
)
@click.option(
    "--out",
    default="dist",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write.",
)
@click.option(
    "--index", is_flag=True, help="Also write OUT/index, a mip index for any web server."
)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; say whether the repository's lists of modules are up to date.",
)
@JSON
def command(out: Path, index: bool, check: bool, as_json: bool) -> None:
    """Compile the device modules for bytecode 4, 5 and 6.

    Writes OUT/mpy4, mpy5, mpy6, each with the packages that mip installs: k210.json, canmv.json,
    micropython.json, and as package.json the one of the boards with that bytecode. Prints the
    sizes. In a checkout it also writes the repository's own packages and manifest.py, and the
    lists of modules in pyproject.toml, the stub of maixmem.py, and what is generated from the
    table of errors. Exit status 1: --check found one of them stale.
    """
    top = places.checkout()
    old = stale(top) if top else []
    if check:
        if as_json:
            click.echo(json.dumps({"stale": old}))
        else:
            click.echo(
                f"stale: {', '.join(old)}. Next: maixmem build"
                if old
                else "up to date: packages, manifest.py, pyproject.toml, stub, errors"
            )
        sys.exit(1 if old else 0)
    try:
        made = build(out, index)
    except OSError as e:
        text = f"{out} cannot be written: {e.strerror}. Next: another folder."
        raise click.BadParameter(text, param_hint="--out") from e
    except CompileError as e:
        raise click.ClickException(str(e)) from e
    if top:
        for name in old:
            (top / name).write_text(packages.repository_files(top)[name], encoding="utf-8")
    sizes = {m: {0: (places.lib() / f"{m}.py").stat().st_size} for m in packages.every()}
    for version, files in made.items():
        for module, path in files.items():
            sizes[module][version] = path.stat().st_size
    if as_json:
        rows = {m: {"py": s[0], **{f"mpy{v}": s[v] for v in VERSIONS}} for m, s in sizes.items()}
        click.echo(json.dumps({"version": __version__, "modules": rows, "written": old}))
    else:
        show(sizes, out)
