# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board in software under the address and undefined-behaviour sanitizers: boot, model,
inference, camera, SD."""

from __future__ import annotations

import tempfile
from pathlib import Path

import emulated
import sanitized
from emulated import each_image, needs_cc, only_thorough, started
from maixmem_cli.emulator import pictures, sd_image

pytestmark = [needs_cc, only_thorough]

_WORK = """
import sensor, lcd, os
import KPU as kpu
lcd.init()
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
img = sensor.snapshot()
lcd.display(img)
net = kpu.load(0x300000)
small = img.resize(128, 128)
small.pix_to_ai()
out = kpu.forward(net, small)
kpu.deinit(net)
f = open('/sd/new', 'w')
f.write('x' * 3000)
f.close()
print(os.stat('/sd/new')[6])
"""


@each_image
def test_clean_under_sanitizers(image: Path) -> None:
    files = ((0x300000, emulated.model("v3_face_ld5.kmodel")),)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.txt").write_text("a")
        card = sd_image.build(Path(folder))
    camera = pictures.film(pictures.PATTERN)
    with started(image, files, camera=camera, sd=card, core=sanitized.core()) as (board, repl):
        assert repl.check(_WORK, timeout=400).split()[-1] == "3000"
        said = board.said()
    assert "Sanitizer" not in said and "runtime error" not in said, said
