# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Images on firmware whose copy() takes no image (before v0.6.2-72): pixels are drawn, which allocates nothing."""

from maixmem import sentence

_NEEDED = ("draw_image", "to_grayscale", "pix_to_ai")


def adapt(port_class) -> None:
    """Puts these calls into the class of the K210's port."""
    made = port_class.new_image

    def new_image(self, w: int, h: int, format: str = "rgb565"):
        try:
            img = made(self, w, h, format)
        except AttributeError as e:
            raise NotImplementedError(sentence("missing", e))
        for name in _NEEDED:
            if not hasattr(img, name):
                raise NotImplementedError(sentence("missing", "Image." + name))
        return img

    port_class.new_image = new_image
    port_class.copy_into = copy_into


def copy_into(self, dst, src) -> None:
    """Draws src into dst, an image of the same size and format: the same bytes. Allocates nothing."""
    dst.draw_image(src, 0, 0)
