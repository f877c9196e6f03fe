# a cache that fills in 12 rounds, and beside it a history without an end
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
glyphs, history = {}, []
n = 0


def glyph(k):
    if k not in glyphs:
        glyphs[k] = bytearray(64 + k)
    return glyphs[k]


while True:
    img = sensor.snapshot()
    glyph(n % 12)[0] = 1
    history.append((n, img.get_pixel(n % 100, 1)))  # leaks 40
    n += 1
