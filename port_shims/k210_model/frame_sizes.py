# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The frame sizes of MaixPy's camera."""

#: sensor.NAME -> (width, height), as sensor.width() and height() say it (asked of the firmware
#: v0.6.2_84)
SIZES = {
    "QQQQVGA": (40, 30),
    "HQQQVGA": (60, 40),
    "B64X32": (64, 32),
    "B64X64": (64, 64),
    "QQQVGA": (80, 60),
    "QQSIF": (88, 60),
    "QQCIF": (88, 72),
    "HQQVGA": (120, 80),
    "B128X64": (128, 64),
    "B128X128": (128, 128),
    "LCD": (128, 160),
    "QQVGA2": (128, 160),
    "QQVGA": (160, 120),
    "QSIF": (176, 120),
    "QCIF": (176, 144),
    "B240X240": (240, 240),
    "HQVGA": (240, 160),
    "QVGA": (320, 240),
    "SIF": (352, 240),
    "CIF": (352, 288),
    "VGA": (640, 480),
    "WVGA": (720, 480),
    "WVGA2": (752, 480),
    "SVGA": (800, 600),
    "SXGA": (1280, 1024),
    "UXGA": (1600, 1200),
}
