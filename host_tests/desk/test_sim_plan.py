# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where a script hangs, sim says by the plan which order fits, or else the cheapest change."""

from __future__ import annotations

from pathlib import Path

from maixmem_cli.firmware.builds import FIRMWARES, GC_DEFAULT
from maixmem_cli.kmodel import example
from maixmem_cli.plan.of_script import cures

_CAMERA_FIRST = """
import sensor, KPU as kpu
sensor.reset()
sensor.set_framesize(sensor.QVGA)
task = kpu.load(0x300000)
"""


def _cures(folder: Path, nbytes: int, source: str = _CAMERA_FIRST) -> list[str]:
    script, model = folder / "main.py", folder / "a.kmodel"
    script.write_text(source)
    data = bytearray(example.data(nbytes))
    for at in (20, 32):  # main memory, and the end of the output in it
        data[at : at + 4] = (20000).to_bytes(4, "little")
    model.write_bytes(data)
    return cures(script, FIRMWARES["full"], {0x300000: model}, GC_DEFAULT)


def test_the_order_is_the_first_cure_where_it_is_enough(tmp_path: Path) -> None:
    assert _cures(tmp_path, 1_850_000) == ["make them in the order models, camera"]


def test_what_no_order_cures_gets_what_costs(tmp_path: Path) -> None:
    found = _cures(tmp_path, 2_150_000)
    assert found and not [text for text in found if "order" in text]


def test_what_fits_and_what_is_no_script_get_nothing(tmp_path: Path) -> None:
    assert _cures(tmp_path, 400_000) == []
    assert _cures(tmp_path, 1_850_000, "print('\n") == []
