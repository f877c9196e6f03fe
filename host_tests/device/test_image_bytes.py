# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Image, camera and display sizes: vectors of the manuals and of the firmware (v0.6.2_84)."""

from devtest import raises
from maixmem_image import (
    CIRCUITPYTHON,
    K230,
    MAIXPY,
    OPENMV,
    bitmap_format,
    camera_bytes,
    image_bytes,
    lcd_bytes,
    pool_bytes,
    strides,
)

# (rule, width, height, format, row stride in bytes or None, rows or None, bytes)
VECTORS = (
    (MAIXPY, 320, 240, "rgb565", 640, 240, 153600),
    (MAIXPY, 320, 240, "rgb565_ai", 960, 240, 230400),
    (MAIXPY, 64, 64, "rgb565", 128, 64, 8192),
    (MAIXPY, 64, 64, "rgb565_ai", 192, 64, 12288),
    (MAIXPY, 160, 120, "rgb565_ai", 576, 120, 69120),
    (MAIXPY, 160, 120, "gray", 160, 120, 19200),
    (MAIXPY, 160, 120, "gray_ai", 160, 120, 19200),
    (MAIXPY, 33, 10, "binary", 8, 10, 80),
    (MAIXPY, 32, 10, "binary", 4, 10, 40),
    (MAIXPY, 10, 10, "bayer", 10, 10, 100),
    (OPENMV, 65, 2, "binary", 12, 2, 24),
    (OPENMV, 320, 240, "yuv422", 640, 240, 153600),
    (K230, 1920, 1080, "rgb888", 5760, 1080, 6220800),
    (K230, 1920, 1080, "yuv420", 1920, 1080, 3110400),
    (K230, 640, 480, "argb8888", 2560, 480, 1228800),
    (CIRCUITPYTHON, 9, 3, "1bit", 4, 3, 12),
    (CIRCUITPYTHON, 33, 3, "1bit", 8, 3, 24),
    (CIRCUITPYTHON, 320, 240, "4bit", 160, 240, 38400),
    (CIRCUITPYTHON, 321, 240, "16bit", 644, 240, 154560),
)


def test_vectors():
    for rule, w, h, name, row, rows, nbytes in VECTORS:
        assert image_bytes(w, h, name, rule) == nbytes, (w, h, name, image_bytes(w, h, name, rule))
        assert row is None or strides(w, h, name, rule) == (row, rows), (
            w,
            h,
            name,
            strides(w, h, name, rule),
        )


def test_every_format_of_every_rule_is_exact_on_whole_units():
    for rule in (MAIXPY, OPENMV, K230):
        for name in rule.formats:
            _, bits, planes, per = rule.formats[name]
            assert (
                image_bytes(128, 64, name, rule)
                == 128 * 64 * bits // 8 * planes // per + rule.extra
            ), name


def test_starts():
    assert MAIXPY.start == 1


def test_pool():
    assert pool_bytes(100, 3) == 300


def test_camera_and_display():
    assert [camera_bytes(320, 240), camera_bytes(320, 240, True)] == [384000, 768000]
    assert [camera_bytes(640, 480), camera_bytes(1280, 1024)] == [1536000, 6553600]
    assert camera_bytes(160, 120) == 96000
    assert camera_bytes(7, 5) == 128 + 128
    assert lcd_bytes() == 153600


def test_bitmap_formats():
    assert [bitmap_format(n) for n in (1, 2, 3, 4, 5, 16, 17, 256, 257, 65536)] == [
        "1bit", "1bit", "2bit", "2bit", "4bit", "4bit", "8bit", "8bit", "16bit", "16bit",
    ]  # fmt: skip
    for wrong in (0, -1, 65537):
        raises(ValueError, bitmap_format, wrong)


def test_wrong_questions():
    e = raises(ValueError, image_bytes, 10, 10, "rgb888")
    assert "rgb888" in str(e) and "rgb565" in str(e)
    for w, h in ((0, 1), (1, 0), (-1, 5)):
        raises(ValueError, image_bytes, w, h, "gray")


def test_sizes_are_whole_numbers():
    for w, h in ((320 / 2, 240), (320, 120.5), (0, 240), (320, -1), ("320", 240)):
        for f in (camera_bytes, lcd_bytes):
            e = raises(ValueError, f, w, h)
            assert "{!r}x{!r}".format(w, h) in str(e) and "//" in str(e), e
        for f in (strides, image_bytes):
            e = raises(ValueError, f, w, h, "rgb565")
            assert "{!r}x{!r}".format(w, h) in str(e) and "//" in str(e), e
