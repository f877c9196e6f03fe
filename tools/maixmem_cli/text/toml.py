# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Files in TOML: read by what this Python has, written."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from maixmem_cli.text import reading
from maixmem_cli.text.numbers import hexa

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


def write(head: str, top: dict[str, Any], tables: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """A file with a comment at its head, top keys, and tables: ("[name]" or "[[name]]", rows).
    Values are numbers, texts, truth, and lists of them, which JSON writes as TOML does."""
    lines = [f"# {head}", *_rows(top)]
    for name, values in tables:
        lines += ["", name, *_rows(values)]
    return "\n".join(lines) + "\n"


def _rows(values: dict[str, Any]) -> list[str]:
    return [
        f"{key} = {hexa(value) if key == 'address' else json.dumps(value, ensure_ascii=False)}"
        for key, value in values.items()
    ]
