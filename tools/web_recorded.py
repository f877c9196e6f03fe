# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the page plays before a firmware is dropped: its examples, run on the stand-in while the
page is built. dev.py web writes files() into the page.

A recording is what the command printed, how it ended, and the run's record (docs/record.md).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / name) for name in ("tools", "lib", "port_shims")]

from maixmem_cli.emulator.session import Options  # noqa: E402
from maixmem_cli.firmware.builds import FIRMWARES  # noqa: E402
from maixmem_cli.kmodel import example  # noqa: E402
from maixmem_cli.record import as_json  # noqa: E402
from maixmem_cli.runs import recorded  # noqa: E402

BUILD = FIRMWARES["full"]
BESIDE = 850 << 10  # a camera, what the first works with, half of what the second does
#: the models of the examples, by address
AT = {0x300000: "classes.kmodel", 0x600000: "faces.kmodel"}
#: the hang, and the same mended
SCRIPTS = ("two_models", "two_models_maixmem")


def files() -> dict[str, bytes]:
    """{name in the page: its bytes}."""
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        for name in AT.values():
            (folder / name).write_bytes(example.data(((BUILD.heap or 0) - BESIDE) // 2))
        return {
            f"recorded/{name}.json": json.dumps(_recording(name, folder)).encode()
            for name in SCRIPTS
        }


def _recording(name: str, folder: Path) -> dict[str, Any]:
    script = ROOT / "examples" / "page" / f"{name}.py"
    models = tuple((at, folder / file) for at, file in AT.items())
    found = recorded.run(script, recorded.Place(BUILD, None, Options(files=models)))
    board = replace(found.board, flash={f"{at:#x}": file.name for at, file in models})
    words = [sys.executable, "-m", "maixmem_cli", "sim", str(script), "--firmware", BUILD.name]
    for at, file in models:
        words += ["--flash", f"{file.name}@{at:#x}"]
    done = subprocess.run(words, check=False, cwd=folder, capture_output=True, text=True)
    return {
        "script": script.read_text(encoding="utf-8"),
        "console": done.stdout,
        "answer": done.stderr,
        "status": done.returncode,
        "record": json.loads(as_json.write(replace(found, board=board))),
    }


if __name__ == "__main__":
    for file, data in files().items():
        print(file, len(data), data.decode()[:2000])
