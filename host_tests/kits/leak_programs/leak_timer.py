# a timer's callback keeps what it measures; the main loop is innocent
import sensor
from machine import Timer

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
samples = []
n = 0


def tick(timer):
    samples.append(bytearray(200))  # leaks some


timer = Timer(Timer.TIMER0, Timer.CHANNEL0, mode=Timer.MODE_PERIODIC, period=20, callback=tick)
while True:
    img = sensor.snapshot()
    mean = sum([img.get_pixel(k, 3) for k in range(20)]) / 20
    n += 1
