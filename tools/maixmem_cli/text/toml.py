# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Files in TOML, by the reader that this Python has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from maixmem_cli.text import reading

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read(path: Path) -> dict[str, Any]:
    """The tables of a file; ValueError for what is no TOML."""
    try:
        return tomllib.loads(reading.text(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as e:
        raise ValueError(f"not TOML: {e}") from None
