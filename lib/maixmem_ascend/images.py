# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Picture sizes of Ascend's units: rules for maixmem_image.image_bytes().

image_bytes(1920, 1080, "yuv420sp", JPEGD_310)      3133440
"""

from __future__ import annotations

from maixmem_image import ImageRule, formats

# The row stride is in bytes and has the bytes of a packed pixel in it already: they are not
# multiplied in again (the manual's "widthStride*heightStride" for ARGB8888 is right only so).
# yuv400 takes 3/2 on 310 and 910 by the pyACL manual, 1 on 310P by the hi_mpi manual: the
# generation decides.
_VPC = "yuv420sp:8:3:2 yuv422sp:8:2:1 yuv444sp:8:3:1 yuv422packed:16:1:1 yuv444packed:24:1:1 "
_VPC += "rgb888:24:1:1 bgr888:24:1:1 argb8888:32:1:1 "
VPC_310 = ImageRule(formats(_VPC + "yuv400:8:3:2", 16), start=128, rows=2)
VPC_310P = ImageRule(formats(_VPC + "yuv400:8:1:1", 16), start=128, rows=2)
VPC_910 = VPC_310
# JPEGD output; on 310P and 200I rows are of 64. In one block each picture starts at round128(size
# + 8) after the one before (the guide's pool formula; the acldvppMalloc page's 64-byte starts
# would break JPEGD's 128).
_JPEGD = formats("yuv420sp:8:3:2 yuv422sp:8:2:1 yuv440sp:8:2:1 yuv444sp:8:3:1")
JPEGD_310 = ImageRule(_JPEGD, start=128, row=128, rows=16)
JPEGD_310P = ImageRule(_JPEGD, start=128, row=64, rows=16)
JPEGD_310.gap = JPEGD_310P.gap = 8
# JPEGE input: one page has h rows, the other h rounded up to 16: the larger. PNGD output: one page
# asks no start for its input, the other 128: the larger.
JPEGE = ImageRule(formats("yuv420sp:8:3:2 yuv422packed:16:1:1"), start=128, row=16, rows=16)
PNGD = ImageRule(formats("rgb888:24:1:1 rgba8888:32:1:1"), start=128, row=128, rows=16)
