# the first pictures make a background, which is then dropped for its mean
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
first, mean = [], None
n = 0
while True:
    img = sensor.snapshot()
    if mean is None:
        first.append([img.get_pixel(k, 5) for k in range(30)])
        if len(first) == 8:
            mean = [sum(column) // 8 for column in zip(*first)]
            first = None
    n += 1
