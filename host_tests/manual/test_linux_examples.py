# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The examples for MaixCAM and Ascend as a user runs them: a process of its own that finds its
port by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import paths
from cvimodel_build import cvimodel, program


def run(example: str, folder: str, cwd: Path, before: str, after: str) -> str:
    """What the example prints on the stand-in in port_shims/folder, between lines of Python."""
    run = f"runpy.run_path({str(paths.EXAMPLES / example)!r}, run_name='__main__')"
    script = f"{before}\nimport runpy\n{run}\n{after}\n"
    env = {"PYTHONPATH": f"{paths.LIB}:{paths.SHIMS / folder}"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_maixcam_switch(tmp_path: Path):
    for name, shared in (("detect", 200_000), ("classify", 900_000)):
        io = [("in", "UINT8", (1, 3, 100, 100))]
        (tmp_path / f"{name}.cvimodel").write_bytes(
            cvimodel([("weight", 50_000)], [program(shared=shared, inputs=io)])
        )
        (tmp_path / f"{name}.mud").write_text(
            f"[basic]\ntype = cvimodel\nmodel = {name}.cvimodel\n"
        )
    before = "import maixcam_board as board"
    out = run(
        "maixcam_switch.py",
        "maixcam",
        tmp_path,
        before,
        "print('live', board.cmm.live(), 'peak', board.cmm.peak)",
    )
    assert (
        "classify.mud: 1010000 bytes of cmm (exact)" in out
        and "detect.mud: 310000 bytes of cmm (exact)" in out
    )
    # both resident, in one block of working memory, asked for in an order in which it is made once
    assert out.index("detect.mud: 0 results") < out.index("classify.mud: 0 results")
    assert out.rstrip().endswith(f"live 0 peak {2 * (50_000 + 2 * 30_000) + 900_000}"), out


def test_ascend_switch(tmp_path: Path):
    before = (
        "import ascend_board as board\n"
        "board.add_model('detect.om', 1 << 20, 3 << 20, (75264,), (1000, 200))\n"
        "board.add_model('classify.om', 2 << 20, 1 << 20, (75264,), (4000,))"
    )
    out = run("ascend_switch.py", "ascend", tmp_path, before, "print('live', board.live())")
    assert "detect: 3145728 bytes of weights, 1048576 of work memory (estimate)" in out
    assert out.count("detect: 1200 bytes") == out.count("classify: 4000 bytes") == 3
    assert "maixmem" in out and out.rstrip().endswith("live 0")
