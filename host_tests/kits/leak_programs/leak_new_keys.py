# how often each place was seen; a place is new almost each time
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
seen = {}
n = 0


def count(key):
    seen[key] = seen.get(key, 0) + 1  # may leak some


while True:
    img = sensor.snapshot()
    count((n * 7, n * 3, img.get_pixel(0, 0)))  # leaks 64
    n += 1
