# the last fifty in a deque
import sensor
from ucollections import deque

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0
last, count = deque((), 51), 0
while True:
    img = sensor.snapshot()
    last.append((n, img.get_pixel(4, 4), "text %d" % n))
    count += 1
    if count > 50:
        last.popleft()
    n += 1
