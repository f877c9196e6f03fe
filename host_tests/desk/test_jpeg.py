# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytes of a JPEG against those that the firmware made (v0.6.2_84, full)."""

from __future__ import annotations

import pytest
from k210_model import jpeg

RGB565, GRAYSCALE = 2, 1
_QUALITIES = (10, 30, 50, 75, 90, 100)
#: {(format, width, height): bytes at these qualities} of a photo of a circuit board, and of one of
#: a person at a desk
_BOARD = {
    (RGB565, 160, 120): (1635, 3326, 4808, 8708, 15649, 52573),
    (RGB565, 320, 240): (4304, 10021, 15359, 28284, 50058, 177193),
    (RGB565, 640, 480): (14184, 31267, 47367, 83055, 140257),
    (GRAYSCALE, 160, 120): (1613, 3406, 4708, 7221, 11584, 24558),
    (GRAYSCALE, 320, 240): (4855, 10694, 14836, 22269, 36907, 83620),
}
_DESK = {
    (RGB565, 160, 120): (1149, 2075, 3011, 5327, 10009, 40384),
    (RGB565, 320, 240): (2645, 5820, 9215, 17387, 32307, 135049),
    (RGB565, 640, 480): (8566, 18642, 29121, 53287, 94737, 416346),
}
_RAMP = {
    (RGB565, 160, 120): (1014, 1356, 1489, 2218, 3430, 13249),
    (RGB565, 320, 240): (1916, 2136, 2969, 4950, 9951, 41784),
    (GRAYSCALE, 160, 120): (639, 816, 862, 977, 1166, 2275),
    (GRAYSCALE, 320, 240): (1429, 1684, 2179, 2456, 3139, 8066),
}


@pytest.mark.parametrize("measured", [_BOARD, _DESK, _RAMP], ids=["board", "desk", "ramp"])
def test_pictures_lie_between_black_ones_and_those_full_of_detail(
    measured: dict[tuple[int, int, int], tuple[int, ...]],
) -> None:
    for (bpp, w, h), sizes in measured.items():
        for quality, nbytes in zip(_QUALITIES, sizes):
            least, most = (f(w, h, bpp, quality) for f in (jpeg.black, jpeg.detailed))
            assert least < nbytes <= most, (bpp, w, h, quality)


def test_what_is_full_of_detail_is_no_more_than_it_was_seen_to_be() -> None:
    for (bpp, w, h), sizes in _BOARD.items():
        for quality, nbytes in zip(_QUALITIES[:5], sizes):
            assert jpeg.detailed(w, h, bpp, quality) < 2 * nbytes, (bpp, w, h, quality)


def test_qualities_between_those_that_were_measured_lie_between() -> None:
    sizes = [jpeg.detailed(320, 240, RGB565, quality) for quality in range(1, 101)]
    assert sizes == sorted(sizes) and len(set(sizes)) > 80


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ((160, 120), {1: 930, 35: 930, 36: 985, 50: 986, 59: 986, 60: 1136, 90: 1136, 100: 1138}),
        ((320, 240), {1: 1810, 30: 1810, 50: 2111, 75: 2711, 90: 2711, 100: 2713}),
        ((100, 75), {1: 750, 30: 750, 50: 786, 75: 838, 90: 839, 100: 840}),
    ],
)
def test_black_pictures_are_as_the_firmwares(
    size: tuple[int, int], wanted: dict[int, int]
) -> None:
    for quality, nbytes in wanted.items():
        assert abs(jpeg.black(*size, RGB565, quality) - nbytes) <= 2
    gray = {(160, 120): 552, (320, 240): 1227}.get(size)
    assert gray is None or {jpeg.black(*size, GRAYSCALE, q) for q in wanted} == {gray}
