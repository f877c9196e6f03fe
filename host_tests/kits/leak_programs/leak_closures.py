# handlers that are registered again in each round, each with its own buffer
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
handlers = []
n = 0


def make(name, room):  # may leak some
    def handle(value):  # may leak some
        room[0] = value & 255
        return name

    return handle


while True:
    img = sensor.snapshot()
    handlers.append(make(n, bytearray(300)))  # leaks 360
    handlers[-1](img.get_pixel(2, 2))
    n += 1
