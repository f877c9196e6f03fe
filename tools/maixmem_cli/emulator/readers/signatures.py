# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where newlib's malloc, free and realloc, and what runs bytecode, are in a firmware without
symbols.

Each of the allocator's is found by what its code must do (newlib's mallocr.c for a 64-bit
machine): malloc and realloc make a chunk size of a request (add 23, compare with 46), realloc
reads the size in front of the block before that, free reads it and clears bit 0. Where a function
begins: the nearest place before it that a jump or call goes to. What runs bytecode is the function
that the table of its 256 opcodes points into (py/vmentrytable.h): the 64 of small numbers share an
entry. What raises an exception (py/nlrsetjmp.c) is the one that calls newlib's longjmp(), whose
last instructions give its second argument, or 1.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from k210_model.heap import RAM_START

_REACH = 96  # bytes between the beginning of a function and its signature
_ADDI, _LD, _ANDI, _LBU = 0x13, 0x3003, 0x7013, 0x4003
_A1 = 11
_JUMP, _CALL = 0, 1  # the register that keeps where a jal came from
_JAL_RA, _AUIPC_RA, _JALR_RA = 0xEF, 0x97, 0x80E7
_LONGJMP = 120  #: bytes
_LONGJMP_BEGINS = bytes.fromhex("83300500")  #: ld ra, 0(a0)
_LONGJMP_ENDS = bytes.fromhex("13b515002e958280")  #: seqz a0, a1; add a0, a0, a1; ret
_OPCODES, _SMALL_NUMBERS, _A_SMALL_NUMBER = 256, 64, 0x80
_LOOPS = (0x35, 0x36)  # py/bc0.h: JUMP, POP_JUMP_IF_TRUE: what a loop ends with


def _words(code: bytes) -> list[int]:
    """The 32 bits that begin at each halfword."""
    halves = array("H", code[: len(code) & ~1])
    return [a | b << 16 for a, b in zip(halves, halves[1:])]


def _is(word: int, kind: int, immediate: int) -> bool:
    return word & 0x707F == kind and word >> 20 == immediate & 0xFFF


def _jumps(words: list[int], links: tuple[int, ...] = (_JUMP, _CALL)) -> Counter[int]:
    """target (halfword) -> number of jal that go there."""
    found: Counter[int] = Counter()
    for i, w in enumerate(words):
        if w & 0x7F == 0x6F and w >> 7 & 31 in links:
            found[i + _jal(w) // 2] += 1
    return found


def _jal(w: int) -> int:
    """How far a jal goes, in bytes."""
    offset = w >> 31 << 20 | (w >> 12 & 0xFF) << 12 | (w >> 20 & 1) << 11 | (w >> 21 & 0x3FF) << 1
    return offset - ((offset & 1 << 20) << 1)


def _begin(jumps: Counter[int], at: int) -> int | None:
    before = [i for i in range(at - _REACH // 2, at + 1) if jumps[i]]
    return RAM_START + 2 * before[-1] if before else None


def _sizes(words: list[int]) -> list[int]:
    """Where a request becomes a chunk size."""
    adds = [i for i, w in enumerate(words) if _is(w, _ADDI, 23)]
    return [
        i
        for i in adds
        if any(w & 0xFF07F == _ADDI and w >> 20 == 46 for w in words[max(0, i - 12) : i + 14])
    ]


def _reads_size(words: list[int], at: int) -> bool:
    return any(_is(w, _LD, -8) for w in words[max(0, at - 12) : at])


def _frees(words: list[int]) -> list[int]:
    """Where the size in front of a block is read and its bit 0 cleared, after a branch on the
    block being null."""
    out = []
    for i, w in enumerate(words):
        if not (_is(w, _ANDI, -2) or w & 0xFC7F == 0x9879) or not _reads_size(words, i + 1):
            continue
        for k in range(max(0, i - 40), i):
            v = words[k]
            if v & 0xE383 == 0xC181 or (
                v & 0x707F == 0x63 and v >> 15 & 31 == _A1 and not v >> 20 & 31
            ):
                out.append(i)
                break
    return out


def allocator(code: bytes) -> dict[str, int]:
    """{"malloc", "free", "realloc": address of the function that takes (reent, ...)}; those not
    found are left out."""
    words = _words(code)
    jumps = _jumps(words)
    sizes = _sizes(words)
    found = {
        "malloc": [i for i in sizes if not _reads_size(words, i) and words[i] >> 15 & 31 == _A1],
        "realloc": [i for i in sizes if _reads_size(words, i)],
        "free": _frees(words),
    }
    out = {}
    for name, places in found.items():
        begins = {b for b in (_begin(jumps, i) for i in places) if b is not None}
        if len(begins) == 1:
            out[name] = begins.pop()
    return out


def opcodes(code: bytes) -> tuple[int, ...]:
    """The entries of the table of opcodes, when there is one such table; else nothing."""
    words = [v for (v,) in struct.iter_unpack("<Q", code[: len(code) & ~7])]
    end, length, found = RAM_START + len(code), 0, []
    for i, v in enumerate(words):
        length = length + 1 if RAM_START <= v < end else 0
        entries = words[i + 1 - _OPCODES : i + 1]
        if length >= _OPCODES and entries.count(entries[_A_SMALL_NUMBER]) == _SMALL_NUMBERS:
            found.append(tuple(entries))
    return found[0] if len(found) == 1 else ()


def raises(code: bytes) -> int | None:
    """The address of nlr_jump(), or None."""
    end = code.find(_LONGJMP_ENDS)
    if end < 0 or code.find(_LONGJMP_ENDS, end + 1) >= 0:
        return None
    words = _words(code)
    begin = code.rfind(_LONGJMP_BEGINS, end - _LONGJMP, end) // 2
    by = [i for i, target in _calls(words) if target == begin]
    begins = sorted({target for _, target in _calls(words)})
    at = bisect_right(begins, by[0]) if len(by) == 1 else 0
    return RAM_START + 2 * begins[at - 1] if at else None


def _calls(words: list[int]) -> Iterator[tuple[int, int]]:
    """Each call, beyond the reach of jal too: where it is and where it goes, in halfwords."""
    for i, w in enumerate(words[:-2]):
        if w & 0xFFF == _JAL_RA:
            yield i, i + _jal(w) // 2
        elif w & 0xFFF == _AUIPC_RA and words[i + 2] & 0xFFFFF == _JALR_RA:
            near = words[i + 2] >> 20
            near -= (near & 1 << 11) << 1
            yield i, i + (((w & 0xFFFFF000) + near + (1 << 31)) % (1 << 32) - (1 << 31)) // 2


def call_targets(code: bytes) -> list[int]:
    """The addresses that a call goes to."""
    return [RAM_START + 2 * i for i in _jumps(_words(code), (_CALL,))]


def bytecode(code: bytes, entries: tuple[int, ...]) -> int | None:
    """The address of mp_execute_bytecode(), or None; `entries`: of the opcodes."""
    if not entries:
        return None
    first = (min(entries) - RAM_START) // 2
    calls = _jumps(_words(code), (_CALL,))
    return max((RAM_START + 2 * i for i in calls if i <= first), default=None)


def jumps(code: bytes, entries: tuple[int, ...]) -> list[int]:
    """Where the opcodes that close a loop are run, when their code begins with reading the
    second byte of how far; else none."""
    found = [entries[op] for op in _LOOPS] if entries else []
    words = [struct.unpack_from("<I", code, at - RAM_START)[0] for at in found]
    return found if words and all(_is(w, _LBU, 1) for w in words) else []
