# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The doorbell on your own firmware, within budgets: `pytest --k210-firmware=maixpy.bin`."""

import os
from pathlib import Path

import pytest

MODEL = Path(os.environ.get("DOORBELL_MODEL", Path(__file__).with_name("face.kmodel")))


@pytest.mark.limit_heap("5M")
@pytest.mark.limit_gc("300K")
@pytest.mark.skipif(not MODEL.is_file(), reason=f"no {MODEL}: put a face detection model there")
def test_twenty_frames_within_budget(k210_firmware):
    run = k210_firmware.run("main.py", frames=20, camera="pattern", models={0x300000: MODEL})
    assert run.error == "" and run.ended == "limit"
