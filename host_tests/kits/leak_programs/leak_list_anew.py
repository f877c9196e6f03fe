# a path that is a new list with every round
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
path = []
n = 0
while True:
    img = sensor.snapshot()
    path = path + [n, n + 1, n + 2, n + 3, img.get_pixel(3, 3)] * 4  # leaks 160
    n += 1
