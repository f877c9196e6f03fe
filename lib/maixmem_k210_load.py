# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210's ways to load a model that are not kpu.load of an address in flash that can be read. A
one-time part."""

from maixmem import Cost, const, message, run_once
from maixmem_k210_chip import PAGE, SPI_EXTRA, chunk

_NAMES = (".kmodel", ".smodel", ".emodel")  # what the firmware looks for in a path
# bytes that the card's driver takes for a sector: v0.6.2-84 four for each, v0.6.2-16 one
_SD_BUFFERS = (2048, 512)
_RAM = const(0x80000000)
_END = const(0x80600000)


def way(p, source, how: dict) -> tuple:
    """(method of KModel.allocations(), bytes of the file's driver, why that cannot be, or None),
    for the port `p`.

    TypeError and ValueError for what is no source and no stream=.
    """
    if isinstance(source, bool) or not isinstance(source, (int, str)):
        raise TypeError(message("no_model_source", source))
    if hasattr(p, "method"):  # the only one that its firmware has
        return p.method, 0, None
    stream = how.get("stream")
    if stream is not None:
        return _streamed(stream), 0, _lacks_stream()
    if not isinstance(source, str):
        return "load_addr", 0, None
    why = None
    if not [x for x in _NAMES if x in source]:
        why = message("no_kmodel_in_path", source)
    return "load_path", file_buffer(source, p), why


def _streamed(stream):
    ints = [x for x in stream if isinstance(x, (int, bool))] if isinstance(stream, tuple) else ()
    if len(ints) != 3 or len(stream) != 3:
        raise ValueError(message("stream_options", stream))
    return "stream_dual" if stream[0] else "stream_single"


def _lacks_stream():
    from maixmem_k210_kpu import kpu

    return None if hasattr(kpu, "load_flash") else message("missing", "KPU.load_flash")


def file_buffer(path: str, p=None) -> int:
    """Bytes that the driver of a file system takes to read; of SPIFFS a page by SPI, as a flash
    read. Of a card the most, but where the port `p` finds out on its board."""
    where = path
    if path[:1] != "/":
        import os

        where = os.getcwd() + "/"
    if where[:4] != "/sd/":
        return 4 * PAGE + SPI_EXTRA
    return _seen(p, path) if p and p.heap else _SD_BUFFERS[0]


def _seen(p, path):
    """Which of _SD_BUFFERS the driver took for the head of this file: a block from malloc's top
    leaves behind it the head of the rest. The most where it came from a hole."""
    try:
        p.head_of(path)
    except OSError:  # inspect() says it
        return _SD_BUFFERS[0]
    p.free_bytes()
    end = _END - p.heap.heap_free
    for n in _SD_BUFFERS:
        at = p.heap.top + chunk(n)
        if at < end and p.heap.words[((at - _RAM) >> 2) + 2] == end - at + 1:
            return n
    return _SD_BUFFERS[0]


def told(p, source: int, how: dict, error: NotImplementedError):
    """The KModel at an address that cannot be read: of a `file` that is the same, or of its
    length, `nbytes`.

    By its length the working memory of a model is not known; that of V3 is refused cleanly when it
    does not fit. `error` says what the firmware lacks, and is raised where that is not
    flash_read."""
    if "flash_read" not in p.lacks:
        raise error
    nbytes, file = how.get("nbytes"), how.get("file")
    if file is not None:
        try:
            info = run_once("kmodel", "read_info", file)
        except OSError as e:
            raise not_read(file, e)
        info.size = None
        return info
    if isinstance(nbytes, bool) or not isinstance(nbytes, int) or nbytes < 1:
        raise ValueError(message("not_told", source, nbytes))
    info = run_once("kmodel", "KModel", "v3", how.get("stream") is not None, None)
    info.nbytes = info.largest_body = nbytes
    info.main_mem = info.header = 0
    return info


def not_read(path: str, error: OSError) -> OSError:
    """The error of a file with its path and the next step."""
    return OSError(error.args[0], message("file_not_read", path, error.args[0]))


def overwritten(source, error, where: str) -> Cost:
    """The Cost of what is no model (`error` says why) at an address where `where` says that
    something else is."""
    cost = Cost({"heap": 0}, {"heap": 0})
    cost.refuse = "{}; {}".format(error, where)
    cost.source = source
    cost.chunks = ()
    cost.nbytes = 1
    cost.warning = where
    return cost
