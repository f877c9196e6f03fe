# The camera's pictures on the display, with their number.
import lcd
import sensor

lcd.init()
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
frame = 0
while True:
    img = sensor.snapshot()
    img.draw_string(8, 8, "frame %d" % frame, color=(255, 255, 255), scale=2)
    lcd.display(img)
    frame += 1
