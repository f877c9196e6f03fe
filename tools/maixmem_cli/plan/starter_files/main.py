# Two models in turn: the one that is wanted is loaded, the other one makes room where it has to.
import gc

from maixmem_models import ModelManager

models = ModelManager()
models.add("one", 0x300000)
models.add("two", 0x400000)
for turn in range(4):
    name = ("one", "two")[turn % 2]
    models.use(name)
    print("turn", turn, name)
models.release_all()
gc.collect()
print("done")
