# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Press the button and the board classifies, press it again and it finds faces: one KPU, two
models in turn.

Put the models into flash at CLASSIFY and FACES (maixmem kfpkg, then kflash). Without a button it
changes every CHANGE frames.
"""

import sensor
from maixmem import KModelError, NoRoom
from maixmem_kmodel import read_info
from maixmem_models import ModelManager

CLASSIFY = 0x300000  # an image in, a value per class out
FACES = 0x600000  # a yolo2 model, with its anchors:
ANCHORS = (1.889, 2.5245, 2.9465, 3.94056, 3.99987, 5.3658, 5.155437, 6.92275, 6.718375, 9.01025)
CHANGE = 100
BUTTON = 16  # the pin of BOOT on Sipeed's boards


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


def make_button():
    """A function that tells whether the button went down since the last call; None without one."""
    try:
        from fpioa_manager import fm
        from Maix import GPIO
    except ImportError:
        return None
    fm.register(BUTTON, fm.fpioa.GPIOHS0)
    pin = GPIO(GPIO.GPIOHS0, GPIO.IN, GPIO.PULL_UP)
    last = [pin.value()]

    def pressed():
        now = pin.value()
        went = last[0] and not now
        last[0] = now
        return went

    return pressed


def window(source):
    """Tells the camera to deliver what the model wants; at every change, so in setup."""
    shape = read_info(source).inputs[0][0]
    sensor.set_windowing((shape[3], shape[2]))


def classify_setup(net):
    window(CLASSIFY)


def faces_setup(net):
    window(FACES)
    net.init_yolo2(0.5, 0.3, 5, ANCHORS)


def classify(net, img):
    values = net.run(img)  # a copy: it stays valid when the model goes
    best = max(values)
    return "class {} ({})".format(values.index(best), best)


def find_faces(net, img):
    found = net.run_yolo2(img)
    return "{} faces".format(len(found) if found else 0)


def main(frames=None, pressed=None):
    """Runs `frames` frames, or for ever; `pressed` replaces the button. Returns the number of
    changes."""
    pressed = pressed or make_button()
    jobs = (("classify", classify), ("faces", find_faces))
    now = changes = frame = 0
    if not camera_runs():
        return 0
    with ModelManager() as models:
        if not add(models, "classify", CLASSIFY, classify_setup):
            return 0
        if not add(models, "faces", FACES, faces_setup):
            return 0
        print("press BOOT to change" if pressed else "changes every {} frames".format(CHANGE))
        while frames is None or frame < frames:
            frame += 1
            if pressed() if pressed else frame % CHANGE == 0:
                now = 1 - now
                changes += 1
            name, job = jobs[now]
            try:
                net = models.use(name)  # costs nothing while it is resident
            except NoRoom as e:
                print(e)  # says what to do; the other model is still there
                now = 1 - now
                continue
            print(frame, name, job(net, sensor.snapshot()))
        models.status()
    return changes


if __name__ == "__main__":
    main()
