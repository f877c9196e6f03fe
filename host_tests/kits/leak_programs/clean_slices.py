# a window by slices, and a text that is cut
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
values, text = [], ""
n = 0
while True:
    img = sensor.snapshot()
    values = (values + [img.get_pixel(7, 7)])[-8:]
    text = (text + "%d;" % values[-1])[-120:]
    n += 1
