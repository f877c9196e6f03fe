# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Reads the container of a .rknn file: for which chip it is, before the runtime sees it.

No memory sizes are in there: those only the runtime knows (Port.inspect of maixmem_rknn).
"""

import json
import struct

from maixmem import KModelError

_MAGIC = b"RKNN"
_ENCRYPTED = b"CYPTRKNN"
_HEADER = 64  # where the graph begins in every version after the first
_HEADER_V1 = 24
_JSON_LIMIT = 4 << 20

# The chips that models are converted for; those in one row run each other's models: one NPU, two names. Of other names
# (rv1106g3...) nothing is known, so they refuse nothing.
_CHIPS = (
    ("rk3562",),
    ("rk3566", "rk3568"),
    ("rk3576",),
    ("rk3588", "rk3588s"),
    ("rv1103", "rv1106"),
    ("rv1126b",),
)


# Contract. What a file says about itself: `version` of the container, `targets` (lower-case chip names; empty = it does not
# say, or the file is encrypted), `nbytes` of the file, `encrypted`.
class RknnFile:
    """The container of a .rknn file."""

    def __init__(self, nbytes, version=0, targets=(), encrypted=False):
        self.nbytes = nbytes
        self.version = version
        self.targets = targets
        self.encrypted = encrypted

    def refuse(self, soc):
        """Why this model cannot run on chip `soc` (None: unknown chip), or None when nothing speaks against it."""
        family = _family(soc)
        if family is None or not self.targets:
            return None
        if any(_family(target) in (None, family) for target in self.targets):
            return None
        text = "the model is for {}, this chip is {}: convert it again with target_platform='{}'"
        return text.format(" or ".join(self.targets), soc, soc)


def read_file(data):
    """The RknnFile of a bytes-like object holding a whole file. KModelError when it is not one; copies only its JSON text."""
    view = memoryview(data)
    nbytes = len(view)
    if bytes(view[:8]) == _ENCRYPTED:
        return RknnFile(nbytes, encrypted=True)
    if nbytes < _HEADER_V1 or bytes(view[:4]) != _MAGIC:
        raise KModelError(
            "offset 0: {} instead of b'RKNN': not a .rknn file ({} bytes)".format(
                bytes(view[:4]), nbytes
            )
        )
    version, graph = struct.unpack("<QQ", view[8:24])
    start = (_HEADER if version & 0xFF > 1 and graph else _HEADER_V1) + graph
    if start + 8 > nbytes:
        text = "offset 16: the graph of {} bytes ends at {}, the file at {}: it was cut, copy it again"
        raise KModelError(text.format(graph, start, nbytes))
    length = struct.unpack("<Q", view[start : start + 8])[0]
    if length > min(nbytes - start - 8, _JSON_LIMIT):
        text = "offset {}: {} bytes of JSON, {} are left in the file: it was cut, copy it again"
        raise KModelError(text.format(start, length, nbytes - start - 8))
    return RknnFile(nbytes, version, _targets(bytes(view[start + 8 : start + 8 + length])))


# A file without readable JSON is left to the runtime: only what is said is used.
def _targets(text):
    try:
        found = json.loads(text.decode().rstrip("\0"))["target_platform"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return ()
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list):
        return ()
    return tuple([name.lower() for name in found if isinstance(name, str)])


def _family(soc):
    for same in _CHIPS:
        if soc in same:
            return same
    return None
