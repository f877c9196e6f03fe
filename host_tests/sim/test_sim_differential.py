# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""200 random sequences of calls that take memory: the stand-in's heap_free() after each is that of
the real firmware.

Needs $MAIXMEM_FIRMWARE: files, or folders with files, of MaixPy v0.6.2_84 (full build)."""

from __future__ import annotations

from pathlib import Path

import kmodel_build
import pytest
import sim_both
import sim_sequences

ROUNDS, LENGTH, PROGRAMS = 10, 12, 20


FULL = sim_both.firmware("full")
pytestmark = pytest.mark.skipif(FULL is None or not sim_both.CAN_RUN, reason=sim_both.NO_IMAGE)


@pytest.mark.parametrize("seed", range(1, PROGRAMS + 1))
def test_sequences_are_equal(seed: int, tmp_path: Path) -> None:
    program = sim_sequences.program(seed, ROUNDS, LENGTH)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    flash = []
    for address, layers in ((0x300000, 190000), (0x400000, 350000)):
        path = tmp_path / f"{address:x}.kmodel"
        model = kmodel_build.v3((28, 28, 1), [("conv", 16), ("raw", 15, layers)])
        path.write_bytes(model.to_bytes())
        flash += ["--flash", f"{address:#x}={path}"]
    real = sim_both.run(tmp_path, "--firmware", str(FULL), "--camera", "pattern", *flash)
    assert len(real) == ROUNDS * (LENGTH + 1)
    assert sim_both.run(tmp_path, "--firmware", "full", *flash) == real
