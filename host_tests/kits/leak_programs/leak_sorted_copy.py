# a list that is sorted anew with every round, of which the first few are wanted
import sensor

sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
sensor.run(1)
marks = []
n = 0
while True:
    img = sensor.snapshot()
    for i in range(30):
        marks.append(n * 7 % 1000 + i)  # leaks 240
    best = sorted(marks)[:5]  # may leak some
    n += 1
