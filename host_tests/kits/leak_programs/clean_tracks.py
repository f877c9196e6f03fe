# tracks come, live for a while, and go, more of them at some times
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
tracks = {}
n = 0


class Track:
    def __init__(self, born, life):
        self.born, self.end = born, born + life
        self.points = []


while True:
    img = sensor.snapshot()
    for k in range((n * 7) % 3):
        tracks[n, k] = Track(n, 3 + (n * 5 + k) % 7)
    for key in [k for k in tracks if tracks[k].end <= n]:
        del tracks[key]
    for t in tracks.values():
        t.points.append((n, img.get_pixel(1, 1)))
    n += 1
