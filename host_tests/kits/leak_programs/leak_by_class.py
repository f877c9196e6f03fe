# what is found is kept by its class
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
by_class = {}
n = 0
while True:
    img = sensor.snapshot()
    by_class.setdefault(n % 7, []).append(("box", n, [n] * 20))  # leaks 264
    n += 1
