# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Reads the container of a .rknn file: for which chip it is, before the runtime sees it.

No memory sizes are in there: those only the runtime knows (Port.inspect of maixmem_rknn).
"""

from __future__ import annotations

import json
import re
import struct
from typing import Any

from maixmem import KModelError

_MAGIC = b"RKNN"
_ENCRYPTED = b"CYPTRKNN"
_HEADER = 64  # where the graph begins in every version after the first
_HEADER_V1 = 24
_JSON_LIMIT = 4 << 20
# the first container of which the runtime was seen to count all that it keeps, see cost.py
_COUNTED = 6

# The chips that models are converted for; those in one row run each other's models: one NPU, two
# names. Of other names (rv1106g3...) nothing is known, so they refuse nothing.
_CHIPS = [
    tuple(row.split("/"))
    for row in "rk3562 rk3566/rk3568 rk3576 rk3588/rk3588s rv1103/rv1106 rv1126b rk2118".split()
]
# Coprocessors of RKNN3: another toolkit, and another runtime (airockchip/rknn3-toolkit 1.0.0).
_RKNN3 = ("rk1820", "rk1828")
# What RKNN-Toolkit 1 writes and RKNN-Toolkit 2 does not: the chips of its files (RK1808,
# RK3399Pro, RV1109, RV1126) have another NPU, and the runtime of ours says of them no more than -1
# or -6.
_TOOLKIT_1 = "ovxlib_version"
# A name in the graph of models for several shapes, with its length before it, as the runtime looks
# for it; in the text of other models there is only a similar word.
_SEVERAL = re.compile(re.escape(struct.pack("<I", 13) + b"dynamic_shape\0"))
# A node of the graph, "type:name" with its length before it. Operators that are not RKNN's own
# begin with cst: the toolkit wants that of whoever makes one.
_NODE = re.compile(rb"(cst\w+):[^\0]*(?=\0)")


# Contract. What a file says about itself: `version` of the container, `toolkit` that made it ("" =
# it does not say), `targets` (lower-case chip names; empty = it does not say, or the file is
# encrypted), `nbytes` of the file and of its `graph`, `encrypted`; `old`: made by RKNN-Toolkit 1;
# `several`: converted for several shapes, None where the file does not say; `operators`: the types
# of its operators that the program has to register.
class RknnFile:
    """The container of a .rknn file."""

    def __init__(self, nbytes: int, version: int = 0, graph: int = 0) -> None:
        self.nbytes = nbytes
        self.version = version
        self.graph = graph
        self.targets: tuple[str, ...] = ()
        self.toolkit = ""
        self.encrypted = False
        self.old = False
        self.several: bool | None = None
        self.operators: tuple[str, ...] = ()

    @property
    def uncounted(self) -> bool:
        """Whether the runtime leaves what it keeps of such a file out of its sum of bytes under
        MEM_ALLOC_OUTSIDE."""
        return 0 < self.version & 0xFF < _COUNTED

    def refuse(self, soc: str | None) -> str | None:
        """Why this model cannot run on chip `soc` (None: unknown chip), or None when nothing
        speaks against it."""
        if self.old:
            text = (
                "a file of RKNN-Toolkit 1 ({}), for RK1808, RK3399Pro, RV1109 or RV1126: convert "
            )
            text += "the original with RKNN-Toolkit2"
            return text.format(self.toolkit or "no version")
        if any(target in _RKNN3 for target in self.targets):
            text = (
                "a model of RKNN3 for {}: that coprocessor has a runtime of its own, which is not "
            )
            text += "served here; for this chip convert the original with RKNN-Toolkit2"
            return text.format(" or ".join(self.targets))
        family = _family(soc)
        if family is None or not self.targets:
            return None
        if any(_family(target) in (None, family) for target in self.targets):
            return None
        text = "the model is for {}, this chip is {}: convert it again with target_platform='{}'"
        return text.format(" or ".join(self.targets), soc, soc)


def read_file(data: Any) -> RknnFile:
    """The RknnFile of a bytes-like object holding a whole file. KModelError when it is not one;
    copies only its JSON text."""
    view = memoryview(data)
    nbytes = len(view)
    if bytes(view[:8]) == _ENCRYPTED:
        found = RknnFile(nbytes)
        found.encrypted = True
        return found
    if nbytes < _HEADER_V1 or bytes(view[:4]) != _MAGIC:
        raise KModelError(
            "offset 0: {!r} instead of b'RKNN': not a .rknn file ({} bytes)".format(
                bytes(view[:4]), nbytes
            )
        )
    version, graph = struct.unpack("<QQ", view[8:24])
    start = (_HEADER if version & 0xFF > 1 and graph else _HEADER_V1) + graph
    if start + 8 > nbytes:
        text = "offset 16: the graph of {} bytes ends at {}, the file at {}: it was cut, copy it "
        text += "again"
        raise KModelError(text.format(graph, start, nbytes))
    length = struct.unpack("<Q", view[start : start + 8])[0]
    if length > min(nbytes - start - 8, _JSON_LIMIT):
        text = "offset {}: {} bytes of JSON, {} are left in the file: it was cut, copy it again"
        raise KModelError(text.format(start, length, nbytes - start - 8))
    found = RknnFile(nbytes, version, graph)
    found.several = _SEVERAL.search(view[:start]) is not None
    found.operators = _operators(view[:start])
    _describe(found, bytes(view[start + 8 : start + 8 + length]))
    return found


def _operators(graph: memoryview) -> tuple[str, ...]:
    found = set()
    for node in _NODE.finditer(graph):
        before = bytes(graph[max(0, node.start() - 4) : node.start()])
        if before == struct.pack("<I", len(node[0])):
            found.add(node[1].decode())
    return tuple(sorted(found))


# A file without readable JSON is left to the runtime: only what is said is used. A container of
# the first version is not believed about its chip: the vendor's own one for RK3588 says rk3566,
# and runs.
def _describe(file: RknnFile, text: bytes) -> None:
    try:
        found = json.loads(text.decode().rstrip("\0"))
    except (ValueError, RecursionError):
        return
    if not isinstance(found, dict):
        return
    file.old = _TOOLKIT_1 in found
    if isinstance(found.get("version"), str):
        file.toolkit = found["version"]
    targets = found.get("target_platform")
    if isinstance(targets, str):
        targets = [targets]
    if isinstance(targets, list) and file.version != 1:
        file.targets = tuple([name.lower() for name in targets if isinstance(name, str)])


def is_known(soc: str) -> bool:
    """Whether a chip is one that models of RKNN-Toolkit2 are converted for, as far as the toolkits
    to 2.3.2 tell."""
    return _family(soc) is not None


def _family(soc: str | None) -> tuple[str, ...] | None:
    for same in _CHIPS:
        if soc in same:
            return same
    return None
