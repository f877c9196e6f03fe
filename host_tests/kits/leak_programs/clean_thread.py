# one worker for the whole run; what it is given it gives back
import _thread
import time

import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
inbox, outbox = [], []
n = total = 0


def worker():
    while True:
        while inbox:
            outbox.append([v * 2 for v in inbox.pop(0)])
        time.sleep_ms(1)


_thread.start_new_thread(worker, ())
while True:
    img = sensor.snapshot()
    inbox.append([n, img.get_pixel(1, 1)])
    time.sleep_ms(8)
    while outbox:
        total += sum(outbox.pop(0))
    n += 1
