# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the camera's buffers take of the system heap."""

from maixmem_image import camera_bytes


def camera_blocks(w: int, h: int, dual_buff: bool = False) -> "list[int]":
    """The mallocs of sensor.set_framesize(): for each buffer the frame and its three AI planes."""
    planes = (3 * w * h + 63) // 64 * 64
    return [camera_bytes(w, h) - planes, planes] * (2 if dual_buff else 1)
