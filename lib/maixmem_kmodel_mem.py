# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is seldom needed of a model: one in a file, other ways to load it than kpu.load, why it
cannot run.

A one-time part of maixmem_kmodel.
"""

from maixmem import const, message, run_once
from maixmem_k210_chip import RAM, TRANSIENT

_HEADERS = const(4096)  # what kpu.load_flash keeps of a file, trusting that it holds all headers
_FIRST = (10240, 18, None)  # layer types that a V3 model may begin with; None: nobody read it


def with_file(source, look):
    """look(maixmem_kmodel.File) of a path or a bytes-like object; it is open meanwhile."""
    if not isinstance(source, str):
        view = memoryview(source)
        return _look(look, lambda offset, n: bytes(view[offset : offset + n]), len(source))
    with open(source, "rb") as file:

        def read(offset, n):
            file.seek(offset)
            return file.read(n)

        return _look(look, read, file.seek(0, 2))


def _look(look, read, size):
    return look(run_once("kmodel", "File", read, size))


def allocations(m, method: str, whole: int, rest: list) -> "list[tuple[int, int]]":
    """See KModel.allocations(): `whole` are the bytes of the file, `rest` what a load of any kind
    takes at its end."""
    if method in ("canmv", "sdk"):
        return [(whole, 0)] + [(232, 0)] * (m.format == "v4") + rest[-1:]
    if method[:6] != "stream":
        raise ValueError(message("load_method", method))
    if m.header > _HEADERS:
        return []
    buffers = [(m.largest_body + 256, 0)] * (1 + (method == "stream_dual"))
    return [(1, 0), (192, 0), (4352, 0)] + rest + buffers


def need(allocations: list) -> "int | None":
    """See KModel.need()."""
    return sum([n for n, kind in allocations if not kind & TRANSIENT]) or None


def peak(allocations: list) -> "int | None":
    """See KModel.peak()."""
    live = top = 0
    for n, kind in allocations:
        top = max(top, live + n)
        live += 0 if kind & TRANSIENT else n
    return top or None


def unsupported_reason(m, firmware: dict, method: str) -> "str | None":
    """See KModel.unsupported_reason()."""
    most = m.peak(method)
    ram = RAM if firmware["ram"] is None else firmware["ram"]
    v3 = m.format == "v3"
    if not v3 and m.format != "v4":
        key = "encrypted_model" if m.format == "smodel" else "format_not_loaded"
        return message(key, m.format)
    if not v3 and not firmware["v4"] and method not in ("canmv", "sdk"):
        return message("v4_model_on_v3")
    if not most:
        return message("headers_too_long", m.header, _HEADERS)
    if m.swapped != (method[:6] == "stream"):
        return message("words_swapped" if m.swapped else "words_not_swapped")
    if m.asserts:
        return message("layer_asserts", m.asserts)
    if v3 and m.first_type not in _FIRST:
        return message("first_layer", m.first_type)
    return message("larger_than_ram", most, ram) if most > ram else None
