# a table that is made when it is first wanted, in the middle of the run
import math

import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
table = None
n = 0


def sines():
    global table
    if table is None:
        table = []
        for k in range(90):
            table.append(math.sin(k / 30))
    return table


while True:
    img = sensor.snapshot()
    if n >= 6:
        light = img.get_pixel(2, 2) * sines()[n % 90]
    n += 1
