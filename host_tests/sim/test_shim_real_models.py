# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Real models on the stand-in: each is loaded and freed on one board, as was done on the firmware
(v0.6.2_84)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from paths import DEVICE_PATH, models

#: heap_free() after the load, the error code, or a hang (after which the board was reset), in this
#: order
MEASURED = {
    "full": {
        "v3_face_ld5.kmodel": "2183168",
        "v3_facedetect_fcaro.kmodel": "2027520",
        "v3_iris_436.kmodel": "2457600",
        "v3_landmark68.kmodel": "1466368",
        "v3_mask_maixpy.kmodel": "741376",
        "v3_mnist_maixpy.kmodel": "2203648",
        "v3_nn_xo.kmodel": "2330624",
        "v3_trash.kmodel": "389120",
        "v3_voc20_detect.kmodel": "806912",
        "v3_yolo_face.kmodel": "2117632",
        "v4_feature_extraction.kmodel": "1298432",
        "v4_iris_720.kmodel": "2457600",
        "v4_maix_asr.kmodel": "1617920",
        "v4_mnist_cnn.kmodel": "1802240",
        "v4_model5.kmodel": "hangs",
        "v4_ultra_face.kmodel": "1617920",
        "v5_cpu_mnist_b.kmodel": "2003",
    },
    "minimum": {
        "v3_face_ld5.kmodel": "4476928",
        "v3_facedetect_fcaro.kmodel": "4321280",
        "v3_iris_436.kmodel": "4755456",
        "v3_landmark68.kmodel": "3764224",
        "v3_mask_maixpy.kmodel": "3035136",
        "v3_mnist_maixpy.kmodel": "4501504",
        "v3_nn_xo.kmodel": "4628480",
        "v3_trash.kmodel": "2686976",
        "v3_voc20_detect.kmodel": "3100672",
        "v3_yolo_face.kmodel": "4411392",
        "v4_feature_extraction.kmodel": "2002",
        "v4_iris_720.kmodel": "2002",
        "v4_maix_asr.kmodel": "2002",
        "v4_mnist_cnn.kmodel": "2002",
        "v4_model5.kmodel": "2002",
        "v4_ultra_face.kmodel": "2002",
        "v5_cpu_mnist_b.kmodel": "2002",
    },
}

SCRIPT = """
import json, sys
import k210_board as board, KPU as kpu
from Maix import utils
firmware, flash = json.loads(sys.argv[1])
flash = {int(address): path for address, path in flash.items()}
board.reset(firmware, flash=flash)
found = []
for address in sorted(flash):
    try:
        net = kpu.load(address)
        found.append(str(utils.heap_free()))
        kpu.deinit(net)
    except ValueError as e:
        found.append(str(e).split("error:")[1][:4])
    except board.DeviceCrash:
        found.append("hangs")
        board.reset(firmware, flash=flash)
print("FOUND", json.dumps(found))
"""


def layout(folder: Path, names: list[str]) -> dict[int, str]:
    """The models one after the other in flash, each in a sector of its own."""
    flash, address = {}, 0x250000
    for name in names:
        flash[address] = str(folder / name)
        address += (folder / name).stat().st_size + 4095 & ~4095
    return flash


@pytest.mark.parametrize("firmware", sorted(MEASURED))
def test_real_models(firmware: str) -> None:
    folder = models()
    if folder is None:
        pytest.skip("no real models: set MAIXMEM_MODELS to their folder")
    expected = MEASURED[firmware]
    job = json.dumps([firmware, layout(folder, list(expected))])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, job],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, DEVICE_PATH))),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(done.stdout.split("FOUND")[1].splitlines()[0])
    assert dict(zip(expected, found)) == expected
