# every object registers itself in its class
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0


class Track:
    known = {}

    def __init__(self, number, light):
        self.number = number  # leaks 32
        self.points = [light] * 30  # leaks 288
        Track.known[number] = self  # leaks 16

    def age(self):
        return n - self.number


while True:
    img = sensor.snapshot()
    Track(n, img.get_pixel(1, 1)).age()  # leaks 32
    n += 1
