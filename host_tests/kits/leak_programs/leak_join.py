# a report that is joined anew from the old one
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
n = 0


class Report:
    def __init__(self):
        self.text = "begin"

    def add(self, where, light):
        row = ",".join(("%05d" % where, "%03d" % light, "ok", "-" * 70))
        self.text = "\n".join((self.text, row))  # leaks 84


report = Report()
while True:
    img = sensor.snapshot()
    report.add(n, img.get_pixel(5, 5))
    n += 1
