# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap of a K210 as the library has it, against the firmware: for selftest."""

import gc


def walk():
    """What malloc's lists say, and under `said` what the firmware's own call does; "free" None:
    they are not found."""
    import maixmem
    from maixmem_k210 import utils

    gc.collect()
    p = maixmem.port()
    found = {"free": None, "said": None}
    if hasattr(utils, "heap_free"):
        found["said"] = utils.heap_free()
    if p.heap:
        p.free_bytes()
        found["exact"] = p.exact
        for name in ("free", "largest", "holes", "top", "heap_free"):
            found[name] = getattr(p.heap, name)
    return found


def load(address):
    """A load forecast, and done where it will succeed; then the model is
    freed again. Bytes of the system heap."""
    import maixmem
    from maixmem_k210_fit import plan
    from maixmem_k210_kpu import kpu  # the firmware's, with maixmem_auto too

    p = maixmem.port().for_models()
    cost = p.inspect(address)
    if cost.refuse:
        return {"refuse": str(cost.refuse)}
    no = p.check_fit(cost)
    if no:
        return {"shortage": str(p.explain(no))}
    gc.collect()
    found = {"need": cost.need["heap"], "peak": cost.peak["heap"], "free": p.free_bytes()}
    wanted = plan(p.heap) if p.heap and p.exact else None
    if wanted:
        found["stops"] = wanted.load(cost.chunks)
    net = kpu.load(address)
    found["took"] = found["free"] - p.free_bytes()
    if wanted:
        there = plan(p.heap)
        found["exact"] = chunks(wanted) == chunks(there)
    kpu.deinit(net)
    net = None
    gc.collect()
    found["back"] = p.free_bytes()
    return found


def chunks(m):
    return sorted(m.holes), m.last, m.top, m.end
