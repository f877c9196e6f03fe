# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the page plays before a firmware is dropped: an example that hangs, its answer, and the
same script with the step of that answer, all run on the stand-in while the page is built. dev.py
web writes files() into the page.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / name) for name in ("tools", "lib", "port_shims")]

from maixmem_cli.answer import answer as answers  # noqa: E402
from maixmem_cli.answer import as_html, facts, tables  # noqa: E402
from maixmem_cli.emulator.session import Options  # noqa: E402
from maixmem_cli.firmware.builds import FIRMWARES  # noqa: E402
from maixmem_cli.kmodel import example  # noqa: E402
from maixmem_cli.record.record import Level, Record  # noqa: E402
from maixmem_cli.runs import recorded  # noqa: E402
from maixmem_cli.text.language import LANGUAGES  # noqa: E402

BUILD = FIRMWARES["full"]
BESIDE = 850 << 10  # a camera, what the first works with, half of what the second does
#: the models of the example, by address
AT = {0x300000: "classes.kmodel", 0x600000: "faces.kmodel"}
SCRIPT = ROOT / "examples" / "page" / "two_models.py"
REMEDY, CHANGE = "auto", "import maixmem_auto\n"  #: of answer/remedies.toml, and what it adds


def files() -> dict[str, bytes]:
    """{name in the page: its bytes}."""
    source = SCRIPT.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        for name in AT.values():
            (folder / name).write_bytes(example.data(((BUILD.heap or 0) - BESIDE) // 2))
        hangs = _run(source, folder)
        runs = _run(CHANGE + source, folder)
    if not hangs["found"].end.hangs or runs["status"]:
        raise ValueError(f"{SCRIPT.name} has to hang, and run with {CHANGE.strip()}")
    told = {"build": BUILD.name, "hangs": hangs, "runs": runs}
    told["answer"] = {name: _answer(hangs["found"], source, name) for name in LANGUAGES}
    for run in (hangs, runs):
        del run["found"]
    return {"recorded/example.json": json.dumps(told, ensure_ascii=False).encode()}


def _run(source: str, folder: Path) -> dict[str, Any]:
    """What a run printed, how it ended, and both heaps after each step."""
    script = folder / SCRIPT.name
    script.write_text(source, encoding="utf-8")
    models = tuple((at, folder / file) for at, file in AT.items())
    found = recorded.run(script, recorded.Place(BUILD, None, Options(files=models)))
    words = [sys.executable, "-m", "maixmem_cli", "sim", script.name, "--firmware", BUILD.name]
    for at, file in models:
        words += ["--flash", f"{file}@{at:#x}"]
    done = subprocess.run(words, check=False, cwd=folder, capture_output=True, text=True)
    return {
        "found": found,
        "script": source,
        "console": done.stdout,
        "status": done.returncode,
        "steps": list(_steps(found)),
    }


def _steps(found: Record) -> Any:
    """After each step its line, and of both heaps the bytes in use and in all; at the end what a
    refused allocation requested."""
    for step in found.steps:
        line = next((p.line for p in step.at if p.file == found.script), 0)
        if step.gc and step.heap and not step.failed:
            yield {"line": line, "kind": step.kind, "gc": _in_use(step.gc)} | {
                "heap": _in_use(step.heap)
            }
    refused = found.end.refused
    if refused and refused.at:
        line = next((p.line for p in refused.at if p.file == found.script), 0)
        yield {"line": line, "kind": "refused", "heap_of": refused.heap, "asked": refused.asked}


def _in_use(level: Level) -> list[int]:
    return [level.total - level.free, level.total]


def _answer(found: Record, source: str, language: str) -> str:
    """The answer to a hang, its first step the one that was run after it."""
    old, new = (text.splitlines(keepends=True) for text in (source, CHANGE + source))
    diff = "".join(difflib.unified_diff(old, new, SCRIPT.name, SCRIPT.name, n=1))
    text = tables.remedy_text(REMEDY, language)
    step = answers.Step(REMEDY, text, answers.PROVED, diff)
    return as_html.fragment(answers.answer(facts.of_record(found), language).first(step))


if __name__ == "__main__":
    for file, data in files().items():
        print(file, len(data), data.decode())
