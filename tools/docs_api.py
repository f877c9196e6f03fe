# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A hook of mkdocs.yml: a page in api/ for every module of the library, made by pdoc.

Docstrings, the contracts above classes, and the types of signatures.
"""

from __future__ import annotations

import importlib
import inspect
import io
import os
import sys
import tempfile
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pdoc
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
LIB = ROOT / "lib"
STAND_INS = ROOT / "port_shims"
#: `maix` is a module of MaixCAM and of CanMV: MaixCAM's is found first
FIRST = [STAND_INS / name for name in ("k210/api", "k210/chip", "maixcam", "ascend", ".")]
OTHERS = [
    p for p in sorted(STAND_INS.iterdir()) if p.is_dir() and not (p / "__init__.py").exists()
]
SHIMS = list(dict.fromkeys([*FIRST, *OTHERS]))


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


def write_pages(folder: Path) -> None:
    """Writes the pages of all modules into a folder."""
    sys.path[:0] = [str(LIB), *map(str, SHIMS)]  # the stand-ins: what a port imports of its board
    sys.modules.setdefault("uio", io)  # as MicroPython calls them
    sys.modules.setdefault("uos", os)
    names = sorted(
        [p.stem for p in LIB.glob("*.py")] + [p.parent.name for p in LIB.glob("*/__init__.py")]
    )
    for name in names:
        add_contracts(importlib.import_module(name))
    version = importlib.import_module("maixmem").__version__
    pdoc.render.configure(footer_text=f"maixmem {version}", show_source=False)
    pdoc.pdoc(*names, output_directory=folder)


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages to the site."""
    with tempfile.TemporaryDirectory() as temp:
        write_pages(Path(temp))
        for page in sorted(Path(temp).rglob("*")):
            if page.is_file():
                name = "api/" + page.relative_to(temp).as_posix()
                files.append(File.generated(config, name, content=page.read_bytes()))
    return files
