# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What would make a script fit that ran out of memory: the plan of what its text shows."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from maixmem_cli.firmware.builds import Firmware
from maixmem_cli.plan.changes import cheapest
from maixmem_cli.plan.fit import fit, headers
from maixmem_cli.plan.program import project, script_reader


def cures(script: Path, build: Firmware, flash: dict[int, Path], gc_heap: int) -> list[str]:
    """The cheapest changes with which it fits that build, in words; [] where it fits as it is, or
    where its text does not tell enough."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "project.toml"
            text = script_reader.project_text(script, build.name, flash)
            path.write_text(text, encoding="utf-8")
            wanted = project.read(path, flash, build.measured())
        wanted = replace(wanted, gc_heap=gc_heap)
        infos = headers(wanted)
        answer = fit(wanted, infos)
    except (ValueError, OSError, SyntaxError):
        return []
    return [] if answer.fits else [change.text for change in cheapest(answer, infos)[0]]
