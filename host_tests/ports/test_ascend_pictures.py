# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Picture sizes on Ascend: the chip's rules, what the device predicts of a JPEG, and units that no
page gives a size for."""

from __future__ import annotations

import pytest
from linux_boards import shim
from maixmem_ascend.memory import AclError
from maixmem_image import image_bytes

board, ascend = shim("ascend", "ascend_board", "maixmem_ascend.port")

import acl  # noqa: E402


@pytest.fixture(autouse=True)
def power_on():
    board.reset()


def jpeg(w: int, h: int) -> bytes:
    """The header of a JPEG."""
    size = h.to_bytes(2, "big") + w.to_bytes(2, "big")
    return b"\xff\xd8\xff\xc0\0\x11\x08" + size + bytes(64)


@pytest.mark.parametrize(
    ("soc", "unit"), [("Ascend310", 128), ("Ascend310P3", 64), ("Ascend310B4", 64)]
)
def test_jpegd_rows_are_the_chip_s(monkeypatch, soc, unit):
    monkeypatch.setattr(acl, "get_soc_name", lambda: soc)
    port = ascend.Port()
    for w, h in ((300, 301), (1920, 1080), (1, 1)):
        least = image_bytes(w, h, "yuv420sp", port.rule("jpegd"))
        assert least == -(-w // unit) * unit * (-(-h // 16) * 16) * 3 // 2
        assert port.jpeg_bytes(jpeg(w, h)) == least
    assert port.jpeg_bytes(jpeg(300, 301), "yuv444sp") == 2 * port.jpeg_bytes(jpeg(300, 301))


def test_what_cannot_be_predicted(monkeypatch):
    port = ascend.Port()
    with pytest.raises(ValueError, match="one of yuv420sp, yuv422sp, yuv444sp"):
        port.jpeg_bytes(jpeg(1, 1), "rgb888")
    with pytest.raises(AclError):
        port.jpeg_bytes(b"no picture at all")
    monkeypatch.delattr(type(acl.media), "dvpp_jpeg_predict_dec_size")
    with pytest.raises(NotImplementedError, match="has no dvpp_jpeg_predict_dec_size"):
        port.jpeg_bytes(jpeg(1, 1))


@pytest.mark.parametrize("unit", ["vdec", "venc", "jpege_out", "sensor"])
def test_units_without_a_rule_are_refused_by_name(unit):
    with pytest.raises(ValueError, match=f"^{unit}: .*Next: "):
        ascend.Port().rule(unit)
