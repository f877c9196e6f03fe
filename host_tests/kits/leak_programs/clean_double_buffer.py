# the last picture and the one before it
import sensor

sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
front = back = None
n = 0
while True:
    img = sensor.snapshot()
    back, front = front, img.resize(40 + n % 3, 30)
    if back:
        difference = back.get_pixel(1, 1)[0] - front.get_pixel(1, 1)[0]
    n += 1
