# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytes of the GC heap that each call of an image takes, before anything is collected, and those
that stay with its result."""

import gc

import image

gc.disable()
W = (0, 0, 40, 30)
COLOR = (1, 2, 3)
FONT = b"12345678"
LINE = (1, 2, 30, 20)
KERNEL = (-1, -1, -1, -1, 8, -1, -1, -1, -1)
TH = [(0, 100, -10, 10, -10, 10)]
GRAY_TH = [(0, 60)]
small = image.Image(size=(20, 20))

CALLS = (
    ("width", lambda i: i.width()),
    ("format", lambda i: i.format()),
    ("size", lambda i: i.size()),
    ("get_pixel", lambda i: i.get_pixel(1, 2)),
    ("get_pixel out", lambda i: i.get_pixel(999, 2)),
    ("set_pixel", lambda i: i.set_pixel(1, 2, COLOR)),
    ("[5]", lambda i: i[5]),
    ("clear", lambda i: i.clear()),
    ("copy", lambda i: i.copy()),
    ("copy roi", lambda i: i.copy(W)),
    ("copy roi=", lambda i: i.copy(roi=W)),
    ("copy scale", lambda i: i.copy(x_scale=0.5, y_scale=0.5)),
    ("crop", lambda i: i.crop(W)),
    ("cut", lambda i: i.cut(1, 2, 30, 20)),
    ("resize", lambda i: i.resize(30, 20)),
    ("resize same", lambda i: i.resize(i.width(), i.height())),
    ("to_bytes", lambda i: i.to_bytes()),
    ("to_grayscale copy", lambda i: i.to_grayscale(copy=True)),
    ("to_rgb565 copy", lambda i: i.to_rgb565(copy=True)),
    ("to_rainbow copy", lambda i: i.to_rainbow(copy=True)),
    ("to_bitmap copy", lambda i: i.to_bitmap(copy=True)),
    ("to_grayscale", lambda i: i.to_grayscale()),
    ("to_bitmap", lambda i: i.to_bitmap()),
    ("pix_to_ai", lambda i: i.pix_to_ai()),
    ("pix_to_ai twice", lambda i: (i.pix_to_ai(), i.pix_to_ai())[0]),
    ("ai_to_pix", lambda i: i.ai_to_pix()),
    ("draw_rectangle", lambda i: i.draw_rectangle(1, 2, 10, 10)),
    ("draw_rectangle =", lambda i: i.draw_rectangle(LINE, color=COLOR, thickness=2, fill=True)),
    ("draw_string", lambda i: i.draw_string(1, 2, "abc")),
    ("draw_string =", lambda i: i.draw_string(1, 2, "abc", color=COLOR, scale=2)),
    ("draw_circle", lambda i: i.draw_circle(9, 9, 5)),
    ("draw_cross", lambda i: i.draw_cross(5, 5)),
    ("draw_line", lambda i: i.draw_line(1, 2, 3, 4)),
    ("draw_line =", lambda i: i.draw_line(LINE, color=COLOR)),
    ("draw_arrow", lambda i: i.draw_arrow(1, 2, 30, 20)),
    ("draw_ellipse", lambda i: i.draw_ellipse(20, 20, 8, 5)),
    ("draw_font", lambda i: i.draw_font(1, 2, 8, 8, FONT)),
    ("draw_image", lambda i: i.draw_image(i, 0, 0)),
    ("draw_image small", lambda i: i.draw_image(small, 1, 1)),
    ("blend", lambda i: i.blend(i)),
    ("add", lambda i: i.add(i)),
    ("sub", lambda i: i.sub(i)),
    ("mul", lambda i: i.mul(i)),
    ("min", lambda i: i.min(i)),
    ("difference", lambda i: i.difference(i)),
    ("b_and", lambda i: i.b_and(i)),
    ("invert", lambda i: i.invert()),
    ("negate", lambda i: i.negate()),
    ("binary", lambda i: i.binary(GRAY_TH)),
    ("erode", lambda i: i.erode(1)),
    ("dilate", lambda i: i.dilate(1)),
    ("open", lambda i: i.open(1)),
    ("top_hat", lambda i: i.top_hat(1)),
    ("mean", lambda i: i.mean(1)),
    ("median", lambda i: i.median(1)),
    ("mode", lambda i: i.mode(1)),
    ("midpoint", lambda i: i.midpoint(1)),
    ("gaussian", lambda i: i.gaussian(1)),
    ("laplacian", lambda i: i.laplacian(1)),
    ("morph", lambda i: i.morph(1, KERNEL)),
    ("bilateral", lambda i: i.bilateral(1)),
    ("cartoon", lambda i: i.cartoon()),
    ("histeq", lambda i: i.histeq()),
    ("gamma_corr", lambda i: i.gamma_corr(1.0)),
    ("lens_corr", lambda i: i.lens_corr(1.8)),
    ("rotation_corr", lambda i: i.rotation_corr(z_rotation=90)),
    ("linpolar", lambda i: i.linpolar()),
    ("replace", lambda i: i.replace(i, hmirror=True)),
    ("conv3", lambda i: i.conv3(KERNEL)),
    ("stretch", lambda i: i.stretch(10, 200)),
    ("strech_char", lambda i: i.strech_char(1)),
    ("chrominvar", lambda i: i.chrominvar()),
    ("mean_pool", lambda i: i.mean_pool(2, 2)),
    ("mean_pooled", lambda i: i.mean_pooled(2, 2)),
    ("midpoint_pooled", lambda i: i.midpoint_pooled(2, 2)),
    ("flood_fill", lambda i: i.flood_fill(5, 5)),
    ("get_histogram", lambda i: i.get_histogram()),
    ("get_histogram bins", lambda i: i.get_histogram(bins=16)),
    ("get_statistics", lambda i: i.get_statistics()),
    ("statistics mean", lambda i: i.get_statistics().mean()),
    ("get_threshold", lambda i: i.get_histogram().get_threshold()),
    ("get_percentile", lambda i: i.get_histogram().get_percentile(0.5)),
    ("get_regression", lambda i: i.get_regression(GRAY_TH)),
    ("find_blobs", lambda i: i.find_blobs(TH, pixels_threshold=10, area_threshold=10, merge=True)),
    ("find_blobs gray", lambda i: i.find_blobs(GRAY_TH)),
    ("find_lines", lambda i: i.find_lines()),
    ("find_circles", lambda i: i.find_circles(threshold=9000)),
    ("find_rects", lambda i: i.find_rects()),
    ("find_line_segments", lambda i: i.find_line_segments()),
    ("find_qrcodes", lambda i: i.find_qrcodes()),
    ("find_barcodes", lambda i: i.find_barcodes()),
    ("find_datamatrices", lambda i: i.find_datamatrices()),
    ("find_edges", lambda i: i.find_edges(image.EDGE_SIMPLE, threshold=(50, 80))),
    ("compressed", lambda i: i.compressed()),
    ("compress", lambda i: i.compress()),
    ("save bmp", lambda i: i.save("/sd/a.bmp")),
    ("repr", repr),
    ("Image(size=)", lambda i: image.Image(size=(40, 30))),
    ("rgb_to_lab", lambda i: image.rgb_to_lab(COLOR)),
    ("rgb_to_grayscale", lambda i: image.rgb_to_grayscale(COLOR)),
    ("nothing", lambda i: None),
)


HARMFUL = ("mean_pool", "mean_pooled", "midpoint_pooled")  # of bitmaps, beyond their pixels


def rgb(w, h):
    return image.Image(size=(w, h))


def gray(w, h):
    return image.Image(size=(w, h)).to_grayscale(copy=True)


def bitmap(w, h):
    return image.Image(size=(w, h)).to_bitmap(copy=True)


def asked(name, make, w, h, call, label):
    img = make(w, h)
    gc.collect()
    before = gc.mem_alloc()
    try:
        kept = call(img)  # noqa: F841, until the end
    except Exception as e:
        print("@", name, w, h, label, type(e).__name__)
        return
    taken = gc.mem_alloc() - before
    gc.collect()
    print("@", name, w, h, label, taken, gc.mem_alloc() - before)


for name, make in (("rgb", rgb), ("gray", gray), ("bitmap", bitmap)):
    for w, h in ((64, 48), (160, 120)):
        for label, call in CALLS:
            if name != "bitmap" or label not in HARMFUL:
                asked(name, make, w, h, call, label)
