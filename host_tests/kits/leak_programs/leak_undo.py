# a copy of the state before each change, to undo it
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0
undo, state = [], [0] * 50


def change(k, v):
    undo.append(state[:])  # leaks 440
    state[k % 50] = v


while True:
    img = sensor.snapshot()
    change(n, img.get_pixel(4, 4))
    n += 1
