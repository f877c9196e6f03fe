# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot of the GC heap, which the board writes into a file: `maixmem heap FILE` shows it.

For a program that must not be interrupted, or a board without a cable. Needs no other module; on a
K210 the system heap is in it where maixmem_k210_heap is on the board. The format of the file is
described in tools/maixmem_cli/snapshot/store.py.
"""

import gc
import sys

try:
    from micropython import const
except ImportError:
    from builtins import int as const

_FAR = const(262144)  # bytes around the type of types that are the interpreter's own
_BEFORE = const(4096)  # bytes around the dict of __main__ that have the interpreter's state
_BEHIND = const(6144)
_BEGINS = const(65536)  # where a memory begins is a multiple of this
_MOST_STACK = const(1048576)
_TYPES = const(128)  # that are told apart; of more, some are written again
_LONGEST = const(256)  # bytes of a name
_BINS = const(2048)  # words from malloc's table on that have the first chunk's address
_RAM = const(0x80000000)  # of a K210
_RAM_END = const(0x80600000)


def save(path: str, collect: bool = True) -> int:
    """Writes the snapshot; its bytes. `collect`: garbage is collected before. Each call leaves a
    name of at most 9 bytes in the interpreter.

    NotImplementedError: this firmware has not what it takes; OSError: the file.
    """
    try:
        before = gc.mem_alloc()
        board = _Board()
    except (ImportError, AttributeError) as e:
        raise NotImplementedError("this firmware has not what a snapshot takes: {}".format(e))
    with open(path, "wb") as file:
        return board.write(file, before, collect)


# Memory from one address up to another, as bytes and as words; at() reads nothing outside of it.
# A word allocates only where a board of 32 bits has one of 2**30 and more.
class _Memory:
    def __init__(self, low, high, word):
        import uctypes

        self.low = low
        self.high = high
        self.word = word
        self.data = uctypes.bytearray_at(low, high - low)
        self.halves = uctypes.struct(low, (uctypes.ARRAY | 0, uctypes.UINT32 | high - low >> 2))

    def at(self, address):
        """The word there; 0 outside, and for what is no address."""
        if address < self.low or address > self.high - self.word or address % self.word:
            return 0
        i = (address - self.low) >> 2
        if self.word == 4:
            return self.halves[i]
        high = self.halves[i + 1]
        return self.halves[i] | high << 32 if high < 65536 else 0


# Owns its buffers. All that it needs is made before heap(), which allocates nothing: so the table
# of blocks stays as it was written.
class _Board:
    def __init__(self):
        import __main__

        try:
            import ustruct as struct
        except ImportError:
            import struct

        self.pack = struct.pack_into
        self.word = w = struct.calcsize("P")
        self.types = id(type)
        self.asker = id(globals())
        self.main = _Memory(id(__main__), id(__main__) + 2 * w, w).at(id(__main__) + w)
        low = max(self.main - _BEFORE, self.main - self.main % _BEGINS)
        self.state = _Memory(low, self.main + _BEHIND, w)
        low, high = _readable(self.types)
        self.near = _Memory(low, high, w)
        self.table, self.pool = self._books()
        self.stack = self._stack()
        self.seen = [0] * _TYPES
        self.digits = bytearray(24)

    # --- what the interpreter keeps (py/mpstate.h) ---
    def _books(self):
        """The table of blocks and the blocks, by the GC heap's own numbers."""
        state = self.state
        w = self.word
        size = gc.mem_alloc() + gc.mem_free()
        for at in range(self.main, state.high - 4 * w, w):
            table = state.at(at)
            n = state.at(at + w)
            for k in (2, 3):  # with a table of finalisers between them, or without
                pool = state.at(at + k * w)
                end = state.at(at + k * w + w)
                if 0 < table < table + n <= pool and end - pool == 16 * w * n == size:
                    return _Memory(table, table + n, w), _Memory(pool, end, w)
        raise NotImplementedError(
            "the GC heap is not found, or has several areas: maixmem heap PORT reads it"
        )

    def _stack(self):
        """The part of the stack in use, by the state of the thread that runs."""
        state = self.state
        pool = self.pool
        w = self.word
        for at in range(state.low + 4 * w, state.high - 2 * w, w):
            names = state.at(at)  # of who called, then those of this module
            if state.at(at + w) == self.asker and (
                names == self.main or pool.low <= names < pool.high
            ):
                low = state.at(at + 2 * w)
                for back in range(at - w, at - 5 * w, -w):
                    top = state.at(back)
                    if low < top < low + _MOST_STACK:
                        return _Memory(low, top - top % w, w)
        raise NotImplementedError(
            "the running thread is not found: save() works in the first one, not in a thread"
        )

    # --- the file ---
    def write(self, file, before, collect):
        """All of it; its bytes."""
        self.file = file
        self.written = 0
        who = sys.implementation
        self._bytes("maixmem-heap 1\n")
        self._bytes("interpreter %s %d %d %s\n" % (who[0], who[1][0], who[1][1], sys.platform))
        self._bytes("program running\n")
        chunks = _chunks() if sys.platform == "MaixPy" else ()
        for address, n, used in chunks:
            self._bytes("chunk %d %d %d\n" % (address, n, used))
        chunks = None
        self._names(_newest())
        if collect:
            gc.collect()
            self._bytes("garbage collected\n")
        else:
            self._bytes("garbage kept\n")
        named = self.word, self.types, self.main, id(sys.modules), self.asker, id("")
        line = "board word=%d types=%d main=%d modules=%d asker=%d empty=%d before=%d after=%d\n"
        self._bytes(line % (named + (before, gc.mem_alloc())))
        self.heap()
        self._bytes("end\n")
        return self.written

    def _bytes(self, data):
        self.written += self.file.write(data)

    def _number(self, n):
        """A space and the number."""
        digits = self.digits
        i = len(digits) - 1
        digits[i] = 48 + n % 10
        while n > 9:
            n //= 10
            i -= 1
            digits[i] = 48 + n % 10
        i -= 1
        digits[i] = 32
        self.written += self.file.write(digits, i, len(digits) - i)

    def _piece(self, kind, address, memory, low, n):
        """A record that is followed by bytes of a memory."""
        self._bytes(kind)
        self._number(address)
        self._number(n)
        self._bytes(b"\n")
        self.written += self.file.write(memory.data, low - memory.low, n)
        self._bytes(b"\n")

    def _names(self, last):
        """Every name up to that of this word; the bits of its number are above those that all
        words of names end in."""
        from array import array

        try:
            from uio import BytesIO
        except ImportError:
            from io import BytesIO
        first = step = id("")  # of name 1, whose only bit of the number is the highest
        while step & (step - 1):
            step &= step - 1
        one = array("O", (None,))
        counts = BytesIO(_LONGEST)
        for number in range(1, (last - first) // step + 2):
            self.pack("P", one, 0, first + (number - 1) * step)
            name = one[0]
            counts.seek(0)
            n = counts.write(name)
            self._bytes(b"name")
            self._number(number)
            self._number(n)
            self._bytes(b"\n")
            self._bytes(name)
            self._bytes(b"\n")

    def heap(self):
        """The table of blocks, then the memory. Allocates nothing."""
        table = self.table
        pool = self.pool
        stack = self.stack
        state = self.state
        self._piece(b"area", pool.low, table, table.low, table.high - table.low)
        self._piece(b"memory", state.low, state, state.low, state.high - state.low)
        self._piece(b"memory", stack.low, stack, stack.low, stack.high - stack.low)
        data = table.data
        four = 16 * self.word  # bytes of the four blocks of one byte
        first = 0
        i = 0
        n = len(data)
        while i < n:
            while i < n and not data[i]:
                i += 1
            first = i
            while i < n and data[i]:
                self._types_of(data[i], pool.low + i * four)
                i += 1
            if i > first:
                low = pool.low + first * four
                self._piece(b"memory", low, pool, low, (i - first) * four)

    def _types_of(self, states, at):
        """Two words of the type of each object that begins in these four blocks."""
        w = self.word
        near = self.near
        while states:
            if states & 1:  # a head
                kind = self.pool.at(at)
                if near.low <= kind < near.high and kind not in self.seen:
                    if near.at(kind) == self.types:
                        self.seen[(kind >> 3) % _TYPES] = kind
                        self._piece(b"memory", kind, near, kind, 2 * w)
            states >>= 2
            at += 4 * w


def _readable(types):
    """From where to where the types are that are the firmware's own."""
    if sys.platform == "MaixPy":
        return _RAM, _RAM_END
    if sys.platform == "rp2":
        return 0x10000000, 0x10200000
    return types - _FAR, types + _FAR


def _newest():
    """The word of the newest name: one that is new, of the time."""
    from time import ticks_us

    return id(type("@%x" % ticks_us(), (), {}).__name__)


def _chunks():
    """(address, bytes, 1 in use, 0 free, 2 the top) of each chunk of a K210's system heap, by
    malloc's lists; nothing where they are not found or not whole."""
    try:
        heap = __import__("maixmem_k210_heap").heap  # by name: no other board needs it
    except ImportError:
        return ()
    if not heap or (heap.look() and heap.look()):
        return ()
    words = heap.words
    table = heap.table
    for i in range(table, table + _BINS, 2):
        found = _walked(words, words[i], heap.top, _RAM + 4 * table)
        if found:
            return found
    return ()


def _walked(words, at, top, table):
    """The chunks from one on; nothing where they do not lead to the top one."""
    found = []
    while table < at < top and not at & 15:
        i = (at - _RAM) >> 2
        n = words[i + 2] & -16
        if n < 32 or at + n > top:
            break
        found.append((at + 16, n, words[i + n // 4 + 2] & 1))
        at += n
    if not found or at != top:
        return ()
    found.append((at + 16, words[((at - _RAM) >> 2) + 2] & -16, 2))
    return found
