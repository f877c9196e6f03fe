# effects that are begun, stepped once, and never run to their end
import sensor

sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
effects = []
n = 0


def fade(start):
    level = start
    while level < 100000:
        yield level
        level += 1


while True:
    img = sensor.snapshot()
    g = fade(n)  # leaks some
    effects.append(g)  # may leak 8
    next(g)
    n += 1
