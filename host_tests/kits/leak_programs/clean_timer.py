# a timer counts, and makes garbage only
import sensor
from machine import Timer

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
state = {"count": 0, "text": ""}
n = 0


def tick(timer):
    state["count"] += 1
    state["text"] = "%d ticks" % state["count"]


timer = Timer(Timer.TIMER0, Timer.CHANNEL0, mode=Timer.MODE_PERIODIC, period=15, callback=tick)
while True:
    img = sensor.snapshot()
    line = "%s %d" % (state["text"], n)
    n += 1
