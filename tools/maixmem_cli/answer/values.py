# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The values that facts have, as a sentence shows them, and conditions on them.

A condition is a text: "NAME" is known, "no NAME" is not, "NAME = this|that" has one of these,
"NAME != this|that" is known and has none of them, "NAME > OTHER" and the like compare numbers.
"ONE|OTHER" before the sign: it holds for one of them.
"""

from __future__ import annotations

import operator
import re
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Union

from maixmem_report import kib

Value = Union[str, int, tuple[str, ...]]
Facts = Mapping[str, Value]

_CONDITION = re.compile(r"([\w|]+) (=|!=|<=|>=|<|>) (.+)")
_ORDERED: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


class Bytes(int):
    """A number of bytes: KiB or MiB in a sentence."""

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else kib(int(self))


class Address(int):
    """An address: hexadecimal in a sentence."""

    def __format__(self, spec: str) -> str:
        return format(int(self), spec or "#x")


def holds(condition: str, facts: Facts) -> bool:
    """Whether a condition is known to hold."""
    found = _CONDITION.fullmatch(condition)
    if not found:
        wanted = condition.rpartition(" ")[2].split("|")
        return any(name in facts for name in wanted) != condition.startswith("no ")
    listed, sign, right = found.groups()
    return any(_compares(name, sign, right, facts) for name in listed.split("|"))


def _compares(name: str, sign: str, right: str, facts: Facts) -> bool:
    if name not in facts:
        return False
    if sign in ("=", "!="):
        return (str(facts[name]) in right.split("|")) == (sign == "=")
    left, other = facts[name], int(right) if right.isdigit() else facts.get(right)
    if not isinstance(left, int) or not isinstance(other, int):
        return False
    return _ORDERED[sign](left, other)


def all_hold(conditions: Iterable[str], facts: Facts) -> bool:
    """Whether each of them does."""
    return all(holds(condition, facts) for condition in conditions)


def names(text: str) -> set[str]:
    """The names of the values that a sentence wants."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def sentence(texts: Iterable[str], facts: Facts, words: Mapping[str, str], comma: str) -> str:
    """The first of these sentences whose values are all known, with them; "" where none is."""
    for text in texts:
        wanted = names(text)
        if wanted <= facts.keys():
            shown = {name: _shown(facts[name], words, comma) for name in wanted}
            return text.format(**shown)
    return ""


def _shown(value: Value, words: Mapping[str, str], comma: str) -> str | int:
    if isinstance(value, tuple):
        return comma.join(words.get(part, part) for part in value)
    return words.get(value, value) if isinstance(value, str) else value
