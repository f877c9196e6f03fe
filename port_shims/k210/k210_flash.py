# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210's 16 MiB SPI flash, kept as a few regions."""

SIZE = 16 << 20
_WRAP = SIZE - 1


# Contract.  Regions are (address, length, source); source is bytes, the path of a host file that is read on demand,
# or a function (offset, n) -> bytes.  The latest region wins where two overlap, as the latest burn does.  What no
# region covers reads 0xFF.  Addresses have 24 bits: a read over the end goes on at 0.
class Flash:
    def __init__(self):
        self._regions = []

    def erase(self):
        self._regions = []

    def burn(self, address, source, length=None):
        if length is None:
            length = _length(source)
        if address < 0 or address + length > SIZE:
            raise ValueError("flash: 0x%x + %d bytes leaves the 16 MiB" % (address, length))
        self._regions.append((address, length, source))

    def read(self, address, n):
        out = bytearray(n)
        done = 0
        while done < n:
            at = (address + done) & _WRAP
            part = min(n - done, SIZE - at)
            self._fill(out, done, at, part)
            done += part
        return bytes(out)

    def _fill(self, out, done, at, n):
        for i in range(done, done + n):
            out[i] = 0xFF
        for address, length, source in self._regions:
            first = max(at, address)
            last = min(at + n, address + length)
            if first < last:
                out[done + first - at:done + last - at] = _bytes(source, first - address, last - first)


def _length(source):
    if isinstance(source, str):
        with open(source, "rb") as f:
            return f.seek(0, 2)
    return len(source)


def _bytes(source, offset, n):
    if isinstance(source, str):
        with open(source, "rb") as f:
            f.seek(offset)
            data = f.read(n)
    elif callable(source):
        data = source(offset, n)
    else:
        data = bytes(source[offset:offset + n])
    return data
