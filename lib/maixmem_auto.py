# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One line makes an unchanged MaixPy script safe: `import maixmem_auto` before all else, or in
/flash/boot.py.

`import KPU`, `sensor` and `lcd` give modules with the same names from then on, which ask for room
first: maixmem_kpu, and the two of this library that let models go before buffers are taken.
"""

import sys

import maixmem_kpu


def _stand_in(name, new):
    """Whoever imports `name` from now on has `new`; the prompt, which has some already, too."""
    real = sys.modules.get(name)
    sys.modules[name] = sys.modules[new]
    try:
        main = __import__("__main__")
    except ImportError:  # the script has no prompt
        return
    if hasattr(main, name) and (real is None or getattr(main, name) is real):
        setattr(main, name, sys.modules[new])


_stand_in("KPU", maixmem_kpu.__name__)
for _name in ("sensor", "lcd"):
    try:
        __import__("maixmem_auto_" + _name)
        _stand_in(_name, "maixmem_auto_" + _name)
    except ImportError:
        pass  # not on this firmware: no buffers of it
try:
    import _thread

    if _thread.stack_size() < 16384:  # a load in a thread: the firmware's 4096 bytes do not do
        _thread.stack_size(16384)
except (ImportError, AttributeError, ValueError):
    pass
