# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytes of a project's pools and images, by the rules of maixmem_image."""

from __future__ import annotations

from dataclasses import replace

from k210_model.gc_heap import pool_size
from maixmem_image import image_bytes

from maixmem_cli.plan.program.project import Image, Pool

_OBJECT = 64  # bytes of GC heap of an image object, beside its pixels


def gc_pool(nbytes: int) -> int:
    """Usable bytes of a GC heap of so many bytes."""
    return pool_size(0, nbytes)


def pool_bytes(pool: Pool) -> int:
    """The GC heap that an ImagePool takes. A gray image keeps the rgb565 block that it was
    converted from."""
    one = image_bytes(*pool.size, "rgb565") + _OBJECT
    if pool.ai:
        one += image_bytes(*pool.size, f"{pool.format}_ai")
    return pool.count * one


def made_bytes(image: Image) -> int:
    """The GC heap of one image that the program makes as it goes (measured on the firmware
    v0.6.2_84)."""
    w, h = image.size
    if image.make == "to_grayscale":
        return 4 * w * h + _OBJECT  # pixels, and room for three planes of the AI copy
    one = image_bytes(w, h, image.format) + _OBJECT
    return one + (image_bytes(w, h, f"{image.format}_ai") if image.ai else 0)


def anew_bytes(image: Image) -> int:
    """The GC heap that an image takes while the one that it replaces still exists."""
    return made_bytes(replace(image, ai=False))
