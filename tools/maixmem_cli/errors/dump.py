# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The core dumps that MaixPy and the K210's SDKs print: what happened, and which known cause fits.

    core dump: fault load
    Cause 0x0000000000000005, EPC 0x000000008000116e
    reg[00](zero ) = 0x0000000000000000, reg[01](ra   ) = 0x000000008000023e

The address that was read or written is not printed: the instruction at EPC says which register
holds it, so a firmware image is needed for it (maixmem_cli.runs.dump_image).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from k210_model.heap import RAM_END, RAM_START

from maixmem_cli.errors import files
from maixmem_cli.errors.files import say
from maixmem_cli.text.language import ENGLISH

_HEAD = re.compile(r"core dump: ([a-z ]+)")
_CAUSE = re.compile(r"Cause (0x[0-9a-fA-F]+), EPC (0x[0-9a-fA-F]+)")
_REGISTER = re.compile(r"\breg\[(\d\d)\]\(([^)]*)\) = (0x[0-9a-fA-F]{1,16})")
_REACH = 8192  # characters of one dump
#: rows of the table that a dump explains
ROWS = ("core-dump", "misaligned")
_NULL = 0x10000  # a piece or two behind a null pointer


def _table() -> dict[str, Any]:
    return files.read("dump")


@dataclass
class Dump:
    """One dump; `registers` by name: zero, ra, sp ... t6."""

    what: str
    cause: int | None = None
    epc: int | None = None
    registers: dict[str, int] = field(default_factory=dict)
    address: int | None = None  #: what was read or written, where an image tells
    #: what else it tells: sentences with their values
    image: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def meaning(self, language: str = ENGLISH) -> list[str]:
        """Sentences: what happened, where, and the cause that fits, as far as it tells."""
        cause = _table()["cause"].get(str(self.cause))
        lines = [f"{self.what}: {say(cause[0], language)}" if cause else self.what]
        if self.epc is not None:
            lines.append(_at("the instruction at {at}, in {region}", language, self.epc))
        if "sp" in self.registers:
            lines.append(_at("stack: sp {at}, {region}", language, self.registers["sp"]))
        image = [_said(text, values, language) for text, values in self.image]
        fits = [say("fits: {cause}", language, cause=text) for text in self.fits(language)]
        return lines + image + fits

    def fits(self, language: str = ENGLISH) -> list[str]:
        """Known causes that this dump agrees with."""
        return [say(_table()["fits"][name]["is"], language) for name in self._causes()]

    def cures(self) -> list[str]:
        """The steps against them."""
        listed = (step for name in self._causes() for step in _table()["fits"][name]["steps"])
        return list(map(files.english, listed))

    def _causes(self) -> list[str]:
        epc, sp = self.epc, self.registers.get("sp")
        pointers = [self.registers.get(name, -1) for name in ("a0", "a1", "s0/fp", "s1")]
        read = pointers[:2] if self.address is None else [self.address]
        agrees = {
            "stack": sp is not None and not RAM_START <= sp < RAM_END,
            "jump": bool(epc) and not RAM_START <= (epc or 0) < RAM_END,
            "copy": self.cause == 1 and epc == 0 and self.registers.get("ra") == 0,
            "nothing": self.cause in (5, 7) and any(0 <= p < _NULL for p in read),
            "freed": self.cause in (4, 5, 6, 7) and any(_is_text(p) for p in pointers),
        }
        return [name for name, does in agrees.items() if does]

    def to_dict(self, language: str = ENGLISH) -> dict[str, Any]:
        return {
            "what": self.what,
            "cause": self.cause,
            "epc": self.epc,
            "registers": self.registers,
            "meaning": self.meaning(language),
        }


def region(address: int, language: str = ENGLISH) -> str:
    """What lies at an address of a K210."""
    lies = (r["is"] for r in _table()["region"] if r["lies"][0] <= address < r["lies"][1])
    return say(next(lies, files.english(_table()["nowhere"])), language)


def _said(sentence: str, values: dict[str, Any], language: str) -> str:
    own = {k: say(v, language) if isinstance(v, str) else v for k, v in values.items()}
    return say(sentence, language, **own)


def _at(sentence: str, language: str, address: int) -> str:
    return say(sentence, language, at=f"{address:#x}", region=region(address, language))


def _is_text(value: int) -> bool:
    """Whether a pointer is eight letters or so: data, not an address."""
    return value > 1 << 40 and all(0x20 <= b < 0x7F for b in value.to_bytes(8, "little"))


def read(text: str) -> list[Dump]:
    """The dumps in a text, in order; those cut off have less in them."""
    heads = list(_HEAD.finditer(text))
    found = []
    for i, head in enumerate(heads[:20]):
        end = heads[i + 1].start() if i + 1 < len(heads) else head.end() + _REACH
        body = text[head.end() : min(end, head.end() + _REACH)]
        one = Dump(head[1].strip())
        cause = _CAUSE.search(body)
        if cause:
            one.cause, one.epc = int(cause[1], 16), int(cause[2], 16)
        for _, name, value in _REGISTER.findall(body):
            one.registers.setdefault(name.strip(), int(value, 16))
        found.append(one)
    return found
