# what was gathered is cleared each hundred rounds
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0
found = {}
while True:
    img = sensor.snapshot()
    found[n] = (img.get_pixel(4, 4), n)
    n += 1
    if n % 100 == 0:
        found.clear()
