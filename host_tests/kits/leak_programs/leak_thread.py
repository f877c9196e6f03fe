# a worker notes what it did; the main loop takes pictures
import _thread
import time

import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
work, notes = [], []
n = 0


def worker():
    while True:
        while work:
            notes.append("picture %d had a mean light of %d" % work.pop(0))  # leaks some
        time.sleep_ms(2)


_thread.start_new_thread(worker, ())
while True:
    img = sensor.snapshot()
    work.append((n, img.get_pixel(9, 9)))  # may leak some
    time.sleep_ms(5)
    n += 1
