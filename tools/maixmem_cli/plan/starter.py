# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a new program begins with: a whole project for a board, or its project file alone."""

from __future__ import annotations

import re
from pathlib import Path

from maixmem_cli.firmware.boards import BOARDS, Board
from maixmem_cli.kmodel import example
from maixmem_cli.plan.program import project

_FILES = Path(__file__).with_name("starter_files")
_MODELS = ("one.kmodel", "two.kmodel")
_MODEL_BYTES = 24 << 10


def whole(name: str) -> dict[str, bytes]:
    """{file: content} of a project for that board."""
    found = {p.name: p.read_text(encoding="utf-8") for p in sorted(_FILES.glob("*.*"))}
    board, model = BOARDS[name], example.data(_MODEL_BYTES)
    if not board.reads_flash:
        found["main.py"] = _with_lengths(found["main.py"], len(model))
    out = {file: _filled(text, name, board).encode() for file, text in found.items()}
    return {**out, **dict.fromkeys(_MODELS, model)}


def _with_lengths(main: str, nbytes: int) -> str:
    """The script where a firmware cannot read the header of a model in flash."""
    first = "# nbytes: of the file, for firmware that cannot read its flash (M5StickV v5.1.2)\n"
    main = main.replace("models.add(", f"{first}models.add(", 1)
    return re.sub(r"(models\.add\(.*)\)", rf"\1, nbytes={nbytes})", main)


def _filled(text: str, name: str, board: Board) -> str:
    words = {"title": board.title, "board": name, "image": board.image, "kflash": board.kflash}
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text


def bare(folder: Path) -> dict[str, bytes]:
    """A project file that fits, with every key explained, and the model that it names, unless
    the folder has one of that name."""
    made = {"project.toml": project.EXAMPLE.encode()}
    if not (folder / project.EXAMPLE_MODEL).exists():
        made[project.EXAMPLE_MODEL] = example.data()
    return made
