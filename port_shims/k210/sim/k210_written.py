# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a script writes to files: it lies on a card, so not on the script's heap."""

import k210_files as files
from k210_flash import source_read, source_size

_ENOSPC = 28
_CHUNK = 16384
_room = [b""]  # one bytearray that was set aside before a script begins


def set_aside(n):
    """Room for n bytes of files; 0: what is written lies on the heap."""
    _room[0] = bytearray(n)


# Contract. A source (k210_flash) that grows: read(offset, n), write(offset, data), size. Takes
# chunks of the room that was set aside, where there is one; they are free again as soon as no file
# of the board has them.
class Written:
    def __init__(self, source=None):
        self.size = 0
        self._chunks = []
        self._data = None if _room[0] else bytearray()
        left = 0 if source is None else source_size(source)
        while self.size < left:
            self.write(self.size, source_read(source, self.size, min(_CHUNK, left - self.size)))

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
        else:
            while len(self._chunks) * _CHUNK < end:
                self._chunks.append(self._free())
            for at, start, length in self._parts(offset, len(data)):
                memoryview(_room[0])[start : start + length] = memoryview(data)[at : at + length]
        self.size = max(self.size, end)

    def _parts(self, offset, n):
        """(where in the n bytes, where in the room, how many) of each piece."""
        at = 0
        while at < n:
            chunk, inside = divmod(offset + at, _CHUNK)
            length = min(n - at, _CHUNK - inside)
            yield at, self._chunks[chunk] * _CHUNK + inside, length
            at += length

    def _free(self):
        """The number of a chunk that no file has; OSError when the card is full."""
        taken = bytearray(len(_room[0]) // _CHUNK)
        for source in list(files.files().values()) + [self]:
            for chunk in source._chunks if isinstance(source, Written) else ():
                taken[chunk] = 1
        for i, used in enumerate(taken):
            if not used:
                return i
        raise OSError(_ENOSPC)
