# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a script writes to files: it lies on the flash or a card, so not on the script's heap."""

import gc
from array import array

import k210_files as files
from k210_flash import source_read, source_size
from k210_garbage import books

_ENOSPC = 28
CHUNK = 1024
_FILES = 512  # that take none of the script's heap
_MOST = 2048  # bytes of one
_FREE, _LAST = 0xFFFF, 0xFFFE
# set aside before a script begins: chunks, for each which is next, and where one may be free
_room = [b"", array("H"), 0]
_shelf = []  # room for what a file takes besides
_PIECE = 224


class outside:
    """What is made here lies with the files: its bytes are no script's."""

    def __enter__(self):
        self._before = gc.mem_alloc()
        return self

    def __exit__(self, *error):
        n = gc.mem_alloc() - self._before
        if _shelf and 0 <= n < _MOST:  # else it was collected meanwhile
            books.hidden += n - len(_shelf.pop())


def set_aside(n):
    """Room for n bytes of files; 0: what is written lies on the heap."""
    _shelf[:] = [bytearray(_PIECE) for _ in range(_FILES if n else 0)]
    for i in range(_FILES if n else 0):
        files.put("/%d" % i, None)
    for i in range(_FILES if n else 0):
        files.files().pop("/%d" % i)
    _room[0] = bytearray(n)
    _room[1] = array("H", b"\xff\xff" * (n // CHUNK))


# Contract. A source (k210_flash) that grows: read(offset, n), write(offset, data), size. Takes
# chunks of the room that was set aside, where there is one; they are free again when there are no
# others and no file of the board has them.
class Written:
    def __init__(self, source=None):
        self.size = 0
        self._first = _LAST
        self._at = self._here = 0  # the chunk that was used last: its number in the file, and
        self._data = None if _room[0] else bytearray()
        left = 0 if source is None else source_size(source)
        while self.size < left:
            self.write(self.size, source_read(source, self.size, min(CHUNK, left - self.size)))

    def empty(self):
        self.__init__()

    def read(self, offset, n):
        n = max(0, min(n, self.size - offset))
        if self._data is not None:
            return bytes(self._data[offset : offset + n])
        out = bytearray(n)
        for at, start, length in self._parts(offset, n):
            out[at : at + length] = memoryview(_room[0])[start : start + length]
        return bytes(out)

    def write(self, offset, data):
        """At most to the end of what is there, then behind it."""
        offset, end = min(offset, self.size), min(offset, self.size) + len(data)
        if self._data is not None:
            over = min(end, self.size)
            self._data[offset:over] = data[: over - offset]
            self._data.extend(data[over - offset :])
        elif 0 < len(data) <= CHUNK - offset % CHUNK:  # most are, and leave less garbage so
            start = self._chunk(offset // CHUNK) * CHUNK + offset % CHUNK
            _room[0][start : start + len(data)] = data
        else:
            for at, start, length in self._parts(offset, len(data)):
                memoryview(_room[0])[start : start + length] = memoryview(data)[at : at + length]
        self.size = max(self.size, end)

    def _parts(self, offset, n):
        """(where in the n bytes, where in the room, how many) of each piece."""
        at = 0
        while at < n:
            number, inside = divmod(offset + at, CHUNK)
            length = min(n - at, CHUNK - inside)
            yield at, self._chunk(number) * CHUNK + inside, length
            at += length

    def _chunk(self, number):
        """Where that one of its chunks is; a new one behind its last."""
        after = _room[1]
        if self._first == _LAST:
            self._first = self._here = self._taken()
        if number < self._at:
            self._at, self._here = 0, self._first
        while self._at < number:
            if after[self._here] == _LAST:
                after[self._here] = self._taken()
            self._at, self._here = self._at + 1, after[self._here]
        return self._here

    def _taken(self):
        """A chunk that no file has; OSError when the room is full."""
        after = _room[1]
        at = self._next_free()
        if at == len(after):
            self._sweep()
            _room[2] = 0
            at = self._next_free()
        if at == len(after):
            raise OSError(_ENOSPC)
        after[at] = _LAST
        return at

    def _next_free(self):
        after, at = _room[1], _room[2]
        while at < len(after) and after[at] != _FREE:
            at += 1
        _room[2] = at
        return at

    def _sweep(self):
        """Frees the chunks of files that are gone."""
        after, kept = _room[1], bytearray(len(_room[1]))
        for source in list(files.files().values()) + [self]:
            n = source._first if isinstance(source, Written) else _LAST
            while n != _LAST:
                kept[n] = 1
                n = after[n]
        for i in range(len(kept)):
            if not kept[i]:
                after[i] = _FREE
