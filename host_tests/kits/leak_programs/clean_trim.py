# a text of the last thousand characters
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0
text = ""
while True:
    img = sensor.snapshot()
    text += "%06d sees %03d; " % (n, img.get_pixel(4, 4))
    if len(text) > 1000:
        text = text[-500:]
    n += 1
