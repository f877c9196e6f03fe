# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytes of a JPEG that the firmware makes: of a black picture, and of one full of detail, than
which few that a camera sees are larger. Measured (v0.6.2_84, full)."""

from k210_model.values import Any, as_int

RGB565 = 2
QUALITY = 50  #: where none is given
_GRAY = (100, 8, 8, 3, 327)
# of color: (up to this quality, width and height of a block, quarters of a byte of one, head)
_COLORED = ((35, 16, 16, 16, 610), (59, 16, 8, 10, 611), (100, 8, 8, 7, 611))
# (quality, bytes of 256 pixels) of a circuit board in focus, in 160 x 120
_DETAIL = ((0, 18), (10, 18), (30, 42), (50, 60), (75, 108), (90, 201), (100, 693))


def _kind(bpp: int, quality: int) -> tuple:
    return [row for row in (_COLORED if bpp == RGB565 else (_GRAY,)) if quality <= row[0]][0][1:]


def black(w: int, h: int, bpp: int, quality: Any) -> int:
    block_w, block_h, quarters, head = _kind(bpp, as_int(quality))
    return head + quarters * (-(-w // block_w) * -(-h // block_h)) // 4


def detailed(w: int, h: int, bpp: int, quality: Any) -> int:
    """Between the qualities that were measured on a line."""
    quality = as_int(quality)
    above = [i for i, (q, _) in enumerate(_DETAIL) if q >= quality][0]
    (low, least), (high, most) = _DETAIL[above - 1], _DETAIL[above]
    each = least + (most - least) * (quality - low) // (high - low)
    return _kind(bpp, quality)[-1] + -(-w * h // 256) * each
