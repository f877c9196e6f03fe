# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem sim as a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import paths
import pytest


@pytest.fixture
def sim(tmp_path: Path):
    """Runs a script with maixmem sim; (exit status, stdout, stderr)."""

    def run(source: str, *options: str) -> tuple[int, str, str]:
        script = tmp_path / "script.py"
        script.write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "maixmem_cli", "sim", str(script), *options]
        done = subprocess.run(
            command, cwd=paths.TOOLS, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return run
