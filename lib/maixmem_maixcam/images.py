# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Image sizes of MaixCAM and MaixCAM2: the rule for maixmem_image.image_bytes().

image_bytes(640, 480, "rgb888", MAIXCAM)      925696
"""

from __future__ import annotations

from maixmem_image import ImageRule, formats, image_bytes

# maix_image.cpp: Linux heap, 4096 bytes more to move the data to the next page, always.
MAIXCAM = ImageRule(
    formats(
        "rgb888:24:1:1 bgr888:24:1:1 rgba8888:32:1:1 bgra8888:32:1:1 rgb565:16:1:1 bgr565:16:1:1 "
        "gray:8:1:1 "
        "yuv422sp:8:2:1 yuv422p:8:2:1 yvu420sp:8:3:2 yuv420sp:8:3:2 yvu420p:8:3:2 yuv420p:8:3:2 "
        "bayer6:8:3:4 bayer8:8:1:1 bayer10:8:5:4 bayer12:8:3:2"
    ),
    extra=4096,
)


def image_bytes_of(w: int, h: int, format: str) -> int:
    """The bytes of the pixels alone, without what maix.image adds to move them."""
    return int(image_bytes(w, h, format, MAIXCAM) - MAIXCAM.extra)


def camera_bytes(
    w: int,
    h: int,
    count: int = 3,
    format: str | None = None,
    frame: tuple[int, int] | None = None,
) -> int:
    """What `count` frames of w x h (buff_num of maix.camera.Camera) use of the carve-out of a
    MaixCAM, at least; of a MaixCAM2: media.py.

    The sensor's frames are yvu420sp, 12 bits a pixel, whatever format is requested; the size that
    counts is the sensor mode's, which may be larger than the frame requested. 8 of 2560x1440 were
    44 MB on a board. `format`: the one that is requested, of which the channel that scales and
    converts has as many frames again, of the size `frame` where that is another (MaixCDK's
    maix_camera_mmf.cpp, pool_num); each add_channel() has its own.
    """
    if min(w, h, count) < 1:
        raise ValueError(f"camera_bytes({w}, {h}, {count}): 1 or more of each")
    total = image_bytes_of(w, h, "yvu420sp")
    if format is not None:
        total += image_bytes_of(*(frame or (w, h)), format)
    return total * count
