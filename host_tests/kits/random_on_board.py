# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the random programs of random_programs.py call on the board. Each call that says something
prints one line, "@ " and a literal."""

import gc
import time

import KPU as kpu
import lcd
import maixmem_text  # else a refusal reads it from flash, which takes malloc
import sensor
from image import Image
from maixmem import NoRoom
from maixmem_camera import check_camera
from maixmem_k210_fit import plan
from maixmem_models import ModelManager

m = ModelManager()
p = m.port
nets = {}
here = {"camera": False, "framed": False, "thread": 0, "image": None, "plan": None}


def say(*what):
    print("@", what)


def add(name, source, nbytes):
    m.add(name, source, **({"nbytes": nbytes} if "flash_read" in p.lacks else {}))


def cost(a):
    return m.models[a].cost


def foretell(a):
    """What check_fit() says of a bare load; the heap that malloc will have then."""
    if cost(a).refuse:
        return say("refused")
    e = p.check_fit(cost(a))
    here["plan"] = None
    if e is None and cost(a).certainty == "exact":
        here["plan"] = plan(p.heap)
        here["plan"].load(cost(a).chunks)
    say("ok" if e is None else "hang" if e.hangs else "2006")


def is_exact():
    """Whether malloc has what the plan has: holes, last remainder, top and break."""
    x = here["plan"]
    if x is None:  # by its length alone the working memory of a model is not known
        return True
    y = plan(p.heap)
    return (sorted(x.holes), x.last, x.top, x.end) == (sorted(y.holes), y.last, y.top, y.end)


def load(a, k):
    try:
        nets[k] = kpu.load(m.models[a].source)
    except ValueError as e:
        return say(code(e), True)
    say("ok", is_exact())


def code(e):
    text = str(e)
    at = text.find("error:") + 6
    return text[at : at + 4]


def drop(k):
    kpu.deinit(nets.pop(k))
    gc.collect()


def use(a):
    """The same model by the manager, which frees what has to go."""
    try:
        m.use(a)
        say("ok", m.state)
    except NoRoom as e:
        say("NoRoom", e.region)
    except ValueError as e:
        say("refused", str(e))


def bare(a):
    """The same by hand: all that the manager holds is freed."""
    for x in m.loaded():
        kpu.deinit(x.handle)
        x.handle = None
    gc.collect()
    load(a, -1)


def slots():
    """How many of the five have a model."""
    say(len(nets) + len(m.loaded()))


def keep(n):
    m.keep = n


def camera_on():
    if not here["camera"]:
        sensor.reset()
        sensor.set_pixformat(sensor.RGB565)
        here["camera"] = True


def look(w, h):
    e = check_camera(w, h)
    say(e is None if p.exact else "damaged")


def frame(size):
    try:
        sensor.set_framesize(getattr(sensor, size))
        here["framed"] = True
        say(True)
    except OSError:
        here["camera"] = here["framed"] = False
        say(False)


def picture():
    if here["framed"]:
        here["image"] = None
        sensor.snapshot()


def image(w, h):
    here["image"] = None
    gc.collect()
    here["image"] = Image(size=(w, h))
    here["image"].pix_to_ai()


def display():
    try:
        lcd.init()
    except OSError:  # no memory for its buffer
        return
    if here["image"]:
        lcd.display(here["image"])


def card(n):
    with open("/sd/random.txt", "w") as f:
        f.write("x" * n)
    with open("/sd/random.txt") as f:
        say(len(f.read()) == n)


def thread():
    """Starts one that only waits, or ends it."""
    import _thread

    here["thread"] ^= 1
    if here["thread"]:
        _thread.start_new_thread(wait, ())
    time.sleep_ms(60)


def wait():
    while here["thread"]:
        time.sleep_ms(10)


def number():
    print("%f" % 1.5)
