# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a new program begins with: a whole project for a board, or its project file alone."""

from __future__ import annotations

from pathlib import Path

from maixmem_cli.firmware.boards import BOARDS
from maixmem_cli.kmodel import example
from maixmem_cli.plan.program import project

_FILES = Path(__file__).with_name("starter_files")
_MODELS = ("one.kmodel", "two.kmodel")
_MODEL_BYTES = 24 << 10
_UNFILLED = ".in"  # behind the name of a script that is none before its words are filled in
_WHY_NBYTES = "# nbytes: of the file, for firmware that cannot read its flash (M5StickV v5.1.2)\n"


def whole(name: str) -> dict[str, bytes]:
    """{file: content} of a project for that board."""
    board, model = BOARDS[name], example.data(_MODEL_BYTES)
    words = {
        "title": board.title,
        "board": name,
        "image": board.image,
        "kflash": board.kflash,
        "why_nbytes": "" if board.reads_flash else _WHY_NBYTES,
        "nbytes": "" if board.reads_flash else f", nbytes={len(model)}",
    }
    out = {
        path.name.removesuffix(_UNFILLED): _filled(path.read_text(encoding="utf-8"), words)
        for path in sorted(_FILES.glob("*.*"))
    }
    return {**out, **dict.fromkeys(_MODELS, model)}


def _filled(text: str, words: dict[str, str]) -> bytes:
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text.encode()


def bare(folder: Path) -> dict[str, bytes]:
    """A project file that fits, with every key explained, and the model that it names, unless
    the folder has one of that name."""
    made = {"project.toml": project.EXAMPLE.encode()}
    if not (folder / project.EXAMPLE_MODEL).exists():
        made[project.EXAMPLE_MODEL] = example.data()
    return made
