# the last two thousand measurements
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0
history = []
while True:
    img = sensor.snapshot()
    history.append((n, img.get_pixel(4, 4)))
    if len(history) > 2000:
        history.pop(0)
    n += 1
