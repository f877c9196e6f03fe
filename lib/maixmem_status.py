# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a model manager seldom needs: what it holds, printed, and to forget a model; and a
Watch's table.

A one-time part.
"""

from maixmem import const, message
from maixmem_report import kib

_MARKS = {"resident": "*", "half": "!", "out": " "}
_PAGE_ENDS = const(8192)  # what room may be off by without anything missing: memory moves in pages


def status(manager, out=print) -> dict:
    """Prints one line a model, newest load first, and returns the same as a dict; `out` takes one
    line of text.

    "predicted" is the forecast, "measured" what loading took, None where that is not known.
    "unaccounted" are the bytes by region that are missing since before the first load and that no
    model here holds: camera and other buffers made since, or a leak. Bytes; allocates some KB;
    loads and frees nothing, but the port may take some ms to find the room.
    """
    models = sorted(manager.models.values(), key=lambda m: (-m.order, str(m.name)))
    rows = [_row(m) for m in models]
    for r in rows:
        text = "{}{:<14} predicted {:>10} measured {:>10}".format(
            _MARKS[r["is"]],
            str(r["name"])[:14],
            kib(r["predicted"]),
            "-" if r["measured"] is None else kib(r["measured"]),
        )
        out(text + (" pinned" if r["pin"] else "") + (" in use" if r["held"] else ""))
    out("{} switches; state: {}".format(manager.switches, manager.state))
    missing = _unaccounted(manager, models)
    for region in sorted(missing):
        if missing[region] > _PAGE_ENDS:
            out("{}: {} unaccounted for since start".format(region, kib(missing[region])))
            out("(camera, other buffers, or a leak)")
    return {
        "models": rows,
        "switches": manager.switches,
        "state": manager.state,
        "unaccounted": missing,
    }


def _row(m):
    return {
        "name": m.name,
        "is": "resident" if m.ready else "out" if m.handle is None else "half",
        "predicted": sum(m.cost.need.values()) if m.cost else 0,
        "measured": m.took or None,  # 0 where the port cannot read it
        "pin": m.pin,
        "held": m.pin_count,
        "order": m.order,
        "used": m.used,
    }


def _unaccounted(manager, models):
    missing = {}
    live = [m for m in models if m.handle is not None]
    p = manager.port
    twice = p.overlap([m.handle for m in live]) if p.share == "arena" else {}
    for region in manager.base:
        held = sum([m.cost.need.get(region, 0) for m in live]) - twice.get(region, 0)
        missing[region] = max(0, manager.base[region] - manager.port.room(region) - held)
    return missing


def watched(watch, out=print) -> None:
    """See Watch.report()."""
    rows = [("start", watch.start)] + watch.marks + [("lowest", watch.low), ("now", watch.free)]
    out("{:<16}".format("free") + "".join(["{:>12}".format(n) for n in watch.names]))
    for label, row in rows:
        out("{:<16}".format(label[:16]) + "".join(["{:>12}".format(kib(n)) for n in row]))


def forget(manager, name) -> None:
    """See ModelManager.forget()."""
    for x in manager.models.values():
        if x.fallback == name:
            raise ValueError(message("is_fallback", name, x.name))
    manager.release(name)
    del manager.models[name]
