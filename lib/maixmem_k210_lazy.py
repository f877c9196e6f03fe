# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Calls of the K210's port that few programs make: images, and the size of the GC heap. They come
in with the first of them, and stay."""

import image
from maixmem import message, run_once


def adapt(port_class) -> None:
    """Puts the calls below into the class of the K210's port."""
    port_class.new_image = new_image
    port_class.copy_into = copy_into
    port_class.set_gc_heap = set_gc_heap


def new_image(self, w: int, h: int, format: str = "rgb565"):
    """A new image of w x h pixels in the GC heap, zeroed: "rgb565" (2wh bytes) or "gray" (made
    from one, keeps 2wh)."""
    img = image.Image(size=(w, h))
    if format == "gray":
        return img.to_grayscale()
    if format != "rgb565":
        raise ValueError(message("new_image", format))
    return img


def copy_into(self, dst, src) -> None:
    """Copies the pixels of src into dst, an image of the same size and format. Allocates no
    pixels.

    Never keep what the firmware's copy() returns: its AI plane is not set, pix_to_ai() on it
    hangs.
    """
    try:
        src.copy(copy_to_fb=dst)
    except (AttributeError, TypeError):  # before v0.6.2-72
        type(self).copy_into = _draw
        _draw(self, dst, src)


def _draw(self, dst, src):
    """The same bytes; allocates nothing either."""
    dst.draw_image(src, 0, 0)


def set_gc_heap(self, nbytes: int) -> str:
    """Stores a new GC heap size and reads it back; it is active after a hard reset. Returns that
    advice.

    ValueError for a size that would not boot, fall back to 128 KiB or leave the system heap too
    small; OSError when the firmware did not keep the value. Writes /flash/freq.conf; resets
    nothing.
    """
    return run_once("k210_gc", "set_gc_heap", nbytes)
