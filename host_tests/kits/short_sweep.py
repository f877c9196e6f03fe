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
error = NoRoom(maixmem.message("stack", 8192, 10480, 512), "stack", 8192, 512)
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
held = None
def fill(left, whole):  # the largest pieces first; `whole`: what is left lies in one piece
    global held
    gap = bytearray(left) if whole else None
    if whole:
        left = 0
    n = 16384
    while n > 8:
        gc.collect()
        try:
            while gc.mem_free() - n > left:
                held = (held, bytearray(n) if n > 16 else None)
        except MemoryError:
            pass
        n //= 2
    gap = None
    gc.collect()
    print("left", gc.mem_free())
def ask():
    for name, call in ASKED:
        print("@@", name)
        try:
            call()
            print(".")
        except Exception as e:
            print("SECOND")
            print(e.__class__)
"""


#: more questions of any board: what is refused. Goes before fill().
REFUSALS = """
from maixmem_models import ModelManager
from maixmem_pool import BufferPool
pool = BufferPool(16, 1)
pool.acquire()
models = ModelManager()
def asks(kind, call):
    def ask():
        try:
            call()
            print("went through")
        except Exception as e:
            ours = isinstance(e, kind) and e.__class__ is not MemoryError
            print("ours:" if ours else "full:" if isinstance(e, NoRoom) else "bare:")
            print(e)
            if isinstance(e, NoRoom):
                print("numbers", e.region, e.need, e.free)
            elif e.__class__ is MemoryError and e is not maixmem.full:
                print("left", gc.mem_free())
            print("advice:")
            maixmem_advice.advise(e)
    return ask
def refuse(*refused):
    global ASKED
    ASKED += tuple([(name, asks(kind, call)) for name, kind, call in refused])
refuse(
    ("pool", MemoryError, pool.acquire),
    ("double", ValueError, lambda: pool.release(bytearray(16))),
    ("no such model", KeyError, lambda: models.use("none")),
)
"""


#: more questions of a K210 under maixmem_auto: what is refused there. The models: one that fits at
#: 0x300000, one that never does at 0x400000. Goes behind REFUSALS.
AUTO = """
import image
import maixmem_auto
import KPU
img = image.Image(size=(56, 56))
img.pix_to_ai()
def loads(address):
    return lambda: KPU.load(address)
net = KPU.load(0x300000)
KPU.forward(net, img)
gone = KPU.load(0x300000)
KPU.deinit(gone)
refuse(
    # where it cannot be judged for want of memory the firmware tries it, and says 2006
    ("never fits", MemoryError, loads(0x400000)),
    ("no model", ValueError, loads(0x700000)),
    ("no file", ValueError, loads("/flash/none.kmodel")),
    ("not ready", ValueError, lambda: KPU.run_yolo2(net, img)),
    ("released", ValueError, lambda: KPU.forward(gone, img)),
    ("no net", TypeError, lambda: KPU.forward(3, img)),
    ("no image", ValueError, lambda: KPU.forward(net, 3)),
    ("no name", AttributeError, lambda: net.nonsense),
    ("heap size", TypeError, lambda: maixmem.set_gc_heap("x")),
)
"""


_CALLS = ("init_yolo2", "run_yolo2", "read_flash", "new_image")  # keys that are names of calls too
_KEYS = [key for key in maixmem_text._SENTENCES if "_" in key and key not in _CALLS]
RAW = re.compile(r"\b(?:keep|" + "|".join(_KEYS) + r")\(|MemoryError\(\)")
#: what is said for want of memory has all four: which, how much is needed, one step, what is free
SHORT = (
    re.compile(r"\): gc is full, free up \d+ bytes \(free: \d+\)"),  # the text of an error
    re.compile(r"full:\ngc is full, free up \d+ bytes\nnumbers gc \d+ \d+$"),
    re.compile(r"^gc is full, free up \d+ bytes\n\d+$"),  # report()
    re.compile(r"^gc is full, free up \d+ bytes\n\d+\n\w.*$"),  # advise(), with a step
    re.compile(r"^region, bytes needed, free:\n\w+\n\d+\n\d+\n\w.*$"),  # advise()
    re.compile(r"^start, low, now(\n\w+\n\d+\n\d+\n\d+)+$"),  # Watch.report()
)
#: with room for it, no answer is one of these
NOT_WHOLE = re.compile(r"^(SECOND|bare:|full:|went through)|gc is full")
#: where not even an object of two blocks is to be had, `free` is said by advise() alone
LEAST = re.compile(r"^(\w+:\n)?gc is full, free up \d+ bytes$")
#: ... and where less than 2 KB lie in pieces, the interpreter may raise its own instead
NOTHING = re.compile(
    r"^bare:\n(memory allocation failed, allocating [%u\d]+ bytes)?\n?left (\d{1,3}|1\d{3})$"
)
#: ... and the firmware's own has no text where 1 KB is left: a MemoryError, or the error of a load
#: for which no part could be read
WORDLESS = re.compile(r"^(bare|ours):$")
#: what the firmware raises by itself, cut or not filled in where it had no memory for more: of a
#: load that could not be judged, of a name that no net has
_OTHERS = (
    "[MAIXPY]kpu: load error:%d, %s",
    "[MAIXPY]kpu: load error:2002, ERR_KMODEL_VERSION: only support kmodel V3/V4 now",
    "[MAIXPY]kpu: load error:2005, ERR_READ_FILE: read file failed",
    "[MAIXPY]kpu: load error:2006, ERR_NO_MEM: memory not enough",
    "'kpu_net' object has no attribute 'nonsense'",
    "'%s' object has no attribute '%q'",
)
_FIRMWARES = r"(?m)^(kpu_net __del__|.*SYSCALL: Out of memory|\x1b\[0m)\n"  # its own lines


def answers(said: str) -> dict[str, str]:
    """{question: its answer}, without the firmware's own lines."""
    said = re.sub(_FIRMWARES, "", said.replace("\r", ""))
    blocks = said.split("@@ ")[1:]
    return {name.strip(): text.strip() for name, _, text in (b.partition("\n") for b in blocks)}


def same(a: str, b: str) -> bool:
    """Are two answers the same but for their numbers, which may be bounds, and where lines are
    broken by them?"""
    return _plain(a) == _plain(b)


def _plain(text: str) -> str:
    text = re.sub(r"(?m)^(\w+)( +)\[[#.]*\].*", r"\1", text)
    text = re.sub(r"(?m)^\+ at least, - at most.*\n?", "", text)
    return re.sub(r"[\d.]+( [KM]iB| B)?|\s+", " ", text).strip()


def parts(answer: str) -> list[str]:
    """A refusal and the advice about it, each for itself."""
    return [x.strip() for x in answer.removesuffix(".").split("advice:")]


def judge(said: str, whole: str, left: int) -> list[str]:
    """What is wrong with the answers: a second error, a raw key, a question without an answer, one
    that is neither the `whole` one, as where there is room, nor a short one with its numbers; and
    what is wrong with the whole ones."""
    wrong = [
        f"{name}, with room: {answer!r}"
        for name, answer in answers(whole).items()
        if NOT_WHOLE.search(answer) or RAW.search(answer) or not answer.endswith("\n.")
    ]
    forms = (*SHORT, LEAST, NOTHING) + (WORDLESS,) * (left <= LEVELS[0])
    there = answers(said)
    for name, full in answers(whole).items():
        answer = there.get(name, "nothing")
        if name == "text" and left <= LEVELS[0] and answer.startswith("SECOND"):
            continue  # no block for the tuple of its arguments: message() was not entered
        if not answer.endswith("\n.") or RAW.search(answer):
            wrong.append(f"{name}: {answer!r}")
            continue
        for got, wanted in zip(parts(answer), parts(full)):
            short = [form for form in forms if form.search(got)]
            if not short and not same(got, wanted) and not _firmwares(got):
                wrong.append(f"{name}: {got!r} for {wanted!r}")
    return wrong


def _firmwares(answer: str) -> bool:
    kind, _, text = answer.partition("\n")
    return (
        kind in ("bare:", "ours:") and len(text) > 20 and any(x.startswith(text) for x in _OTHERS)
    )
