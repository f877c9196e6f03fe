# a log of thirty lines; the one before is kept, older ones go
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0
now, before = [], None
while True:
    img = sensor.snapshot()
    now.append("%d: %d" % (n, img.get_pixel(4, 4)))
    if len(now) == 30:
        before, now = now, []
    n += 1
