# generators that feed each other, new ones in each round
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0


def rows(img):
    for y in range(6):
        yield [img.get_pixel(x, y) for x in range(6)]


def bright(source):
    for row in source:
        yield max(row), tuple(row)


while True:
    best = max(bright(rows(sensor.snapshot())))
    n += 1
