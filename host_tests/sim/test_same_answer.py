# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One answer in every command: the step of a broken script is the same in sim, fit, cure and in
what explain reads from sim's log; with it the script runs. On firmware: kits/same_answer.py."""

from __future__ import annotations

from pathlib import Path

import broken_scripts
import pytest
import same_answer
import sim_both
from emulated import THOROUGH

_SCRIPTS = [b for b in broken_scripts.scripts() if THOROUGH or b.name == "last0"]


@sim_both.needs_unix_port
@pytest.mark.parametrize("broken", _SCRIPTS, ids=lambda b: b.name)
def test_the_step_is_the_same_and_runs(
    broken: broken_scripts.Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAIXMEM_FIRMWARE", raising=False)
    found = same_answer.steps(broken, tmp_path, None)
    assert found.keys() == {"sim", "fit", "explain"}
    frames = 100 if THOROUGH else 20
    found["cure"], runs = same_answer.applied(broken, tmp_path, None, frames)
    assert len({*found.values()}) == 1 and found["cure"], found
    assert runs
