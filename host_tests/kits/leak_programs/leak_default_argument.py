# a default argument that is a list lives as long as its function
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0


def outer(img):
    def light(x, y):
        return img.get_pixel(x, y)

    return note([light(k, k) for k in range(8)])  # leaks 96


def note(values, all_of_them=[]):
    all_of_them.append(values)  # may leak 8
    return sum(values) / len(values)


while True:
    mean = outer(sensor.snapshot())
    n += 1
