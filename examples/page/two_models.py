# Two models and the camera. Each model fits alone, both together do not:
# the board hangs, and the page names the line.
import KPU as kpu
import lcd
import sensor

lcd.init()
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
lcd.display(sensor.snapshot())
classes = kpu.load(0x300000)
print("classes is loaded")
faces = kpu.load(0x600000)
print("faces is loaded")
