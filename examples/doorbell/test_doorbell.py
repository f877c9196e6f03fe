# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The doorbell on a simulated board. `pytest examples/doorbell`, with conftest.py beside this
file."""

import os
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("main.py")


@pytest.fixture
def model():
    """The model of project.toml, or the one that $DOORBELL_MODEL names."""
    path = Path(os.environ.get("DOORBELL_MODEL", SCRIPT.with_name("face.kmodel")))
    if not path.is_file():
        pytest.skip(f"no {path}: put a face detection model there, or name one in $DOORBELL_MODEL")
    return path


def test_it_runs_on_the_full_build(k210, model):
    k210.power_on("full", models={0x300000: model})
    names = k210.run(SCRIPT, frames=20)
    assert names["frames"] == 20
    assert list(k210.models()) == ["0x300000"]
    assert k210.lowest() > 262274  # reading flash needs that much besides


def test_it_says_that_the_model_is_missing(k210):
    k210.power_on("full")
    with pytest.raises(ValueError, match="load error:2002"):
        k210.run(SCRIPT, frames=1)


def test_it_does_not_start_with_a_model_inside_the_firmware(k210, model):
    with pytest.raises(k210.DeviceCrash, match="does not start"):
        k210.power_on("full", models={0x200000: model})


def test_a_camera_that_fails_ends_it(k210, model):
    k210.power_on("full", models={0x300000: model}, camera=False)
    with pytest.raises(RuntimeError, match="Reset Failed"):
        k210.run(SCRIPT, frames=1)


def test_every_step_of_the_board_may_fail_once(k210, model):
    """Nothing but the error that was put there comes out, and the board can be used again."""
    k210.power_on("full", models={0x300000: model})
    k210.run(SCRIPT, frames=1)
    for step in range(1, k210.faults.count, 3):
        k210.power_on("full", models={0x300000: model})
        k210.faults.fail(step, OSError(5))
        try:
            k210.run(SCRIPT, frames=1)
        except OSError as e:
            assert e.args == (5,)
