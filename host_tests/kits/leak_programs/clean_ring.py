# the last sixteen measurements by their number
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)


class Ring:
    def __init__(self, n):
        self.rows = [None] * n
        self.at = 0

    def put(self, row):
        self.rows[self.at % len(self.rows)] = row
        self.at += 1


ring = Ring(16)
n = 0
while True:
    img = sensor.snapshot()
    ring.put({"n": n, "light": img.get_pixel(0, 0), "text": "round %d" % n})
    n += 1
