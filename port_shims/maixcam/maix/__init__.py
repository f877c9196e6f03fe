# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for the MaixPy v4 package: sys, err, image and nn, as far as they take memory."""

from maix import err, image, nn, sys

__all__ = ["err", "image", "nn", "sys"]
