# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the K210's port asks of a model once: what it takes and what overlaps it in flash. A one-time part.

Measured on the firmware (v0.6.2_84).
"""

from maixmem import Cost, KModelError, const, once, sentence
from maixmem_k210_chip import (
    FLASH_SIZE,
    IMAGE_OVERHEAD,
    PAGE,
    SIZE,
    SPI_EXTRA,
    SPIFFS_SIZE,
    SPIFFS_START,
    TRANSIENT,
    chunk,
    required_free,
)
from maixmem_kmodel import read_info

_NAMES = (".kmodel", ".smodel", ".emodel")  # what the firmware looks for in a path
_SD_BUFFER = const(2048)


# --- what a model takes ---


def inspect(p, source, stream: "tuple | None" = None, told: "dict | None" = None) -> Cost:
    """The Cost of a model, for the port `p`: cost.chunks are chunks(), cost.nbytes what it has in flash."""
    method = getattr(p, "method", _method(source, stream))
    try:
        if isinstance(source, str) or can_read_flash():
            info = read(source)
        else:
            info = once("k210_ask", "told", source, stream, told or {})
    except KModelError as e:
        where = _warning(p, source, 1)
        if not where:
            raise
        cost = Cost({"heap": 0}, {"heap": 0}, "exact", "{}; {}".format(e, where), source)
        cost.chunks = ()
        cost.nbytes = 1
        cost.warning = where
        return cost
    v4 = info.format != "v4" or once("k210_ask", "has_v4", p) is not False
    refuse = info.unsupported_reason({"v4": v4, "ram": None}, method)
    buffer = 0
    if method == "load_path":
        buffer = file_buffer(source)
        if not [x for x in _NAMES if x in source]:
            refuse = sentence("no_kmodel_in_path", source)
    if stream is not None:
        from maixmem_k210_kpu import kpu

        if not hasattr(kpu, "load_flash"):
            refuse = sentence("missing", "KPU.load_flash")
    load = chunks(info.allocations(method, buffer))
    need = sum([c & SIZE for c in load if not c & TRANSIENT])
    peak = required_free(load)[0]
    certainty = "exact" if info.main_mem else "bound"
    cost = Cost({"heap": need}, {"heap": peak}, certainty, refuse, source)
    cost.chunks = load
    cost.nbytes = info.nbytes or 1
    cost.warning = _warning(p, source, cost.nbytes)
    return cost


def chunks(allocations: "list[tuple[int, int]]") -> "list[int]":
    """The chunks of KModel.allocations(), each its size in bytes with the flags in the low bits."""
    return [chunk(n) | kind for n, kind in allocations]


def read(source):
    """read_info(); an OSError with the path and the next step."""
    try:
        return read_info(source)
    except OSError as e:
        raise OSError(e.args[0], sentence("file_not_read", source, e.args[0]))


def can_read_flash() -> bool:
    """False on a firmware without flash_read."""
    from maixmem_k210 import utils

    return "flash_read" not in getattr(utils, "missing", ())


def _method(source, stream):
    """The name of the way to load; TypeError for what is no source."""
    if isinstance(source, bool) or not isinstance(source, (int, str)):
        raise TypeError(sentence("no_model_source", source))
    if stream is None:
        return "load_path" if isinstance(source, str) else "load_addr"
    ints = [x for x in stream if isinstance(x, (int, bool))] if isinstance(stream, tuple) else ()
    if len(ints) != 3 or len(stream) != 3:
        raise ValueError(sentence("stream_options", stream))
    return "stream_dual" if stream[0] else "stream_single"


def file_buffer(path):
    """Bytes that the driver of a file system takes to read; of SPIFFS a page by SPI, as a flash read."""
    if path[:1] != "/":
        import os

        path = os.getcwd() + "/"
    return _SD_BUFFER if path[:4] == "/sd/" else 4 * PAGE + SPI_EXTRA


# --- where it lies ---


def _warning(p, source, nbytes: int) -> "str | None":
    """What is wrong with the place of a model, or that there was no memory to look."""
    if isinstance(source, str):
        return None
    try:
        return conflicts_at(p, source, nbytes)
    except MemoryError:
        return sentence("place_not_checked")


def conflicts_at(p, start: int, nbytes: int) -> "str | None":
    """What overlaps these bytes of flash: the firmware, /flash, or another model that was asked about."""
    end = start + nbytes
    owners = _owners(p) + [("model", c.source, c.nbytes) for c in p.costs.values()]
    found = []
    for name, first, n in owners:
        if first != start and not isinstance(first, str):
            low = max(start, first)
            high = min(end, first + n)
            if low < high:
                text = "overlap_of_ranges"
                found.append(sentence(text, start, end, name, first, first + n, low, high))
    return "; ".join(found) or None


def _owners(p):
    """[(name, start, bytes)] of what the firmware has in flash. It is asked once; the port keeps only its length."""
    if not can_read_flash():
        return [("SPIFFS", SPIFFS_START, SPIFFS_SIZE)]
    if p.firmware is None:
        if p.read_flash(0x1009, 7) == b"Kboot_v":
            p.firmware = once("flash_scan flash", "images", p.read_flash)
        else:
            p.firmware = image_bytes(p.read_flash(0, 5))
    kboot = isinstance(p.firmware, list)
    found = p.firmware if kboot else [("firmware", 0, p.firmware)]
    return [("SPIFFS", SPIFFS_START, SPIFFS_SIZE)] + found


def image_bytes(head: bytes) -> int:
    """The bytes of flash that an image with these first 5 has, 0 where it is none. Flag bits: encrypted, dual SPI."""
    n = int.from_bytes(head[1:5], "little")
    return 0 if head[0] & ~3 or not 0 < n < FLASH_SIZE - IMAGE_OVERHEAD else n + IMAGE_OVERHEAD
