# exceptions are kept for later
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
errors = []
n = 0


def parse(text):
    return int(text)  # leaks some


while True:
    img = sensor.snapshot()
    try:
        parse("x%d" % img.get_pixel(0, 0))  # may leak some
    except ValueError as e:
        errors.append(e)  # may leak some
    n += 1
