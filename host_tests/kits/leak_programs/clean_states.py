# a machine of states whose objects replace each other
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0


class State:
    def __init__(self, name, since):
        self.name, self.since = name, since
        self.room = bytearray(150)


class Wait(State):
    def next(self, light):
        return Look("look", n) if n - self.since > 3 else self


class Look(State):
    def next(self, light):
        return Wait("wait", n) if light >= 0 else self


state = Wait("wait", 0)
while True:
    img = sensor.snapshot()
    state = state.next(img.get_pixel(4, 4))
    n += 1
