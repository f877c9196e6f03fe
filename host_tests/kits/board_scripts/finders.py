# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What cascades, histograms and lines through pixels take and refuse."""

import gc

import image
from Maix import utils


def tell(label, do):
    try:
        print("@", label, do(), utils.heap_free())
    except Exception as e:
        print("@", label, type(e).__name__, e)


img = image.Image(size=(160, 121))
gray, binary = img.to_grayscale(copy=True), img.to_bitmap(copy=True)
face, eye = image.HaarCascade("frontalface"), image.HaarCascade("eye")
gc.collect()
free = gc.mem_free()
counts = img.get_histogram()
gc.collect()
print("@ counts", free - gc.mem_free() >> 10)
for one in (binary, gray, img):
    tell("statistics", one.get_statistics)
    tell("bins", lambda: one.get_histogram(bins=3))
    tell("threshold", lambda: one.get_histogram().get_threshold())
    for robust in (False, True):
        tell("line", lambda: one.get_regression([(1, 2)], robust=robust))
for wrong in (7, [7], [()], [(1, 2, 3, 4, 5, 6, 7)]):
    tell(wrong, lambda: img.get_regression(wrong))
for step in ("x_stride", "y_stride"):
    for name in ("find_lines", "find_circles"):
        tell(name, lambda: getattr(gray, name)(**{step: 0}))
    tell(step, lambda: gray.find_blobs([(1, 2)], **{step: 0}))
for roi in ((0, 0, 25, 25), (0, 0, 25, 24), (0, 0, 21, 21), (150, 0, 30, 30), (0, 0, 0, 0), 7):
    for cascade in (face, eye):
        tell(roi, lambda: gray.find_features(cascade, roi=roi))
for w, h in ((300, 100), (128, 64), (127, 255), (63, 130), (40, 300)):
    gray = None
    gc.collect()
    gray = image.Image(size=(w, h)).to_grayscale()
    tell((w, h), lambda: (gray.histeq(adaptive=True), gray.find_features(face))[1])
