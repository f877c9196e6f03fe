# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem cure` on scripts broken in ten ways, on the full build; one of each way, or with
dev.py test --emulator all thirty with 100 frames."""

from __future__ import annotations

import difflib
from pathlib import Path

import broken_scripts
import pytest
from click.testing import CliRunner
from emulated import IMAGES, THOROUGH, needs_cc, needs_image
from maixmem_cli.cli import main
from maixmem_cli.firmware.builds import FIRMWARES

pytestmark = [needs_cc, needs_image]
_FULL = [p for p in IMAGES if p.stat().st_size == FIRMWARES["full"].image]
_SCRIPTS = [b for b in broken_scripts.scripts() if THOROUGH or b.name in ("last0", "window0")]


def cure(broken: broken_scripts.Broken, folder: Path, *more: str) -> tuple[int, str]:
    script = folder / f"{broken.name}.py"
    script.write_text(broken.source)
    flash = [f"--flash={path}@{address:#x}" for address, path in broken.files(folder)]
    frames = "100" if THOROUGH else "10"
    arguments = [str(script), f"--firmware={_FULL[0]}", *flash, f"--frames={frames}", *more]
    done = CliRunner().invoke(main, ["cure", *arguments])
    return done.exit_code, done.output


@pytest.mark.skipif(not _FULL, reason="NO FIRMWARE: cure not run, no full build of v0.6.2_84")
@pytest.mark.parametrize("broken", _SCRIPTS, ids=lambda b: b.name)
def test_a_broken_script_gets_a_change_that_runs(broken, tmp_path: Path) -> None:
    status, out = cure(broken, tmp_path, "--write")
    assert status == 0, out
    where, ended = out.splitlines()[:2]
    assert where.startswith("On ") and ended.rpartition(": ")[2] in broken.ends
    assert broken_scripts.kind_of(out) in broken.cured_by and "system heap" in out
    script = tmp_path / f"{broken.name}.py"
    assert (tmp_path / f"{broken.name}.py.orig").read_text() == broken.source
    changed = [
        line
        for line in difflib.ndiff(broken.source.splitlines(), script.read_text().splitlines())
        if line[:1] in "+-"
    ]
    assert changed
    assert "runs as it is" in cure_again(script, broken, tmp_path)


def cure_again(script: Path, broken, folder: Path) -> str:
    """What cure says of the cured script."""
    flash = [f"--flash={path}@{address:#x}" for address, path in broken.files(folder)]
    done = CliRunner().invoke(
        main, ["cure", str(script), f"--firmware={_FULL[0]}", *flash, "--frames=5"]
    )
    return done.output
