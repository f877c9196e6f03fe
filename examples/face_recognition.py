# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Who is this? Three models: find a face, find its eyes and mouth, describe it; then compare with
known ones.

All three stay resident where the firmware leaves room, two or one elsewhere: the same code,
slower. Put the models into flash at FIND, POINTS and DESCRIBE (maixmem kfpkg, then kflash). The
first face that is seen becomes number 0.
"""

import sensor
from maixmem import KModelError
from maixmem_kmodel import read_info
from maixmem_models import ModelManager

FIND = 0x300000  # a yolo2 model of 320 x 240, with its anchors:
ANCHORS = (1.889, 2.5245, 2.9465, 3.94056, 3.99987, 5.3658, 5.155437, 6.92275, 6.718375, 9.01025)
POINTS = 0x400000  # a face in, five points out: x and y of eyes, nose and corners of the mouth
DESCRIBE = (
    0x500000  # an upright face in, values out that differ little between pictures of one person
)
SAME = 0.8  # cosine from which on two faces are one person


def camera_runs():
    """Starts the camera; False, and what to do, when there is none."""
    try:
        sensor.reset()
        sensor.set_pixformat(sensor.RGB565)
        sensor.set_framesize(sensor.QVGA)
        sensor.run(1)
        sensor.snapshot()  # the first one is dark
        return True
    except (OSError, RuntimeError, TypeError) as e:
        print("no camera ({}). Next: power off, plug its cable in, run this again".format(e))
        return False


def add(models, name, address, setup=None):
    """Adds a model; False, and how to put one there, when there is none at that address."""
    print("{}: looking for its model at {}".format(name, hex(address)))
    try:
        read_info(address)
        models.add(name, address, setup=setup)
        return True
    except KModelError as e:
        text = (
            "no model at {} ({}). Next: maixmem kfpkg FILE@{} -o m.kfpkg on the desk, then "
            "kflash m.kfpkg"
        )
        print(text.format(hex(address), e, hex(address)))
        return False


def find(net, img):
    """(x, y, w, h) of the largest face, or None."""
    faces = net.run_yolo2(img)
    if not faces:
        return None
    return max([(f.w() * f.h(), f.rect()) for f in faces])[1]


def cut(img, rect, shape):
    """The part `rect` of an image in the size that a model wants, ready for the KPU."""
    x, y, w, h = rect
    w, h = max(8, min(w, img.width() - x)), max(8, min(h, img.height() - y))
    part = img.cut(x, y, w, h).resize(shape[3], shape[2])
    part.pix_to_ai()
    return part


def around(points, rect):
    """The square around five points, wider by half: the face without most of hair and
    background."""
    x, y, w, h = rect
    xs = [x + int(w * p) for p in points[0:10:1] if 0 <= p <= 1][:5] or [x, x + w]
    size = max(16, (max(xs) - min(xs)) * 3 // 2)
    return max(0, min(xs) - size // 6), max(0, y + h // 8), size, size


def cosine(a, b):
    """1.0 for the same direction."""
    dot = aa = bb = 0.0
    for i in range(len(a)):
        dot += a[i] * b[i]
        aa += a[i] * a[i]
        bb += b[i] * b[i]
    return dot / ((aa * bb) ** 0.5 or 1.0)


def recognise(known, values):
    """The number of the person; a new one is remembered."""
    for i in range(len(known)):
        if cosine(known[i], values) > SAME:
            return i
    known.append(values)
    return len(known) - 1


def find_setup(net):
    net.init_yolo2(0.5, 0.3, 5, ANCHORS)


def describe_setup(net):
    """V4 models do not store the shape of their outputs; it is set after each load."""
    info = read_info(DESCRIBE)
    if info.format == "v4":
        net.set_outputs(0, 1, 1, info.outputs[0][2] // 4)


def main(frames=None, find=find):
    """Runs `frames` frames, or for ever; `find` replaces the search for a face. Returns what is
    known."""
    known = []
    frame = 0
    if not camera_runs():  # before the models, which take turns in what is left
        return known
    with ModelManager(keep=3) as models:
        if not add(models, "find", FIND, find_setup) or not add(models, "points", POINTS):
            return known
        if not add(models, "describe", DESCRIBE, describe_setup):
            return known
        points, describe = read_info(POINTS), read_info(DESCRIBE)
        print("looking for faces; the first one is number 0")
        while frames is None or frame < frames:
            frame += 1
            img = sensor.snapshot()
            rect = find(models.use("find"), img)
            if rect is None:
                continue
            where = models.use("points").run(cut(img, rect, points.inputs[0][0]))
            face = cut(img, around(where, rect), describe.inputs[0][0])
            print(frame, "person", recognise(known, models.use("describe").run(face)))
        models.status()
    return known


if __name__ == "__main__":
    main()
