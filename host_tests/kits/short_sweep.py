# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the library answers where the GC heap is nearly full: a program that fills it but for so
many bytes, then asks. Run on the unix port by test_short_answers.py, on boards in software by
test_short_on_firmware.py.

Each question prints "@@ NAME", its answer, and "." where it came back."""

from __future__ import annotations

import re

import maixmem_text

LEVELS = (1024, 2048, 4096, 8192)  # bytes left on a board
SCENARIO = """
import gc
import maixmem, maixmem_advice
from maixmem import NoRoom
port = maixmem.port()
watch = maixmem.Watch()
error = NoRoom("no room", "heap", 4096, 512)
def known():
    maixmem_advice.advise(error)
def plain():
    maixmem_advice.advise(MemoryError("memory allocation failed, allocating 76800 bytes"))
def text():
    print(maixmem.message("keep", 0))
def table():
    watch.report()
ASKED = (("known", known), ("plain", plain), ("report", maixmem.report), ("watch", table),
    ("text", text), ("again", maixmem.report))
held = []
def fill(left):
    n = 16384
    while n >= 32:
        try:
            while gc.mem_free() - n > left:
                held.append(bytearray(n))
            n //= 2
        except MemoryError:
            n //= 2
    gc.collect()
def ask():
    for name, call in ASKED:
        print("@@", name)
        try:
            call()
            print(".")
        except MemoryError:
            print("SECOND")
"""


#: more questions of a K210 under maixmem_auto: what is refused there. The models: one that fits at
#: 0x300000, one that never does at 0x400000. Goes before fill().
AUTO = """
import image
import maixmem_auto
import KPU
from maixmem_pool import BufferPool
pool = BufferPool(16, 1)
pool.acquire()
img = image.Image(size=(56, 56))
img.pix_to_ai()
def loads(address):
    return lambda: KPU.load(address)
net = KPU.load(0x300000)
KPU.forward(net, img)
gone = KPU.load(0x300000)
KPU.deinit(gone)
refused = (
    # where it cannot be judged for want of memory the firmware tries it, and says 2006
    ("never fits", (MemoryError, ValueError), loads(0x400000)),
    ("no model", (ValueError,), loads(0x700000)),
    ("no file", (OSError, ValueError), loads("/flash/none.kmodel")),
    ("not ready", (ValueError,), lambda: KPU.run_yolo2(net, img)),
    ("released", (ValueError,), lambda: KPU.forward(gone, img)),
    ("no net", (TypeError,), lambda: KPU.forward(3, img)),
    ("no image", (ValueError,), lambda: KPU.forward(net, 3)),
    ("no name", (AttributeError,), lambda: net.nonsense),
    ("pool", (MemoryError,), pool.acquire),
    ("double", (ValueError,), lambda: pool.release(bytearray(16))),
    ("heap size", (TypeError, ValueError), lambda: maixmem.set_gc_heap("x")),
)
def asks(kinds, call):
    def ask():
        try:
            call()
            print("went through")
        except Exception as e:
            bare = e.__class__ is MemoryError
            print("firmware's" if bare else "ours" if isinstance(e, kinds) else "OTHER", repr(e))
            if isinstance(e, NoRoom):
                print("numbers", e.region, e.need, e.free)
            maixmem_advice.advise(e)
    return ask
ASKED += tuple([(name, asks(kinds, call)) for name, kinds, call in refused])
"""


_CALLS = ("init_yolo2", "run_yolo2", "read_flash", "new_image")  # keys that are names of calls too
_KEYS = [key for key in maixmem_text._SENTENCES if "_" in key and key not in _CALLS]
RAW = re.compile(r"\b(?:keep|" + "|".join(_KEYS) + r")\(")


def judge(said: str, questions: int = 6) -> list[str]:
    """What is wrong with the answers: a second error, a raw key, a question without an answer, a
    refusal of another class than where there is room."""
    wrong = []
    for block in said.split("@@ ")[1:]:
        name, _, answer = block.partition("\n")
        lines = answer.strip().splitlines()
        if "SECOND" in lines or not lines or lines[-1] != ".":
            wrong.append(f"{name.strip()}: no answer but {answer!r}")
        if len(lines) < 2 or RAW.search(answer) or "OTHER" in answer or "went through" in answer:
            wrong.append(f"{name.strip()}: says {answer!r}")
    if said.count("@@ ") < questions:
        wrong.append(f"ends early: {said[-300:]!r}")
    return wrong
