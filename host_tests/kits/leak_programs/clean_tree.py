# a tree that is built, walked by recursion, and dropped
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0


def split(x, w):
    if w <= 4:
        return [x]
    return [split(x, w // 2), split(x + w // 2, w // 2)]


def leaves(tree):
    return 1 if len(tree) == 1 else leaves(tree[0]) + leaves(tree[1])


while True:
    img = sensor.snapshot()
    number = leaves(split(0, 32 << (n % 3)))
    n += 1
