# a cache by a key that repeats after 22 rounds
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
cache = {}
n = 0
while True:
    img = sensor.snapshot()
    key = (n * 5) % 22
    if key not in cache:
        cache[key] = [key] * 40
    n += 1
