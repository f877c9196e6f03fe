# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What find_blobs() and get_regression() find in a black picture, and how much of it is kept."""

import gc

import image


def tell(label, do):
    try:
        print("@", label, do())
    except Exception as e:
        print("@", label, type(e).__name__, e)


img = image.Image(size=(100, 80))
gray, binary = img.to_grayscale(copy=True), img.to_bitmap(copy=True)
ALL = [(0, 100, -128, 127, -128, 127)]
for one in (img, gray, binary):
    for th in (
        [(0, 0)],
        [(1, 100)],
        [(100, 0)],
        [(0,)],
        [(50,)],
        [()],
        [(-5, 5, -1, 1)],
        [(0, 10, 5, 10)],
        [(0, 10, -5, 10, 3, 3)],
        [[0, 10]],
        ((0, 10),),
        (0, 10),
        [7],
        [(0, 1, 2, 3, 4, 5, 6, 7)],
        [("a", 1)],
        [(1.5, 2)],
    ):
        tell(th, lambda: len(one.find_blobs(th)))
        tell(th, lambda: one.get_regression(th) is None)
for invert in (False, True):
    for th in (ALL, [(30, 100)], [(30, 100)] + ALL, ALL + ALL):
        tell(th, lambda: [b.code() for b in img.find_blobs(th, invert=invert)])
for name, numbers in (("area_threshold", (7821, 7822)), ("pixels_threshold", (4000, 8000, 8001))):
    for n in numbers:
        more = {name: n}
        tell(more, lambda: len(img.find_blobs(ALL, **more)))
        tell(more, lambda: img.get_regression(ALL, **more))
for roi in ((0, 0, 4, 4), (0, 0, 11, 1), (0, 0, 12, 2), (3, 5, 30, 40), (90, 70, 50, 50)):
    tell(roi, lambda: [b.rect() for b in img.find_blobs(ALL, roi=roi)])
    tell(roi, lambda: img.get_regression(ALL, roi=roi) is None)
blob, line = img.find_blobs(ALL, threshold_cb=lambda b: b.w() == 99)[0], img.get_regression(ALL)
tell("line", lambda: line)
tell("line", lambda: (line[:], line.line(), line.x1(), line.y1(), line.x2(), line.y2()))
tell("line", lambda: (line.length(), line.magnitude(), line.theta(), line.rho()))
tell("blob", lambda: (blob[:7], blob[8:], blob.rect(), blob.pixels(), blob.area(), blob.count()))
tell("blob", lambda: (blob.x(), blob.y(), blob.w(), blob.h(), blob.cx(), blob.cy(), blob.code()))
tell("blob", lambda: (int(100 * blob.density()), int(10 * blob.rotation()), str(blob)[:40]))
for what, n in ((blob, 11), (blob, -12), (line, 8), (line, -9)):
    tell(n, lambda: what[n])
    tell(n, lambda: [x for x in what])
tell("none", lambda: img.find_blobs(ALL, threshold_cb=lambda b: False))
for what in (lambda: img.find_blobs(ALL), lambda: img.get_regression(ALL)):
    kept = [None] * 10
    for i in range(5):
        what()
    gc.collect()
    before = gc.mem_alloc()
    for i in range(10):
        kept[i] = what()
    gc.collect()
    print("@ kept", (gc.mem_alloc() - before) // 10)
    kept = None
    gc.collect()
    before = gc.mem_alloc()
    for i in range(30):
        what()
    print("@ left", (gc.mem_alloc() - before) // 30)
