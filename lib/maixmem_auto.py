# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One line makes an unchanged MaixPy script safe: `import maixmem_auto` before all else, or in
/flash/boot.py.

`import KPU`, `sensor`, `lcd` and `_thread` give modules with the same names from then on, which
ask for room first: maixmem_kpu, and those of this library that free models before buffers and
stacks are allocated.
"""

import sys

import maixmem_kpu


def start():
    """Puts the stand-ins in their places; the prompt, which has some of the firmware's, too."""
    for name, new, calls in (
        ("KPU", "maixmem_kpu", ()),
        ("sensor", "maixmem_auto_sensor", ("reset", "set_framesize")),  # these make room first
        ("lcd", "maixmem_auto_lcd", ("init",)),
        ("_thread", "maixmem_auto_thread", ()),
    ):
        try:
            real = __import__(name)
            if name == "_thread":
                __import__("maixmem_k210_stack")  # not there: the port knows no threads either
            __import__(new)
        except ImportError:
            continue  # not on this firmware: no buffers of it
        new = sys.modules[new]
        if new is real:
            continue
        for call in calls:
            setattr(new, call, maixmem_kpu._later(call, getattr(real, call)))
        if name != "KPU":  # the parts of maixmem_kpu import it
            sys.modules.pop(new.__name__)
        sys.modules[name] = new
        try:
            main = __import__("__main__")
        except ImportError:  # the script has no prompt
            continue
        if getattr(main, name, None) is real:
            setattr(main, name, new)


start()
del start, maixmem_kpu._later  # both were called for the last time: the collector frees them
