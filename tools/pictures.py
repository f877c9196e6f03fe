# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Records the pictures of the manual, docs/pictures/*.svg: what the commands print on the code
that the manual shows.

    python3 tools/dev.py pictures

profile.svg is drawn by `maixmem profile` and needs a firmware image: MAIXMEM_FIRMWARE=maixpy.bin
(full, v0.6.2_84).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / name) for name in ("host_tests/kits", "host_tests/device", "lib")]

import readme_blocks  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
COLUMNS = 96
#: no letters from a server: the picture is the same without a network
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.S)
FORMAT = FORMAT.replace("font-family: Fira Code, monospace", "font-family: monospace")
BOARD = "--firmware full --flash 0x300000=classes.kmodel --flash 0x600000=faces.kmodel"


def output_of(command: str, folder: Path) -> str:
    """What `maixmem ...` prints, in colour."""
    words = [sys.executable, "-m", "maixmem_cli", *command.split()[1:]]
    more = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    path = os.pathsep.join(str(ROOT / name) for name in ("tools", "lib"))
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **more, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    said = done.stdout.replace("kpu_net __del__\n", "")  # the firmware at the end of a run
    return re.sub(r"\n{2,}", "\n", said).strip("\n")


def record(name: str, title: str, commands: list[str], folder: Path) -> None:
    """Runs commands and keeps the terminal as docs/pictures/NAME.svg."""
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)
    for shown in commands:
        console.print(Text(f"$ {shown.replace(BOARD, '...')}", style="bold green"))
        console.print(Text.from_ansi(output_of(shown, folder)))
        console.print()
    svg = console.export_svg(
        title=title, theme=DIMMED_MONOKAI, code_format=FORMAT, unique_id=f"maixmem-{name}"
    )
    (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")
    print(f"docs/pictures/{name}.svg")


def main() -> int:
    scripts = [b for b in readme_blocks.blocks(ROOT / "README.md") if b.language == "python"]
    project = next(
        b for b in readme_blocks.blocks(ROOT / "docs" / "fit.md") if b.language == "toml"
    )
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        readme_blocks.write_files(folder)
        for name, block in zip(("before.py", "after.py"), scripts):
            (folder / name).write_text(block.text, encoding="utf-8")
        (folder / "project.toml").write_text(project.text, encoding="utf-8")
        runs = [f"maixmem sim {name} {BOARD}" for name in ("before.py", "after.py")]
        record("demo", "two models, one board", runs, folder)
        record("fit", "will it fit?", ["maixmem fit project.toml"], folder)
        image = os.environ.get("MAIXMEM_FIRMWARE")
        if not image or not Path(image).is_file():
            print("*** profile.svg stays as it is: MAIXMEM_FIRMWARE names no firmware image")
            return 0
        shutil.copy(image, folder / "maixpy.bin")
        options = (
            "--firmware maixpy.bin --flash faces.kmodel@0x600000 --camera pattern --frames 50"
        )
        print(output_of(f"maixmem profile main.py {options} --svg profile.svg", folder))
        shutil.copy(folder / "profile.svg", PICTURES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
