# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Whole words in a text: ERR_NO_MEM is not in ESP_ERR_NO_MEM."""

from __future__ import annotations

import functools
import re

_LETTER = "[A-Za-z0-9_]"  # of ASCII: Chinese words stand next to each other


@functools.lru_cache(maxsize=None)
def _pattern(key: str) -> tuple[str, re.Pattern[str] | None]:
    """The bare text of a key, and what finds it whole; None where both its ends are open."""
    bare = bare_of(key)
    before = f"(?<!{_LETTER})" if bare == key[: len(bare)] and _is_letter(bare[0]) else ""
    after = f"(?!{_LETTER})" if bare == key[-len(bare) :] and _is_letter(bare[-1]) else ""
    return bare, re.compile(before + re.escape(bare) + after) if before or after else None


def _is_letter(char: str) -> bool:
    return bool(re.match(_LETTER, char))


def bare_of(key: str) -> str:
    """A key without the "*" that leaves an end of it open."""
    return key.strip("*")


def has(text: str, key: str) -> bool:
    """Whether a text has a key as whole words; "*" at an end of it: letters may follow."""
    bare, pattern = _pattern(key)
    return bare in text and (pattern is None or bool(pattern.search(text)))
