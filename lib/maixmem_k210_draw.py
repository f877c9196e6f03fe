# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Images on firmware whose copy() takes no image (before v0.6.2-72): pixels are drawn, which
allocates nothing."""


def adapt(port_class) -> None:
    """Puts the call below into the class of the K210's port."""
    port_class.copy_into = copy_into


def copy_into(self, dst, src) -> None:
    """Draws src into dst, an image of the same size and format: the same bytes. Allocates
    nothing."""
    dst.draw_image(src, 0, 0)
