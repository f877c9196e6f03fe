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
        self.number = number
        self.points = [light] * 30
        Track.known[number] = self

    def age(self):
        return n - self.number


while True:
    img = sensor.snapshot()
    Track(n, img.get_pixel(1, 1)).age()
    n += 1
