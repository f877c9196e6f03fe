# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the page plays before a firmware is dropped: an example that hangs, its answer, and the
same script with the change that `maixmem cure` finds, all run on the stand-in while the page is
built. dev.py
web writes files() into the page.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / name) for name in ("tools", "lib", "port_shims")]

from maixmem_cli.answer import as_html, facts  # noqa: E402
from maixmem_cli.emulator.session import Options  # noqa: E402
from maixmem_cli.firmware.builds import FIRMWARES  # noqa: E402
from maixmem_cli.kmodel import example  # noqa: E402
from maixmem_cli.plan import advice, tried  # noqa: E402
from maixmem_cli.record.record import Level, Record  # noqa: E402
from maixmem_cli.runs import recorded, trials  # noqa: E402
from maixmem_cli.text.language import LANGUAGES  # noqa: E402

BUILD = FIRMWARES["full"]
BESIDE = 850 << 10  # a camera, what the first works with, half of what the second does
#: the models of the example, by address
AT = {0x300000: "classes.kmodel", 0x600000: "faces.kmodel"}
SCRIPT = ROOT / "examples" / "page" / "two_models.py"


def files() -> dict[str, bytes]:
    """{name in the page: its bytes}."""
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        for name in AT.values():
            (folder / name).write_bytes(example.data(((BUILD.heap or 0) - BESIDE) // 2))
        source = SCRIPT.read_text(encoding="utf-8")
        hangs = _run(source, folder)
        changed, answers = _cured(hangs["found"], folder / SCRIPT.name, source)
        runs = _run(changed, folder)
    if not hangs["found"].end.hangs or runs["status"]:
        raise ValueError(f"{SCRIPT.name} has to hang, and run with a change")
    told = {"build": BUILD.name, "hangs": hangs, "runs": runs, "answer": answers}
    for run in (hangs, runs):
        del run["found"]
    return {"recorded/example.json": json.dumps(told, ensure_ascii=False).encode()}


def _cured(found: Record, script: Path, source: str) -> tuple[str, dict[str, str]]:
    """The script with the first change with which it runs, and its answer in each language."""
    bench = tried.Bench(trials.Trials(_place(script.parent)))
    made = {name: one for name in LANGUAGES if (one := advice.of_run(found, name))}
    changes = tried.candidates(source, facts.of_record(found), bench)
    failed = []
    for edit, after in tried.runs([changes], script, found, bench, 1):
        if trials.cured(found, after):
            break
        failed.append(edit.kind)
    else:
        raise ValueError(f"{SCRIPT.name}: no change runs")
    answers = {}
    for name, one in made.items():
        left = tried.without(one, failed)
        answers[name] = as_html.fragment(tried.with_step(left, edit, source, script.name, after))
    return edit.source, answers


def _place(folder: Path) -> recorded.Place:
    models = tuple((at, folder / file) for at, file in AT.items())
    options = Options(files=models, seconds=trials.SECONDS, begin=trials.BEGIN)
    return recorded.Place(BUILD, None, options)


def _run(source: str, folder: Path) -> dict[str, Any]:
    """What a run printed, how it ended, and both heaps after each step."""
    script = folder / SCRIPT.name
    script.write_text(source, encoding="utf-8")
    place = _place(folder)
    found = recorded.run(script, place)
    words = [sys.executable, "-m", "maixmem_cli", "sim", script.name, "--firmware", BUILD.name]
    for at, file in place.options.files:
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


if __name__ == "__main__":
    for file, data in files().items():
        print(file, len(data), data.decode())
