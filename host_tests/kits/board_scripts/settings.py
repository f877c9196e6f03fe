# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the camera's settings give without a camera and with one; time, a watchdog, pins, the
display of the configuration."""

import json
import sys
import time

import lcd
import machine
import sensor
from fpioa_manager import fm
from machine import WDT

_LEVELS = "set_contrast set_brightness set_saturation set_special_effect".split()


def tell(label, do):
    try:
        print("@", label, do())
    except Exception as e:
        print("@", label, type(e).__name__, e)


def settings():
    for name in "get_id get_gain_db get_rgb_gain_db get_exposure_us get_fb".split():
        tell(name, getattr(sensor, name))
    for name in _LEVELS:
        tell(name, lambda: [getattr(sensor, name)(n) for n in range(-5, 6)])
    for n in (1, 2, 15, 30, 31, 60):
        tell(n, lambda: sensor.set_framerate(n))
    tell("gain", lambda: sensor.set_gainceiling(4))
    tell("bar", lambda: sensor.set_colorbar(1))
    tell("lens", lambda: sensor.set_lens_correction(1, 2, 3))
    tell("size 99", lambda: sensor.set_framesize(99))


settings()
sensor.reset()
settings()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
tell("before", sensor.get_fb)
sensor.snapshot()
tell("after", sensor.get_fb)
for n in (0, 86400, 600000000):
    tell(n, lambda: time.localtime(n))
tell("id", lambda: len(machine.unique_id()))
tell("who", lambda: sys.implementation)
for args in ((), (1, 4000), (2,), (0, 0), ("a",), (0, 100, None, None, 1)):
    tell(args, lambda: type(WDT(*args)))
tell("watchdog", lambda: (WDT(0, 9000, None, {}).context(), WDT().feed(), WDT().stop()))
for pin in (47, 48, 49, -1):
    tell(pin, lambda: fm.fpioa.set_function(pin, 56))
with open("/flash/config.json", "w") as f:
    f.write(json.dumps({"lcd": {"width": 480}}))
lcd.init(width=100, height=50)
tell("lcd", lambda: (lcd.width(), lcd.height()))
