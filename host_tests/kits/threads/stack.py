# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytes of a thread's stack that calls take, by what they left of the pattern of unused stack: the
figures of k210_stack.py.

    maixmem sim host_tests/kits/threads/stack.py --firmware maixpy.bin --camera pattern --sd FOLDER

A line has the call, and the bytes from the top of the stack to the deepest word written; the first
is a thread that does nothing."""

import _thread
import gc
import time

import image
import lcd
import sensor
import uctypes
import ujson
import uos
from machine import UART

SIZE = 12288
FIRST, LAST, STEP = 0x80180000, 0x80600000, 512
UNUSED = b"\xa5" * 8

lcd.init()
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
img = sensor.snapshot()
uart = UART(UART.UART2, 115200)


def nested(n):
    return n and nested(n - 1)


def part():
    return img.copy(roi=(0, 0, 80, 60))


def caught():
    try:
        open("/flash/none")
    except OSError as e:
        str(e)


CALLS = (
    ("nothing", lambda: None),
    ("one call more", lambda: nested(0)),
    ("two calls more", lambda: nested(1)),
    ("print", lambda: print("x", 1.5)),
    ("format", lambda: "%d %.2f %s {}".format(1) % (1, 2.5, "a")),
    ("OSError", caught),
    ("json", lambda: ujson.loads(ujson.dumps({"a": [1, 2.5]}))),
    ("sleep", lambda: time.sleep_ms(1)),
    ("collect", gc.collect),
    ("uart.write", lambda: uart.write("abc")),
    ("snapshot", sensor.snapshot),
    ("display", lambda: lcd.display(img)),
    ("draw_string", lambda: img.draw_string(0, 0, "abc")),
    ("get_statistics", img.get_statistics),
    ("find_blobs", lambda: img.find_blobs([(0, 60, -20, 20, -20, 20)])),
    ("find_lines", lambda: part().find_lines()),
    ("compress", lambda: part().compress(quality=50)),
    ("listdir", lambda: uos.listdir("/flash")),
    ("open /sd", lambda: open("/sd/x.txt", "w").close()),
    ("write /flash", lambda: open("/flash/x.txt", "w").close()),
    ("save", lambda: part().save("/sd/x.jpg")),
    ("image.Image", lambda: image.Image(size=(40, 40))),
)


def run(call):
    call()
    done.append(1)
    time.sleep_ms(20)


def at(address):
    return uctypes.bytearray_at(address, len(UNUSED)) == UNUSED


def longest(seen):
    """(bytes, where) of the longest piece of unused stack that is in no thread of before."""
    best, start = (0, 0), 0
    for place in range(FIRST, LAST, STEP):
        if at(place) and at(place + STEP - len(UNUSED)):
            start = start or place
        else:
            if start and start not in seen and best[0] < place - start < SIZE:
                best = (place - start, start)
            start = 0
    return best


seen = set()
done = []
_thread.stack_size(SIZE)
for name, call in CALLS:
    done.clear()
    _thread.start_new_thread(run, (call,))
    while not done:
        time.sleep_ms(5)
    size, low = longest(seen)
    high = low + size
    seen.add(low)
    while at(low - 8):
        low -= 8
    while at(high):
        high += 8
    print(name, SIZE - (high - low))
    time.sleep_ms(40)
