# a chain of nodes: each has the one before it
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0


class Node:
    def __init__(self, before, data):
        self.before = before  # may leak some
        self.data = data  # may leak some


class Path:
    def __init__(self):
        self.last = None

    def go(self, data):
        self.last = Node(self.last, data)  # leaks some


path = Path()
while True:
    img = sensor.snapshot()
    path.go(img.get_pixel(3, 3))
    n += 1
