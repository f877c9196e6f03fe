# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Image sizes of the Linux boards: vectors of the manuals."""

from __future__ import annotations

from maixmem_ascend.images import JPEGD_310, JPEGD_310P, JPEGE, PNGD, VPC_310, VPC_310P, VPC_910
from maixmem_image import image_bytes, pool_bytes, strides
from maixmem_maixcam.images import MAIXCAM

# (rule, width, height, format, row stride in bytes or None, rows or None, bytes)
VECTORS = (
    (MAIXCAM, 320, 240, "rgb888", None, None, 230400 + 4096),
    (MAIXCAM, 640, 480, "yvu420sp", None, None, 460800 + 4096),
    (MAIXCAM, 3, 3, "yuv420p", None, None, 13 + 4096),
    (MAIXCAM, 5, 5, "bayer6", None, None, 18 + 4096),
    (MAIXCAM, 5, 5, "bayer10", None, None, 31 + 4096),
    (VPC_310, 300, 301, "yuv420sp", 304, 302, 137712),
    (VPC_310, 300, 301, "rgb888", 912, 302, 275424),
    (VPC_310, 300, 301, "argb8888", 1216, 302, 367232),
    (VPC_310, 300, 301, "yuv422packed", 608, 302, 183616),
    (VPC_310, 300, 301, "yuv444packed", 912, 302, 275424),
    (VPC_310, 300, 301, "yuv422sp", 304, 302, 183616),
    (VPC_310, 300, 301, "yuv444sp", 304, 302, 275424),
    (VPC_310, 1920, 1080, "yuv420sp", 1920, 1080, 3110400),
    (VPC_310, 224, 224, "yuv420sp", 224, 224, 75264),
    (VPC_310, 300, 301, "yuv400", 304, 302, 137712),
    (VPC_910, 300, 301, "yuv400", 304, 302, 137712),
    (VPC_310P, 300, 301, "yuv400", 304, 302, 91808),
    (JPEGD_310, 1920, 1080, "yuv420sp", 1920, 1088, 3133440),
    (JPEGD_310, 300, 301, "yuv420sp", 384, 304, 175104),
    (JPEGD_310P, 300, 301, "yuv420sp", 320, 304, 145920),
    (JPEGD_310, 300, 301, "yuv422sp", 384, 304, 233472),
    (JPEGD_310, 300, 301, "yuv440sp", 384, 304, 233472),
    (JPEGD_310, 300, 301, "yuv444sp", 384, 304, 350208),
    (JPEGE, 1920, 1080, "yuv420sp", 1920, 1088, 3133440),
    (JPEGE, 300, 301, "yuv422packed", 608, 304, 184832),
    (PNGD, 300, 301, "rgb888", 1024, 304, 311296),
    (PNGD, 300, 301, "rgba8888", 1280, 304, 389120),
)


def test_vectors():
    for rule, w, h, name, row, rows, nbytes in VECTORS:
        assert image_bytes(w, h, name, rule) == nbytes, (w, h, name, image_bytes(w, h, name, rule))
        assert row is None or strides(w, h, name, rule) == (row, rows), (w, h, name)


def test_every_format_of_every_rule_is_exact_on_whole_units():
    for rule in (MAIXCAM, VPC_310, VPC_310P, JPEGD_310, JPEGD_310P, JPEGE, PNGD):
        for name in rule.formats:
            _, bits, planes, per = rule.formats[name]
            nbytes = 128 * 64 * bits // 8 * planes // per + rule.extra
            assert image_bytes(128, 64, name, rule) == nbytes, name


def test_starts():
    assert [r.start for r in (VPC_310, JPEGD_310, JPEGE, PNGD)] == [128, 128, 128, 128]


def test_jpegd_pool():
    one = image_bytes(1920, 1080, "yuv420sp", JPEGD_310)
    pools = [pool_bytes(one, n, JPEGD_310) for n in (1, 2, 3, 4)]
    assert pools == [3133440, 6267008, 9400576, 12534144]
    assert pool_bytes(100, 3, VPC_310) == 356
