# a buffer that is filled up to 4,096 bytes, 100 a round
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0
buf = bytearray()
while True:
    img = sensor.snapshot()
    if len(buf) < 4096:
        buf.extend(bytes(100))
    n += 1
