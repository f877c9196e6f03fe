# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a model manager holds, printed: the part of maixmem_models that status() loads when it is asked."""

from maixmem import kib, wrap

_MARKS = {"resident": "*", "half": "!", "out": " "}
_PAGE_ENDS = 8192  # what a level may be off by without anything gone: memory moves in pages


def status(manager, out=print):
    """Prints one line a model, newest load first, and returns the same as a dict; `out` takes one line of text.

    "need" is predicted, "took" measured on loading. "gone" are the bytes by region that are missing since before
    the first load and that no model here holds: camera and other buffers made since, or a leak. Bytes; allocates
    some KB; loads and frees nothing, but the port may take some ms to find the room.
    """
    models = manager.models()
    rows = [_row(m) for m in sorted(models, key=lambda m: (-m.order, str(m.name)))]
    for r in rows:
        took = "-" if r["took"] is None else kib(r["took"])
        text = "{}{:<14} need {:>10} took {:>10}".format(
            _MARKS[r["is"]], str(r["name"])[:14], kib(r["need"]), took
        )
        out(text + (" pinned" if r["pin"] else "") + (" in use" if r["held"] else ""))
    out(
        "{} switches, the last {} ms; state: {}".format(
            manager.switches, manager.last_ms, manager.state
        )
    )
    gone = _gone(manager, models)
    for region in sorted(gone):
        if gone[region] > _PAGE_ENDS:
            text = "{}: {} gone since the start: camera or other buffers, or a leak"
            for line in wrap(text.format(region, kib(gone[region]))):
                out(line)
    return {
        "models": rows,
        "switches": manager.switches,
        "last_ms": manager.last_ms,
        "state": manager.state,
        "gone": gone,
    }


def _row(m):
    return {
        "name": m.name,
        "is": "resident" if m.ready else "out" if m.handle is None else "half",
        "need": sum(m.cost.need.values()) if m.cost else 0,
        "took": m.took,
        "pin": m.pin,
        "held": m.held,
        "order": m.order,
        "used": m.used,
    }


def _gone(manager, models):
    gone = {}
    live = [m for m in models if m.handle is not None]
    overlap = getattr(manager.port, "overlap", None)  # ports whose models share memory
    twice = overlap([m.handle for m in live]) if overlap else {}
    for region in manager.base:
        held = sum([m.cost.need.get(region, 0) for m in live]) - twice.get(region, 0)
        gone[region] = max(0, manager.base[region] - manager.port.room(region) - held)
    return gone
