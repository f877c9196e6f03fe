# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a firmware image tells of a core dump: the access that the instruction at EPC made, and the
function that it is in."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from k210_model.heap import RAM_START

from maixmem_cli.emulator.readers import functions, signatures
from maixmem_cli.errors.dump import Dump, region

_NAMES = (
    "zero ra sp gp tp t0 t1 t2 s0/fp s1 a0 a1 a2 a3 a4 a5 a6 a7 "
    "s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
).split()
_LOAD, _FLOAT_LOAD, _STORE, _FLOAT_STORE = 0x03, 0x07, 0x23, 0x27
_ELSEWHERE = "EPC is not in this image: another build, or a jump to nowhere"
_OTHER_BUILD = "the instruction at EPC in this image does not do that: another build"
_READ = "it read {nbytes} bytes at {where}, {region}"
_WROTE = "it wrote {nbytes} bytes at {where}, {region}"
_IN = "EPC: {function}"
_CALLED_FROM = "called from: {function}"
_HEAP = "the heap's own lists are damaged: a block was freed twice, or written past its end"


@dataclass(frozen=True)
class Access:
    """A load or store: `nbytes` at register + offset."""

    store: bool
    register: str
    offset: int
    nbytes: int


def access(code: bytes) -> Access | None:
    """What the instruction that these bytes begin with reads or writes, or None."""
    (half,) = struct.unpack_from("<H", code)
    if half & 3 != 3:
        return _compressed(half)
    (word,) = struct.unpack_from("<I", code)
    kind, width = word & 0x7F, word >> 12 & 3
    base = _NAMES[word >> 15 & 31]
    if kind in (_LOAD, _FLOAT_LOAD):
        return Access(False, base, _signed(word >> 20, 12), 1 << width)
    if kind in (_STORE, _FLOAT_STORE):
        offset = _signed(word >> 25 << 5 | word >> 7 & 31, 12)
        return Access(True, base, offset, 1 << width)
    return None


def _signed(value: int, bits: int) -> int:
    return value - (value >> (bits - 1) << bits)


def _compressed(half: int) -> Access | None:
    """C.LW, C.LD, C.SW, C.SD and those through sp."""
    kind, quadrant = half >> 13, half & 3
    if quadrant == 0 and kind in (1, 2, 3, 5, 6, 7):
        wide = kind not in (2, 6)
        offset = (half >> 10 & 7) << 3
        low = half >> 5 & 3
        offset |= low << 6 if wide else (low & 1) << 6 | (low >> 1) << 2
        return Access(kind > 4, _NAMES[8 + (half >> 7 & 7)], offset, 8 if wide else 4)
    if quadrant == 2 and kind in (1, 2, 3):
        low = half >> 2 & 31 | (half >> 12 & 1) << 5
        wide = kind != 2
        offset = (low & 7) << 6 | low & 0x38 if wide else (low & 3) << 6 | low & 0x3C
        return Access(False, "sp", offset, 8 if wide else 4)
    if quadrant == 2 and kind in (5, 6, 7):
        low = half >> 7 & 63
        wide = kind != 6
        offset = (low & 7) << 6 | low & 0x38 if wide else (low & 3) << 6 | low & 0x3C
        return Access(True, "sp", offset, 8 if wide else 4)
    return None


def tell(dump: Dump, code: bytes) -> None:
    """Puts into a dump what the image tells, and what it does not."""
    at = (dump.epc or 0) - RAM_START
    if dump.epc is None or not 0 <= at < len(code) - 4:
        dump.image.append((_ELSEWHERE, {}))
        return
    did = access(code[at : at + 4])
    if dump.cause in (4, 5, 6, 7) and (not did or did.store != (dump.cause > 5)):
        dump.image.append((_OTHER_BUILD, {}))
        return
    if did and did.register in dump.registers:
        base = 0 if did.register == "zero" else dump.registers[did.register]
        dump.address = address = (base + did.offset) & (1 << 64) - 1
        where = f"{did.register} + {did.offset}: {address:#x}"
        values = {"nbytes": did.nbytes, "where": where, "region": region(address)}
        dump.image.append((_WROTE if did.store else _READ, values))
    found = functions.Functions(code)
    for sentence, place in ((_IN, dump.epc), (_CALLED_FROM, dump.registers.get("ra"))):
        if place is not None and 0 <= place - RAM_START < len(code):
            dump.image.append((sentence, {"function": found.describe(place)}))
    allocator = signatures.allocator(code)
    if found.begin(dump.epc) in allocator.values():
        dump.image.append(("fits: {cause}", {"cause": _HEAP}))
