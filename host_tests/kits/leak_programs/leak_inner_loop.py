# three regions in each picture, of each a copy is kept
import sensor

sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
crops = {}
n = 0


def cut(img, k):
    return img.copy(roi=(10 * k, 8, 8, 8))  # leaks some


while True:
    img = sensor.snapshot()
    for k in range(3):
        crops[3 * n + k] = cut(img, k)  # may leak some
    n += 1
