# The same with maixmem: the models take turns, each is freed before the next is loaded.
import sensor
from maixmem_models import ModelManager

sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
models = ModelManager()
models.add("classes", 0x300000)
models.add("faces", 0x600000)
for name in ("classes", "faces", "classes"):
    models.use(name)
    print(name, "is loaded")
models.status()
