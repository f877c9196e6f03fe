# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the library on a board says: for doctor and top. enter() first, leave() last."""

import gc
import sys

try:
    import os
except ImportError:
    import uos as os


def enter():
    """(working folder, folder of the library or None, names of the modules that were loaded).

    On MaixPy modules are found in the working folder only (measured on the firmware v0.6.2_84):
    it is the one with the library until leave().
    """
    drop_half()
    home = os.getcwd()
    had = list(sys.modules)
    for folder in [home, "/flash", "/sd"] if sys.platform in ("MaixPy", "CanMV") else []:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        if "maixmem.py" in names or "maixmem.mpy" in names:
            os.chdir(folder)
            return home, folder, had
    return home, None, had


def drop_half():
    """What an interrupt left half imported would be taken for whole: by the last that each of the
    two starts does."""
    there = sys.modules
    if "maixmem_auto" in there:
        half = getattr(there.get("KPU"), "__name__", "") != "maixmem_kpu"
    else:
        half = "maixmem" in there and not hasattr(there["maixmem"], "set_gc_heap")
    for name in [n for n in there if half and n[:7] == "maixmem"]:
        del there[name]


def leave(home, had):
    """Gives back what was imported for the visit, and leaves what the program had."""
    os.chdir(home)
    for name in [n for n in sys.modules if n[:7] == "maixmem" and n not in had]:
        del sys.modules[name]
    gc.collect()


def _said(text):
    """[what it says, a step, ...] of a maixmem_text.Text or another text."""
    return [str(getattr(text, "what", text))] + list(getattr(text, "steps", ()))


def report():
    """The report, and under `said` its warnings with their steps."""
    import maixmem

    found = maixmem.report(lambda line: None)
    found["said"] = [_said(text) for text in maixmem.port().warnings()]
    return found


def gc_heap():
    import maixmem_k210_gc as g
    from maixmem_k210 import utils

    active = g.active_gc_heap()
    return {"stored": utils.gc_heap_size(), "active": active, "most": g.max_gc_heap_now()}


def set_gc_heap(nbytes):
    drop_half()
    import maixmem

    return str(maixmem.set_gc_heap(nbytes))


def auto_takes():
    """Bytes of GC heap that maixmem_auto keeps. The board is to be reset afterwards."""
    drop_half()
    gc.collect()
    free = gc.mem_free()
    import maixmem_auto

    gc.collect()
    return free - gc.mem_free()


def flash(gaps, verify):
    import maixmem_flash

    m = maixmem_flash.FlashMap()
    m.scan(gaps=gaps, verify=verify)
    rows = sorted(m.regions, key=lambda r: r.start)
    return {
        "regions": [[r.name, r.start, r.end, r.kind, r.source, r.intact] for r in rows],
        "conflicts": [str(c) for c in m.conflicts()],
        "risks": [str(c) for c in m.risks()],
        "unread": m.unread,
        "notes": m.notes,
    }


def model(address):
    import maixmem

    port = maixmem.port().for_models()
    cost = port.inspect(address)
    missing = port.check_fit(cost) if not cost.refuse else None
    shortage = missing and port.explain(missing)
    return {
        "need": cost.need,
        "peak": cost.peak,
        "certainty": cost.certainty,
        "refuse": cost.refuse,
        "shortage": shortage,
        "said": _said(cost.refuse or shortage or ""),
    }
