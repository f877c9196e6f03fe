# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How much of a MaixCAM2's carve-out (CMM) camera and display use, from MaixCDK's source.

sensor_bytes("os04d10")                       the frames of the sensor's pipeline
channel_bytes(640, 480, "rgb888")             frames of one camera.Camera() or add_channel()
display_bytes(640, 480)                       display.Display() that shows pictures of its size

Numbers only, for any desk. Untested on a board: read in ax_middleware.hpp (the pools of each
sensor), maix_camera_maixcam2.cpp and maix_display_maixcam2.hpp. Frames that the hardware
compresses are counted as if they were not, so these are at most; what the vendor's library makes
for the screen itself is in no source.
"""

from __future__ import annotations

from maixmem_text import tell

from maixmem_maixcam.images import image_bytes_of

_META = 4096  # COMMON_SYS_CalcPool: of each block
_NV12, _RAW10 = 12, 10  # bits a pixel
_LARGE = 2560 * 1440 * 3 // 2  # pictures from here on have three blocks on their way to the screen

# (width, height, bits of a pixel, blocks) of the common pools, then of the sensor's own.
_SMALL = ((1920, 1080, _NV12, 3), (720, 576, _NV12, 3))
SENSORS = {
    "os04a10": ((2688, 1520, _NV12, 7), *_SMALL, (2688, 1520, _RAW10, 12)),
    "sc450ai": ((2688, 1520, _NV12, 7), *_SMALL, (2688, 1520, _RAW10, 8)),
    "os04d10": ((2560, 1440, _NV12, 11), *_SMALL, (2560, 1440, _RAW10, 16)),
    "sc850sl": ((3840, 2160, _NV12, 8), (3840, 2160, _RAW10, 5)),
}


def sensor_bytes(sensor: str) -> int:
    """Bytes of CMM, at most, that the pipeline of a sensor takes with the first camera.Camera(),
    whatever size is requested of it. ValueError for a sensor that MaixCDK does not have."""
    if sensor not in SENSORS:
        text = "no sensor {!r} in MaixCDK.\none of {1}"
        raise ValueError(tell(text, sensor, ", ".join(SENSORS)))
    return sum(
        count * (width * height * bits // 8 + _META)
        for width, height, bits, count in SENSORS[sensor]
    )


def channel_bytes(w: int, h: int, format: str = "rgb888", buff_num: int = 3) -> int:
    """Bytes of CMM, at most, of the frames of one channel of the camera: three or more, of whole
    16 pixels and 2 rows. ValueError as image_bytes()."""
    if w < 1 or h < 1:
        raise ValueError(f"channel_bytes({w}, {h}): 1 or more of each")
    return max(3, buff_num) * image_bytes_of((w + 15) // 16 * 16, (h + 1) // 2 * 2, format)


def display_bytes(
    w: int = 640, h: int = 480, format: str = "rgb888", shown: tuple[int, int] | None = None
) -> int:
    """Bytes of CMM of the frames on their way to a screen of w x h: two or three as large as the
    pictures `shown` (default: as the screen), one as large as the screen. At least: what the
    vendor's library makes besides is in no source. ValueError as image_bytes()."""
    picture = image_bytes_of(*(shown or (w, h)), format)
    return picture * (3 if picture >= _LARGE else 2) + image_bytes_of(w, h, format)
