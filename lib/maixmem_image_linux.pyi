# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from maixmem_image import ImageRule

MAIXCAM: ImageRule
VPC_310: ImageRule
VPC_310P: ImageRule
VPC_910: ImageRule
JPEGD_310: ImageRule
JPEGD_310P: ImageRule
JPEGE: ImageRule
PNGD: ImageRule
