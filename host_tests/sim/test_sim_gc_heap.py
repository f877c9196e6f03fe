# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The GC heap after the usual imports, free and in one piece: the stand-in's is the firmware's
within 8 KiB.

Needs $MAIXMEM_FIRMWARE: files, or folders with files, of MaixPy v0.6.2_84; builds that are not
there are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
import sim_both

_NEAR = 8192
_TELL = """
from Maix import utils
print('set', utils.gc_heap_size())
"""


@pytest.mark.parametrize("heap", [128 << 10, 512 << 10, 1 << 20])
@pytest.mark.parametrize("build", ["minimum", "openmv_v4", "full", "lvgl"])
def test_free_and_largest_are_the_firmwares(build: str, heap: int, tmp_path: Path) -> None:
    image = sim_both.firmware(build)
    if image is None or not sim_both.CAN_RUN:
        pytest.skip(sim_both.NO_IMAGE)
    (tmp_path / "program.py").write_text(sim_both.ASK_GC + _TELL, encoding="utf-8")
    real, ours = (
        sim_both.run(tmp_path, "--firmware", name, "--board-heap", str(heap))
        for name in (str(image), build)
    )
    assert real[2] == ours[2] == f"set {heap}"
    for found, board in zip(ours[:2], real[:2]):
        assert abs(int(found.split()[1]) - int(board.split()[1])) <= _NEAR, (found, board)
