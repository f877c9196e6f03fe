# a log that is written out every 17 rounds
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
log = []
n = 0
while True:
    img = sensor.snapshot()
    log.append("%d: %d" % (n, img.get_pixel(1, 1)))
    if len(log) == 17:
        text = "\n".join(log)
        log.clear()
    n += 1
