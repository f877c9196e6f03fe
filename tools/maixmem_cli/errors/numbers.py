# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The numbers in a log, and what follows from them: rows/numbers.toml has the patterns, conditions
and sentences, here they are read and calculated with."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

from maixmem_cli.errors import files
from maixmem_cli.errors.files import say
from maixmem_cli.errors.table import Boards, Row, expand, named_by, says, steps_for
from maixmem_cli.errors.words import has
from maixmem_cli.text.language import ENGLISH

_COMPARISON = re.compile(r"(.+?) (<=|>=|!=|<|>) (.+)")
_COMPARE = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_SIGNED = re.compile(r"(?<![\w.-])-\d{6,10}\b")
_MODULES = {3: "MMZ", 4: "VB", 5: "SYS"}  # of a K230's media drivers
_MEDIA = 0xA0
_FRAME = re.compile(r'File "([^"\n]*)", line \d+, in (\S+)')
_MALLOC_CAP = {"spiram": 1 << 10, "internal": 1 << 11}  # of ESP-IDF: esp_heap_caps.h
_SEVERAL = "several"  # in a finding's `on`: where the log tells no board, or not which of some
_OF_MEDIA = "{code} is {hexadecimal}: {module}, error {error}"


@dataclass(frozen=True)
class Finding:
    """What numbers tell of a row."""

    means: str  #: "" of a general one
    steps: tuple[str, ...]
    only: bool  #: instead of the row's own meaning and steps
    sure: str  #: "computed" from numbers, "likely" from words
    general: bool = False  #: where no other tells anything


@functools.lru_cache(maxsize=None)
def _table() -> dict[str, Any]:
    return files.read("numbers")


@functools.lru_cache(maxsize=None)
def _patterns() -> list[re.Pattern[str]]:
    return [re.compile(number["match"]) for number in _table()["number"]]


def numbers(text: str, board: Boards) -> dict[str, float]:
    """The numbers of a log by name, the last of each, and those calculated from them."""
    found: dict[str, float] = {}
    for pattern in _patterns():
        for match in pattern.finditer(text):
            found.update({name: _number(n, name) for name, n in match.groupdict().items()})
    found.update(_series(text))
    found.update(_picture(found.get("requested", 0)))
    found.update(_capabilities(found))
    found.update(_frames(text))
    blocks = _table()["block"]
    sizes = {blocks.get(name, blocks["else"]) for name in named_by(board)}
    known = {**found, "block": min(sizes, default=blocks["else"])}
    for product in _table()["product"]:
        if all(factor in known or factor.isdigit() for factor in product["of"]):
            known[product["name"]] = prod(_value(factor, known) for factor in product["of"])
    for rest in _table()["difference"]:
        if all(term in known for term in rest["of"]):
            known[rest["name"]] = operator.sub(*(known[term] for term in rest["of"]))
    return known


def _series(text: str) -> dict[str, float]:
    """Of each number that a log prints again and again: the first, the last and how many; how
    often it fell in a row at the end, and by how much each time."""
    found: dict[str, float] = {}
    for name, patterns in _table()["series"].items():
        values = max(([_number(n) for n in re.findall(p, text)] for p in patterns), key=len)
        if values:
            fell = [a - b for a, b in zip(values, values[1:])][::-1]
            falls = next((i for i, drop in enumerate(fell) if drop <= 0), len(fell))
            drop = sum(fell[:falls]) // max(falls, 1)
            ends = {"first": values[0], "last": values[-1], "count": len(values)}
            every = {**ends, "falls": falls, "drop": drop}
            found.update({f"{name}_{key}": n for key, n in every.items()})
    return found


def _picture(nbytes: float) -> dict[str, float]:
    """The picture of a display or camera that has just so many bytes."""
    listed = _table()["picture"]
    for each in listed["bytes"]:
        for w, h in listed["sizes"]:
            if w * h * each == nbytes:
                return {"picture_w": w, "picture_h": h, "picture_bytes": each}
    return {}


def _capabilities(found: dict[str, float]) -> dict[str, float]:
    """Which memory a program in C for an ESP32 had to get, of the bits that ESP-IDF prints."""
    bits = int(found.get("caps_hex", 0))
    return {f"caps_{name}": 1 for name, bit in _MALLOC_CAP.items() if bits & bit}


def _frames(text: str) -> dict[str, float]:
    """How many calls a log's last traceback has, and how many of them are of a function that it
    has before: none, where nothing calls itself."""
    frames = _FRAME.findall(text[text.rfind("Traceback") :]) if "Traceback" in text else []
    return {"frames": len(frames), "frames_again": len(frames) - len(set(frames))}


def _number(text: str, name: str = "") -> float:
    """A whole number, hexadecimal too, stays one, so that its sentence has no point in it."""
    base = 16 if text[:2] == "0x" or name.endswith("_hex") else 10
    return float(text) if "." in text else int(text, base)


def _value(expression: str, known: dict[str, float]) -> float:
    """A name, a number, or their product."""
    return prod(_number(f) if f[0].isdigit() else known[f] for f in expression.split(" * "))


def all_hold(conditions: Iterable[str], known: dict[str, float]) -> bool:
    """Whether all comparisons are known to hold."""
    return all(_holds(condition, known) for condition in conditions)


def _holds(condition: str, known: dict[str, float]) -> bool:
    """Whether a comparison is known to hold; a heap that reports no split cannot grow."""
    match = _COMPARISON.fullmatch(condition)
    if not match:
        raise ValueError(f"no comparison: {condition}")
    known = {"split": 0, **known}
    if not known.keys() >= set(re.findall(r"[a-z]\w*", condition)):
        return False
    return bool(_COMPARE[match[2]](_value(match[1], known), _value(match[3], known)))


def findings(
    row: Row, text: str, known: dict[str, float], board: Boards, language: str = ENGLISH
) -> list[Finding]:
    """What the numbers of a log tell of one of its rows; a general one where no other does."""
    told = [
        one
        for one in _table()["finding"]
        if row.id in one["rows"]
        and _is_of(one, text, board)
        and known.keys().isdisjoint(one.get("unknown", ()))
        and all_hold(one["when"], known)
    ]
    special = [one for one in told if not one.get("general")]
    return [_filled(one, known, row.wanted(board), language) for one in special or told]


def _is_of(one: dict[str, Any], text: str, board: Boards) -> bool:
    """Whether a log is of the boards of a finding, and has one of its words and none of those
    that speak against it."""
    named, on = named_by(board), one.get("on")
    wanted = [one[key] for key in ("has", "also") if key in one]
    return bool(
        all(any(_has(text, word) for word in words) for words in wanted)
        and not any(_has(text, word) for word in one.get("without", ()))
        and (not on or (named and named <= expand(on)) or (len(named) != 1 and _SEVERAL in on))
    )


def _has(text: str, word: str) -> bool:
    kind, _, name = word.partition("says:")
    return says(text, name) if name and not kind else has(text, word)


def _filled(
    one: dict[str, Any], known: dict[str, float], wanted: frozenset[str], language: str
) -> Finding:
    names = map(files.english, one.get("steps", ()))
    texts = steps_for(names, wanted, language=language)
    return Finding(
        say(one.get("means", ""), language, **known),
        tuple(text.format(**known) for text in texts),
        one.get("only", False),
        one.get("sure", "computed" if one["when"] else "likely"),
        one.get("general", False),
    )


def decoded(text: str, language: str = ENGLISH) -> list[str]:
    """Codes that are signed numbers in a line, as manuals write them."""
    found = []
    for word in dict.fromkeys(_SIGNED.findall(text)):
        code = int(word) & 0xFFFFFFFF
        if -(1 << 31) <= int(word) < -(1 << 24):
            parts = {
                "code": word,
                "hexadecimal": f"{code:#010x}",
                "module": _MODULES.get(code >> 16 & 0xFF, f"module {code >> 16 & 0xFF}"),
                "error": f"{code & 0x1FFF:#x}",
            }
            of_media = code >> 24 == _MEDIA
            sentence = _OF_MEDIA if of_media else "{code} is {hexadecimal}"
            found.append(say(sentence, language, **parts))
    return found
