# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the library answers where the GC heap is nearly full: a program that fills it but for so
many bytes, then asks. Run on the unix port by test_short_answers.py, and on boards.

Each question prints "@@ NAME", its answer, and "." where it came back."""

#: on the board; LEFT is put in before
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


def judge(said: str) -> list[str]:
    """What is wrong with the answers: a second error, a raw key, a question without an answer."""
    wrong = []
    for block in said.split("@@ ")[1:]:
        name, _, answer = block.partition("\n")
        lines = answer.strip().splitlines()
        if "SECOND" in lines or not lines or lines[-1] != ".":
            wrong.append(f"{name.strip()}: no answer but {answer!r}")
        if len(lines) < 2 or "keep(" in answer:
            wrong.append(f"{name.strip()}: says {answer!r}")
    if said.count("@@ ") < 6:
        wrong.append(f"ends early: {said[-300:]!r}")
    return wrong
