# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The code blocks of a README with the output samples that follow them, and the files that they name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import kmodel_build

_OPEN = re.compile(r"^```(\w+)$")
_PLATFORM = re.compile(r"^<!-- on: (\w+) -->$")
# what differs from run to run: times, and the GC heap of the interpreter that is used
_MASKS = ((re.compile(r"the last \d+ ms"), "the last # ms"), (re.compile(r"^(gc  +)\[.*"), r"\1#"))


@dataclass
class Block:
    """A fenced block; `samples` are the indented blocks after it, in its section."""

    language: str
    platform: str
    line: int
    lines: list[str] = field(default_factory=list)
    samples: list[list[str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def blocks(readme: Path) -> list[Block]:
    """Every fenced block, in order. ValueError for one without a language."""
    found: list[Block] = []
    current: Block | None = None  # the block that indented lines are output of
    platform, inside, last = "k210", False, ""
    for number, line in enumerate(readme.read_text(encoding="utf-8").splitlines(), 1):
        opened = _OPEN.match(line)
        if inside:
            inside = line != "```"
            if inside:
                found[-1].lines.append(line)
        elif opened:
            current = Block(opened[1], platform, number)
            found.append(current)
            platform, inside = "k210", True
        elif line.startswith("```"):
            raise ValueError(f"{readme.name}:{number}: a block without a language")
        elif _PLATFORM.match(line):
            platform = _PLATFORM.match(line)[1]
        elif line.startswith("#"):
            current = None
        elif line.startswith("    ") and current and (not last or last.startswith("    ")):
            if not last:
                current.samples.append([])
            current.samples[-1].append(line[4:])
        last = line
    return found


def masked(text: str) -> list[str]:
    """Lines without what differs from run to run."""
    lines = [line.rstrip() for line in text.splitlines()]
    for pattern, mask in _MASKS:
        lines = [pattern.sub(mask, line) for line in lines]
    return lines


def shows(output: str, sample: list[str]) -> bool:
    """True when the lines of the sample stand together in the output; a last line "..." stands for the rest."""
    wanted = masked("\n".join(sample[:-1] if sample[-1].strip() == "..." else sample))
    lines = masked(output)
    return any(lines[i : i + len(wanted)] == wanted for i in range(len(lines) - len(wanted) + 1))


def write_files(folder: Path) -> dict[int, Path]:
    """Makes the files that the README names in a folder; returns the flash of its board, {address: file}."""
    wide = [("conv", n, {"halve": True}) for n in (24, 48, 96, 192)]
    built = {
        "classes": kmodel_build.v3(
            (224, 224, 3),
            [
                *wide,
                ("conv", 224, {"halve": True}),
                ("dequantize",),
                ("gap",),
                ("fc", 10),
                ("softmax",),
            ],
        ),
        "faces": kmodel_build.v3(
            (224, 224, 3),
            [*wide, ("conv", 256, {"halve": True}), ("conv", 320), ("conv", 30), ("dequantize",)],
        ),
    }
    built["stream"] = kmodel_build.swapped(built["faces"])
    for name, model in built.items():
        (folder / f"{name}.kmodel").write_bytes(model.to_bytes())
    return {
        0x300000: folder / "classes.kmodel",
        0x600000: folder / "faces.kmodel",
        0x900000: folder / "stream.kmodel",
    }
