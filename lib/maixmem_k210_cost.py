# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the K210's port asks of a model once: what it takes and what overlaps it in flash. A
one-time part.

Measured on the firmware (v0.6.2_84).
"""

from sys import modules

from maixmem import Cost, KModelError, const, message, run_once
from maixmem_k210_chip import (
    FLASH_SIZE,
    HELD,
    IMAGE_OVERHEAD,
    PAGE,
    RAM,
    SIZE,
    SPIFFS_SIZE,
    SPIFFS_START,
    TRANSIENT,
    TRIM,
    chunk,
)

_YOLO = "maixmem_k210_boxes" in modules  # which asks for cells
_TOP = const(32)  # that malloc leaves at the top

# --- what a model takes ---


def again(p, cost) -> None:
    """The file of a model is another one than at add(): its Cost becomes that of the new one.
    KModelError where that cannot run, OSError with the path where it is gone."""
    new = inspect(p, cost.source, cost.how)
    names = "need peak chunks nbytes certainty refuse warning head"
    for name in (names + " cells" if _YOLO else names).split():
        setattr(cost, name, getattr(new, name))
    if cost.refuse:
        raise KModelError(message("cannot_run", cost.refuse))


def inspect(p, source, how: dict) -> Cost:
    """The Cost of a model, for the port `p`: cost.chunks are chunks(), cost.nbytes what it has in
    flash."""
    method, buffer, refuse = "load_addr", 0, None
    if type(source) is not int or how:
        method, buffer, refuse = run_once("k210_load", "way", p, source, how)
    try:
        info = run_once("kmodel", "read_info", source)
    except NotImplementedError as e:  # a firmware that reads no flash
        info = run_once("k210_load", "told", p, source, how, e)
    except OSError as e:
        raise run_once("k210_load", "not_read", source, e)
    except KModelError as e:
        where = _warning(p, source, 1)
        if not where:
            raise
        return run_once("k210_load", "overwritten", source, e, where)
    early = "heap_free" in p.lacks  # M5StickV's v0.5.0-98 keeps less of a model
    load = chunks(info.allocations(method, buffer, 176 if early else 192))
    if early and buffer:  # ... and has read the header of a file when it takes the first block
        load = load[:1] + load[2:]
    need = sum([c & SIZE for c in load if not c & TRANSIENT])
    peak = required_free(load)
    cost = Cost({"heap": need}, {"heap": peak})
    cost.source = source
    cost.chunks = load
    cost.nbytes = info.nbytes or 1
    if _YOLO:
        cost.cells = _cells(how.get("file", source))
    if type(source) is str:  # another file may come in its place: again()
        cost.head = p.head_of(source)
        cost.how = how
    if not info.main_mem:
        cost.certainty = "bound"
    if not info.plain or peak > RAM or refuse or method[:5] != "load_":
        cost.refuse = refuse or run_once("k210_cause", "unsupported_reason", p, info, method)
    where = _warning(p, source, cost.nbytes)
    if where:
        cost.warning = where
    return cost


def _cells(source):
    """Those of YOLO's output; 0 where that cannot be read."""
    try:
        return run_once("k210_cells", "cells", source)
    except (MemoryError, RuntimeError):
        return 0


def chunks(allocations: "list[tuple[int, int]]") -> "tuple[int, ...]":
    """The chunks of KModel.allocations(), each its size in bytes with the flags in the low
    bits."""
    return tuple([chunk(n) | kind for n, kind in allocations])


# A load is a list of chunks in order. The top of the heap grows by whole requests, in pages, and
# only what is left there serves others. How much of a page is left before is not known: this is
# the worst case of all, without any hole.
def required_free(pieces) -> int:
    """Bytes that heap_free() must have for a load to succeed, wherever pages end."""
    most = rest = 0
    while rest <= PAGE + _TOP:
        moved, more = _grow(pieces, rest)
        most = max(most, moved)
        rest += more
    return most


def _grow(pieces, rest):
    """The same for `rest` free bytes at the top, and how many more would change the course of
    things."""
    moved = most = held = 0
    more = TRIM
    for piece in pieces:
        size = piece & SIZE
        if size + _TOP > rest:
            more = min(more, size + _TOP - rest)
            grown = (size + _TOP + PAGE - 1) & -PAGE
            moved += grown
            rest += grown
            most = max(most, moved)
        rest -= size
        if piece & HELD:
            held = size
        elif piece & TRANSIENT:
            rest += size + held
            held = 0
            if rest >= TRIM:
                back = (rest - _TOP - 1) // PAGE * PAGE
                moved -= back
                rest -= back
            else:
                more = min(more, TRIM - rest)
    return most, more


# --- where it lies ---


def _warning(p, source, nbytes: int) -> "str | None":
    """What is wrong with the place of a model, or that there was no memory to look."""
    if isinstance(source, str):
        return None
    try:
        return conflicts_at(p, source, nbytes)
    except MemoryError:
        return message("place_not_checked")


def conflicts_at(p, start: int, nbytes: int) -> "str | None":
    """What overlaps these bytes of flash: the firmware, /flash, or another model that was
    inspected."""
    end = start + nbytes
    owners = _owners(p) + [("model", c.source, c.nbytes) for c in p.costs.values()]
    found = []
    for name, first, n in owners:
        if first != start and not isinstance(first, str):
            low = max(start, first)
            high = min(end, first + n)
            if low < high:
                text = "overlap_of_ranges"
                found.append(message(text, start, end, name, first, first + n, low, high))
    return "; ".join(found) or None


def _owners(p):
    """[(name, start, bytes)] of what the firmware has in flash. It is read once; the port keeps
    only its length."""
    if p.firmware is None:
        try:
            if p.read_flash(0x1009, 7) == b"Kboot_v":
                p.firmware = run_once("flash_scan", "images", p.read_flash)
            else:
                p.firmware = image_bytes(p.read_flash(0, 5))
        except NotImplementedError:
            p.firmware = 0
    kboot = isinstance(p.firmware, list)
    found = p.firmware if kboot else [("firmware", 0, p.firmware)]
    return [("SPIFFS", SPIFFS_START, SPIFFS_SIZE)] + found


def image_bytes(head: bytes) -> int:
    """The bytes of flash that an image with these first 5 has, 0 where it is none. Flag bits:
    encrypted, dual SPI."""
    n = int.from_bytes(head[1:5], "little")
    return 0 if head[0] & ~3 or not 0 < n < FLASH_SIZE - IMAGE_OVERHEAD else n + IMAGE_OVERHEAD
