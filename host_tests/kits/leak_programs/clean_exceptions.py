# what fails is caught; the last error is kept
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
last = None
n = 0
while True:
    img = sensor.snapshot()
    try:
        value = {"a": 1}["b%d" % (n % 5)]
    except KeyError as e:
        last = e
    n += 1
