# batches of ten are packed, and the packed ones are never thrown away
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
batch, packed = [], []
n = 0


def pack():
    packed.append(bytes(batch))  # leaks some
    batch.clear()


while True:
    img = sensor.snapshot()
    batch.append(img.get_pixel(4, 4))
    if len(batch) == 5:
        pack()
    n += 1
