# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The files in rows/, and the Chinese that they have beside each English text: `zh` behind a
text, or [English, Chinese]."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from maixmem_rknn.errors import ROWS as RKNN

from maixmem_cli.text import toml
from maixmem_cli.text.language import CHINESE, ENGLISH

FOLDER = Path(__file__).with_name("rows")
#: in this order: the first row that matches a line counts
ROWS = ("ours", "desk", "linux", "maixpy", "micropython", "python")
OTHERS = ("steps", "numbers", "boards", "dump", "rknn", "words")
_LISTS = ("steps", "check")  # of steps
_TEXTS = ("means", "is", "text", "find_out")


@functools.lru_cache(maxsize=None)
def read(name: str) -> dict[str, Any]:
    """What a file in rows/ has."""
    return toml.read(FOLDER / f"{name}.toml")


def english(text: str | list[str]) -> str:
    """The English of a text, or of [English, Chinese]."""
    return text if isinstance(text, str) else text[0]


def texts(name: str) -> Iterator[tuple[str, str]]:
    """(English, Chinese) of all texts in a file; Chinese "" where it is missing."""
    if name == "words":  # English of the code
        yield from read(name).items()
    elif name == "rknn":  # English of the library
        for means, *steps in RKNN.values():
            code, _, means = means.partition(": ")
            yield from zip((means, *steps), read(name)[code])
    else:
        yield from _texts(read(name))


def _texts(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if key in _TEXTS:
            yield value, table.get("zh", "")
        elif key == "desk":
            yield value, table.get("desk_zh", "")
        elif isinstance(value, dict):
            yield from _texts(value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for row in value:
                yield from _texts(row)
        elif key in (*_LISTS, "nowhere") or key.isdigit():
            pairs = [*filter(_is_sentence, value)] if key in _LISTS else [value]
            yield from (
                (english(pair), "" if isinstance(pair, str) else pair[1]) for pair in pairs
            )


def _is_sentence(step: str | list[str]) -> bool:
    """Whether it is no name of a step in steps.toml."""
    return not isinstance(step, str) or step not in read("steps")


@functools.lru_cache(maxsize=None)
def _chinese() -> dict[str, str]:
    return {en: zh for name in (*ROWS, *OTHERS) for en, zh in texts(name)}


def say(text: str, language: str = ENGLISH, /, **values: Any) -> str:
    """A text of these files in a language, with its {names} filled; English where it has no
    other."""
    said = _chinese().get(text, text) if language == CHINESE else text
    return said.format(**values) if values else said
