# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""As calls.py: more options of its calls, another size. Not of bitmaps, which some of these calls
write beyond."""

import gc

import image

gc.disable()
COLOR = (1, 2, 3)
GRAY_TH = [(0, 60)]
TWO = [(0, 50), (100, 255)]
FAR = (0, 0, 500, 500)
PART = (10, 5, 400, 10)
FEW = (0, 0, 10, 10)
small = image.Image(size=(20, 20))

CALLS = (
    ("copy roi out", lambda i: i.copy(roi=FAR)),
    ("copy roi part", lambda i: i.copy(PART)),
    ("resize larger", lambda i: i.resize(90, 70)),
    ("resize 1", lambda i: i.resize(1, 1)),
    ("cut part", lambda i: i.cut(10, 5, 400, 10)),
    ("get_histogram roi", lambda i: i.get_histogram(roi=FEW)),
    ("get_histogram l_bins", lambda i: i.get_histogram(l_bins=8, a_bins=8, b_bins=8)),
    ("get_statistics =", lambda i: i.get_statistics(thresholds=GRAY_TH)),
    ("get_statistics [0]", lambda i: i.get_statistics()[0]),
    ("get_percentile [0]", lambda i: i.get_histogram(bins=8).get_percentile(0.5)[0]),
    ("get_pixel kept", lambda i: [i.get_pixel(1, 1) for _ in range(20)]),
    ("get_statistics kept", lambda i: [i.get_statistics() for _ in range(5)]),
    ("to_grayscale in place", lambda i: i.copy().to_grayscale(copy=False)),
    ("bins()", lambda i: i.get_histogram(bins=32).bins()),
    ("find_lines =", lambda i: i.find_lines(threshold=100, theta_margin=25, rho_margin=25)),
    ("find_qrcodes roi", lambda i: i.find_qrcodes(roi=FEW)),
    ("draw_circle =", lambda i: i.draw_circle(9, 9, 5, color=COLOR, fill=True)),
    ("draw_cross =", lambda i: i.draw_cross(9, 9, size=8, thickness=2)),
    ("draw_image =", lambda i: i.draw_image(small, 2, 2, x_scale=2.0, y_scale=2.0, alpha=128)),
    ("binary =", lambda i: i.binary(TWO, invert=True)),
    ("erode =", lambda i: i.erode(2, threshold=3)),
    ("mean =", lambda i: i.mean(2, threshold=True, offset=5, invert=True)),
    ("histeq =", lambda i: i.histeq(adaptive=True, clip_limit=3)),
    ("lens_corr =", lambda i: i.lens_corr(strength=1.2, zoom=0.8)),
    ("add number", lambda i: i.add(5)),
    ("b_or number", lambda i: i.b_or(3)),
    ("save roi", lambda i: i.save("/sd/b.bmp", roi=FEW)),
    ("Image of a file", lambda i: image.Image("/sd/b.bmp")),
    ("bytes", lambda i: bytes(i)),  # noqa: PLW0108, a call by its name
    ("bytearray", lambda i: bytearray(i)),  # noqa: PLW0108
    ("memoryview", lambda i: memoryview(i)),  # noqa: PLW0108
    ("chain", lambda i: i.resize(16, 12).to_grayscale(copy=True).get_statistics().mean()),
    ("nothing", lambda i: None),
)


def asked(name, img, call, label):
    gc.collect()
    before = gc.mem_alloc()
    try:
        kept = call(img)  # noqa: F841, until the end
    except Exception as e:
        print("@", name, label, type(e).__name__)
        return
    taken = gc.mem_alloc() - before
    gc.collect()
    print("@", name, label, taken, gc.mem_alloc() - before)


for w, h in ((64, 48), (160, 120), (96, 72)):
    for label, call in CALLS:
        img = image.Image(size=(w, h))
        asked("rgb %d %d" % (w, h), img, call, label)
        asked("gray %d %d" % (w, h), img.to_grayscale(copy=True), call, label)
