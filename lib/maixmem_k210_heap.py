# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap of the K210 in arithmetic: what a list of mallocs moves, and which holes our models left.

Nothing here touches a board. The allocator's rules as measured on the firmware (v0.6.2_84).
"""

try:
    from micropython import const
except ImportError:

    def const(n):
        return n


_PAGE = const(4096)  # the break moves in pages
_TRIM = const(131072)  # a free top chunk of this size goes back to heap_free()
_TOP = const(32)  # that malloc leaves at the top
_SPI_CHUNK = const(65536)  # bytes that kpu.load reads at once
_SPI_EXTRA = const(130)  # of the SPI buffer, besides four times what is read
_HOLD = const(2)
_SPI_PAGE = const(16514)  # the SPI buffer of a SPIFFS page
_SD_BUFFER = const(2048)


def chunk(n):
    """Bytes that malloc(n) takes of the heap."""
    return max(32, (n + 23) & ~15)


def step(size):
    """By how much the break moves for a chunk of this size."""
    return (size + _TOP + _PAGE - 1) & ~(_PAGE - 1)


# A load is a list of mallocs, (bytes, passing, deadly): a passing one is freed at once, with _HOLD after the next
# passing one; a deadly one hangs the board when it is not to be had. The top of the heap grows by whole requests,
# in pages, and only what is left there serves others. `holes` (sizes) serve what is not deadly, the smallest that
# is large enough first. How much of a page is left before is not known: this is the worst case of all.
def grow(pieces, holes, free):
    """(bytes that heap_free() must have, a piece that `free` is too small for or None: a deadly one if there is)."""
    most = rest = 0
    first = None
    while rest <= _PAGE + _TOP:
        moved, miss, more = _grow(pieces, list(holes), free, rest)
        most = max(most, moved)
        if miss and (first is None or miss[2]):
            first = miss
        rest += more
    return most, first


def _grow(pieces, holes, free, rest):
    """The same for `rest` free bytes at the top, and how many more would change the course of things."""
    moved = most = held = 0
    first = None
    more = _TRIM
    for piece in pieces:
        size = chunk(piece[0])
        hole = None if piece[2] else _best(holes, size)
        if hole is not None:
            holes[hole] -= size
            continue
        if size + _TOP > rest:
            more = min(more, size + _TOP - rest)
            moved += step(size)
            rest += step(size)
            most = max(most, moved)
            if first is None and moved > free:
                first = piece
        if not piece[1]:
            rest -= size
        elif piece[1] == _HOLD:
            rest -= size
            held = size
        else:
            rest += held
            held = 0
            if rest >= _TRIM:
                back = (rest - _TOP - 1) // _PAGE * _PAGE
                moved -= back
                rest -= back
            else:
                more = min(more, _TRIM - rest)
    return most, first, more


def mallocs(info, how, source):
    """The mallocs of a load in order, those of reading included: [(bytes, passing, deadly)].

    Not checked by the firmware: buffers for reading, main memory of a V4 model.
    """
    plain = info.pieces(how)
    if not plain:  # no load by this way: refuse() says why
        return []
    kept = [
        (n, False, info.format == "v4" and n == info.main_mem)
        for n, passing in plain
        if not passing
    ]
    reads = [(n, True, True) for n, passing in plain if passing]
    walk = []
    if how == "load_path":
        walk = reads = [(_file_buffer(source), True, True)]
    elif how == "load_addr":
        rest = (
            info.nbytes % _SPI_CHUNK
        )  # the last read is a smaller one, and may leave the top larger
        reads = reads + [(4 * rest + _SPI_EXTRA, True, True)]
        walk = [(4 * 40 + _SPI_EXTRA, True, True)]
        if info.format == "v4":  # the headers of the layers as a table
            walk += [(8 * info.layers, _HOLD, False), (32 * info.layers + _SPI_EXTRA, True, True)]
    return kept[:1] + walk + kept[1:3] + reads + kept[3:]


def _file_buffer(path):
    """Bytes that the driver of a file system takes to read: SPIFFS reads pages of 4096 by SPI."""
    if path[:1] != "/":
        import os

        path = os.getcwd() + "/"
    return _SD_BUFFER if path[:4] == "/sd/" else _SPI_PAGE


def _best(holes, size):
    found = None
    for i in range(len(holes)):
        if holes[i] >= size and (found is None or holes[i] < holes[found]):
            found = i
    return found


# What we loaded and freed, in address order as far as we know: [source, bytes], source None for a hole. The
# firmware does not show its heap, so a hole may be wrong (a camera buffer went into it): shortage() lets nothing
# that can hang rest on one. `unsure`: the last part is a hole, or else free space at the top that is too small to
# have gone back.
class Heap:
    def __init__(self):
        self.parts = []
        self.unsure = False

    def holes(self, going=()):
        """[sizes] of the holes when the sources `going` are freed; the last one is at the end, perhaps 0 bytes."""
        sizes = []
        run = 0
        for source, n in self.parts:
            if source is None or source in going:
                run += n
            elif run:
                sizes.append(run)
                run = 0
        sizes.append(run)
        return sizes

    def place(self, source, pieces):
        """Notes a load."""
        sizes = [chunk(n) for n, passing, _ in pieces if not passing]
        if self.unsure and self.parts[-1][1] < max(sizes):
            self.parts.pop()
        self.unsure = False
        for size in sizes:
            i = _best([0 if p[0] else p[1] for p in self.parts], size)
            if i is None:
                self.parts.append([source, size])
            else:
                self.parts[i][1] -= size
                self.parts.insert(i, [source, size])

    def drop(self, source, risen=0):
        """Notes that a source was freed and heap_free() rose."""
        parts = []
        for owner, n in self.parts:
            if owner == source:
                owner = None
            if owner is None and parts and parts[-1][0] is None:
                parts[-1][1] += n
            elif n:
                parts.append([owner, n])
        self.unsure = False
        if parts and parts[-1][0] is None:
            if risen >= parts[-1][1] - 2 * _PAGE:
                parts.pop()  # it was at the top and went back
            else:
                self.unsure = parts[-1][1] < _TRIM + 2 * _PAGE
        self.parts = parts

    def rose(self, n):
        """heap_free() rose by n on its own: what was unsure at the end was at the top."""
        if self.unsure and n >= self.parts[-1][1] - 2 * _PAGE:
            self.parts.pop()
            self.unsure = False

    def forget_holes(self):
        """Holes that turned out to be taken."""
        self.parts = [p for p in self.parts if p[0] is not None]
        self.unsure = False
