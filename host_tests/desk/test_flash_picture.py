# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The picture of a flash, whatever the names and the layout."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from maixmem_cli.flash.svg_map import draw
from maixmem_flash import FlashMap


def test_the_picture_takes_any_name_and_any_layout() -> None:
    m = FlashMap(1 << 20)
    m.add('<b>&"\x1b\x00' + "n" * 300, 0, 10, "firmware")
    m.add("far", 9 << 20, 1 << 20, "model")
    for i in range(40):
        m.add(str(i), 1000 * i, 5000, "data")
    text = "".join(ET.fromstring(draw(m)).itertext())
    assert '<b>&"' in text and "\x1b" not in text
