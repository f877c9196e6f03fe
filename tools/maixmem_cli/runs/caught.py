# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors that came to a line of the program and ended nothing: what they say was missing."""

from __future__ import annotations

import ast
import errno
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from maixmem_k210_chip import SPIFFS_START

from maixmem_cli.record.record import CARD, MODEL, MODULE, PLACE, Caught, Missing, Place
from maixmem_cli.runs import ending
from maixmem_cli.text import syntax
from maixmem_cli.text.numbers import MODEL_PLACES

_MOST = 40
_FLASH = "/flash/"
_NO_ERRORS = ("StopIteration", "GeneratorExit", "KeyboardInterrupt")  # of generators, and Ctrl-C
_RAISES = re.compile(r"\braise\s+\w")  # by itself: that says nothing of the board
#: a file that is to go may be gone
_GOES = re.compile(r"\b(remove|unlink|rmdir)\(")
#: a file, or what makes its name
_A_FILE = re.compile(r"[\w./%{}-]+\.\w+|/\w[\w./%{}-]*")


def error(name: str, argument: int | str | None) -> str:
    """The last line of a traceback of such an exception, as MicroPython writes it."""
    if name == "OSError" and isinstance(argument, int) and argument in errno.errorcode:
        return f"OSError: [Errno {argument}] {errno.errorcode[argument]}"
    return name if argument is None else f"{name}: {argument}"


def caught(
    found: Iterable[tuple[str, Sequence[Place], int | None]], source: str
) -> tuple[Caught, ...]:
    """Of errors that came to a line of the program, (last line of the traceback, lines, the
    innermost first, a place in flash that is blank, if one was read last), those that count: each
    once. `source`: of the script, whose names may be addresses."""
    kept: dict[tuple[object, ...], Caught] = {}
    for text, at, blank in found:
        if text.startswith(_NO_ERRORS) or (at and _RAISES.search(at[0].text)):
            continue
        missing = ending.missing(text, at)
        if missing and (missing.kind == MODULE or (at and _GOES.search(at[0].text))):
            continue  # another is imported instead, or there was nothing to remove
        if missing:
            missing = named(missing, at, source, blank)
        elif not ending.of_memory(text):
            continue
        kept.setdefault((missing, *at[:1], text), Caught(text, tuple(at), missing))
    return tuple(kept.values())[:_MOST]


def named(missing: Missing, at: Sequence[Place], source: str, blank: int | None = None) -> Missing:
    """The same with its address or its file, as the lines name it."""
    if missing.name or missing.kind not in (MODEL, CARD):
        return missing
    known = _constants(source)
    if missing.kind == MODEL and blank is not None:
        return replace(missing, name=f"{blank:#x}")
    names = (n for place in at for n in _literals(place.text, known))
    wanted = (n for n in names if missing.kind == MODEL or isinstance(n, str))
    name = next(wanted, "")
    if isinstance(name, str) and name.startswith(_FLASH) and name in _made(source, at[0].line):
        return Missing(PLACE, name)
    return replace(missing, name=f"{name:#x}" if isinstance(name, int) else name)


def _made(source: str, line: int) -> set[int | str]:
    """The files that a line opens to be written, or one before it for certain: that is in no
    function."""
    tree, known = syntax.lines(source), _constants(source)
    before = {line, *(n for n in syntax.once(source) if n < line)}
    return {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open" and node.args
        for mode in (*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode"))
        if isinstance(mode, ast.Constant) and str(mode.value)[:1] in "wax"
        for name in _literals(ast.unparse(node.args[0]), known)
        if node.lineno in before
    }


def _literals(line: str, known: dict[str, int | str]) -> Iterator[int | str]:
    """Addresses and files that a line names."""
    for node in ast.walk(syntax.lines(line)):
        value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Name):
            value = known.get(node.id)
        if type(value) is int and value in MODEL_PLACES:
            yield value
        elif isinstance(value, str) and _A_FILE.fullmatch(value):
            yield value


def _constants(source: str) -> dict[str, int | str]:
    """Names at the top of a script that are one number or one text."""
    return {
        target.id: node.value.value
        for node in syntax.lines(source).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, (int, str))
    }


def is_own(place: Place, script: Path) -> bool:
    """Whether a line is the script's, or of a module beside it."""
    beside = script.parent / f"{Path(place.file).stem}.py"
    return place.file == script.name or (bool(place.file) and beside.is_file())


def is_blank(flash: bytes | bytearray | memoryview, address: int) -> bool:
    """Whether nothing was written there, where models are."""
    return address < SPIFFS_START and bytes(flash[address : address + 4]) == b"\xff" * 4
