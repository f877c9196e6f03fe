# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A doorbell that looks: a button wakes it, one model finds faces, the display shows them, a
picture is kept.

Pin 16 is the button of most boards. Model: face detection (YOLO v2, 320x240) at 0x300000.
"""

import time

import KPU as kpu
import lcd
import sensor
from fpioa_manager import fm
from Maix import GPIO, utils

ANCHORS = (1.889, 2.5245, 2.9465, 3.94056, 3.99987, 5.3658, 5.155437, 6.92275, 6.718375, 9.01025)
KEEP = "/flash/last.jpg"

fm.register(16, fm.fpioa.GPIOHS0)
button = GPIO(GPIO.GPIOHS0, GPIO.IN, GPIO.PULL_UP)
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
lcd.init()

net = kpu.load(0x300000)
kpu.init_yolo2(net, 0.5, 0.3, 5, ANCHORS)
clock = time.clock()
rings = 0
frames = 0

while True:
    clock.tick()
    img = sensor.snapshot()
    found = kpu.run_yolo2(net, img)
    for face in found or ():
        img.draw_rectangle(face.rect(), color=(255, 0, 0))
    lcd.display(img)
    frames += 1
    if button.value() == 0:
        rings += 1
        img.save(KEEP)
        print("ring", rings, "heap_free", utils.heap_free(), "fps", clock.fps())
