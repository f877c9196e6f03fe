# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Writes a page for every device module into dist/docs: docstrings, the contracts above classes, types from the stubs.

python3 tools/dev.py docs [--out FOLDER] [MODULE...]
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import click

ROOT = Path(__file__).resolve().parent.parent
LIB = ROOT / "lib"
SHIMS = [ROOT / "port_shims" / name for name in ("k210", "maixcam", "ascend")]
sys.path[:0] = [str(LIB), *map(str, SHIMS)]  # the stand-ins: what a port imports of its board


def contract(thing: type) -> str:
    """The comment above a class as text, or nothing."""
    lines = (inspect.getcomments(thing) or "").splitlines()
    return textwrap.dedent("\n".join(line[1:] for line in lines)).strip()


def add_contracts(module: ModuleType) -> None:
    """Puts the contract above each class of the module behind its docstring."""
    for name, thing in vars(module).items():
        if inspect.isclass(thing) and thing.__module__ == module.__name__ and name[0] != "_":
            text = contract(thing)
            if text:
                thing.__doc__ = f"{thing.__doc__ or ''}\n\n{text}".strip()


@click.command()
@click.option(
    "--out",
    default=str(ROOT / "dist" / "docs"),
    type=click.Path(path_type=Path),
    help="Folder to write.",
)
@click.argument("modules", nargs=-1)
def main(out: Path, modules: tuple[str, ...]) -> None:
    """Write the pages of the named modules, or of all."""
    import pdoc

    names = modules or tuple(sorted(p.stem for p in LIB.glob("*.py")))
    for name in names:
        add_contracts(importlib.import_module(name))
    version = importlib.import_module("maixmem").__version__
    pdoc.render.configure(footer_text=f"maixmem {version}", show_source=False)
    pdoc.pdoc(*names, output_directory=out)
    click.echo(f"{len(names)} modules: {out / 'index.html'}")


if __name__ == "__main__":
    main()
