# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is seldom needed on a K210: does it load V4, what helps where there is no room.

A one-time part of the K210's port. Measured on the firmware (v0.6.2_84).
"""

from maixmem import const, message, run_once
from maixmem_k210_chip import PAGE, SIZE, SPI_EXTRA, TRANSIENT, UNCHECKED, chunk
from maixmem_models import ModelManager

_PROBE = const(1)  # a flash address without a model: the firmware's length


def has_v4(p):
    """Whether this build loads V4 models; None when it does not say. Queried by a load where no
    model is, once.

    Firmware without heap_free is taken for one that does not: v0.5.0-98 says that it loads V4,
    refuses it as the first model and dumps core on it as a later one.
    """
    if "heap_free" in p.lacks:
        return False
    p.free_bytes()
    if p.v4 is None and "flash_read" not in p.lacks and p.largest > 4 * PAGE:
        from maixmem_k210_kpu import kpu  # the firmware's, whatever is called KPU meanwhile

        word = int.from_bytes(p.read_flash(_PROBE, 4), "little")
        if not run_once("kmodel", "begins_model", word):
            try:
                kpu.load(_PROBE)
            except ValueError as e:
                if "2002" in str(e):  # names the versions that this build loads
                    p.v4 = "V4" in str(e)
    return p.v4


def unsupported_reason(p, info, method: str) -> "str | None":
    """Why a model can never work on this board: see KModel.unsupported_reason()."""
    v4 = info.format != "v4" or has_v4(p) is not False
    return info.unsupported_reason({"v4": v4, "ram": None}, method)


def explain(p, error) -> str:
    """The sentence of an error; of a NoRoom of check_fit(): what is needed, what there is, and
    what to do."""
    if not hasattr(error, "cost"):
        return run_once("text", "of", error)
    cost, need, free = error.cost, error.need, error.free
    cures = []
    last = ModelManager._last
    if last and last.port is p and last.loaded():
        cures.append(message("cure_release"))
    by_file = _by_file(p, cost)
    if by_file:
        cures.append(message("cure_file", by_file))
    size = run_once("k210_gc", "smaller_gc_heap", need - error.behind)
    if size:
        cures.append(message("cure_gc_heap", size))
    cures.append(message("cure_firmware"))
    if error.largest is None:
        text = message("no_room_left", need, free)
    else:
        key = "no_room_hangs" if error.hangs else "no_room_2006"
        text = message(key, need, free, error.largest, error.holes)
    return run_once("text", "say", text, *cures)


def _by_file(p, cost):
    """Bytes that the model of an address needs when it is loaded from a file instead, where that
    would succeed; else 0."""
    found = cost.chunks
    if not isinstance(cost.source, int) or not found[1] & TRANSIENT:  # streamed
        return 0
    found = [c for c in found if not c & TRANSIENT]
    page = [chunk(4 * PAGE + SPI_EXTRA) | TRANSIENT | UNCHECKED]
    found = found[:1] + page + found[1:3] + page + found[3:]
    if p.exact:
        fits = not run_once("k210_fit", "missing", p.heap, found)
    else:
        fits = run_once("k210_cost", "required_free", found) <= p.largest
    return fits and sum([c & SIZE for c in found if not c & TRANSIENT])
