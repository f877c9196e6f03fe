# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The code blocks of README and docs/ with the output samples that follow them, and the files that
they name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import kmodel_build

_OPEN = re.compile(r"^```(\w+)$")
# of the next block: "on: NAME" says which platform it is for, "hangs" that the board does not
# survive it, "file: NAME" that the reader writes it into that file
_MARK = re.compile(r"^<!-- (?:on: (\w+)|(hangs)|file: ([\w.]+)) -->$")
# what differs from run to run: times, and the GC heap of the interpreter that is used
_MASKS = ((re.compile(r"the last \d+ ms"), "the last # ms"), (re.compile(r"^(gc  +)\[.*"), r"\1#"))

# What stands for the user's main.py: it keeps a text and makes an image each round.
MAIN = """\
import KPU as kpu
import sensor

sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
faces = kpu.load(0x600000)
log = []
for n in range(50):
    img = sensor.snapshot()
    small = img.resize(64, 64)
    log.append("pixel {}".format(small.get_pixel(32, 32)))
"""
_PROGRAM = b"\x21\xa8\xef\xbe\xad\xde"  # how a firmware begins


@dataclass
class Block:
    """A fenced block; `samples` are the indented blocks after it, in its section."""

    language: str
    platform: str
    hangs: bool
    line: int
    file: str = ""
    lines: list[str] = field(default_factory=list)
    samples: list[list[str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def blocks(page: Path) -> list[Block]:
    """Every fenced block, in order. ValueError for one without a language."""
    found: list[Block] = []
    current: Block | None = None  # the block that indented lines are output of
    platform, hangs, file, inside, last = "k210", False, "", False, ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        opened, mark = _OPEN.match(line), _MARK.match(line)
        if inside:
            inside = line != "```"
            if inside:
                found[-1].lines.append(line)
        elif opened:
            current = Block(opened[1], platform, hangs, number, file)
            found.append(current)
            platform, hangs, file, inside = "k210", False, "", True
        elif line.startswith("```"):
            raise ValueError(f"{page.name}:{number}: a block without a language")
        elif mark:
            platform, hangs, file = mark[1] or "k210", bool(mark[2]), mark[3] or ""
        elif line.startswith(("#", "    $ ")):  # a sample that shows its own command
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
    """True when the lines of the sample stand together in the output; a first or last line "..."
    stands for the rest."""
    wanted = masked("\n".join(line for line in sample if line.strip() != "..."))
    lines = masked(output)
    return any(lines[i : i + len(wanted)] == wanted for i in range(len(lines) - len(wanted) + 1))


def write_files(folder: Path, image: int = 1 << 20) -> dict[int, Path]:
    """Makes the files that the manual names in a folder; returns the flash of its board, {address:
    file}.

    maixpy.bin begins like a firmware and has `image` bytes; nothing boots from it.
    """
    wide = [("conv", n, {"halve": True}) for n in (24, 48, 96, 192)]
    built = {
        "classes": kmodel_build.v3(
            (224, 224, 3),
            [
                *wide,
                ("conv", 100, {"halve": True}),
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
    (folder / "maixpy.bin").write_bytes(_PROGRAM + bytes(image - len(_PROGRAM)))
    (folder / "main.py").write_text(MAIN)
    (folder / "card").mkdir()
    return {
        0x300000: folder / "classes.kmodel",
        0x600000: folder / "faces.kmodel",
        0x900000: folder / "stream.kmodel",
    }
