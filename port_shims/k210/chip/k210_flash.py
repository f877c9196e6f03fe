# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210's 16 MiB SPI flash, kept as a few regions, and the host files behind it."""

try:
    import hashlib
except ImportError:
    import uhashlib as hashlib

from k210_host import host_open
from maixmem_k210_chip import FLASH_SIZE as SIZE
from maixmem_k210_chip import IMAGE_OVERHEAD, SPIFFS_SIZE
from maixmem_k210_chip import SPIFFS_START as SPIFFS

_STEP = 4096
_BLANK = b"\xff" * 256
_START = b"\x21\xa8\xef\xbe\xad\xde"
_FORMATTED = b"\x01\x80\x01\x00\x02\x80\x02\x00"


def source_size(source):
    """Bytes of a source: bytes-like, the path of a host file, or anything with .size and
    .read(offset, n)."""
    if hasattr(source, "read"):
        return source.size
    if not isinstance(source, str):
        return len(source)
    with host_open(source, "rb") as f:
        return f.seek(0, 2)


def source_read(source, offset, n):
    """Up to n bytes of a source from offset."""
    if hasattr(source, "read"):
        return source.read(offset, n)
    if not isinstance(source, str):
        return bytes(source[offset : offset + n])
    with host_open(source, "rb") as f:
        f.seek(offset)
        return f.read(n)


# Contract. A region is (address, length, read(offset, n)); the latest one wins where two overlap,
# as the latest burn does; the first two are the firmware and its file system. Bytes that no region
# covers read 0xFF. Addresses have 24 bits, a read over the end goes on at 0. Files are read when
# asked for, so a model costs the host no memory.
class Flash:
    def __init__(self):
        self.erase()

    def erase(self):
        self._regions = []
        self._firmware = 0

    def touched(self, address, end):
        """True when something was burned into a range after install()."""
        return bool([r for r in self._regions[2:] if r[0] < end and address < r[0] + r[1]])

    def start(self):
        """Power comes on: False when the firmware is damaged; a damaged file system is formatted
        anew."""
        if self.touched(0, self._firmware):
            return False
        if self.touched(SPIFFS, SIZE):
            self.add(SPIFFS, SPIFFS_SIZE, _blank)
            self.burn(SPIFFS, _FORMATTED)
        return True

    def burn(self, address, source):
        """Put bytes, or the contents of a host file, at an address."""
        self.add(address, source_size(source), lambda offset, n: source_read(source, offset, n))

    def add(self, address, length, read):
        if address < 0 or address + length > SIZE:
            raise ValueError("0x%x + %d bytes is outside of the 16 MiB flash" % (address, length))
        self._regions.append((address, length, read))

    def read(self, address, n):
        out = bytearray(n)
        done = 0
        while done < n:
            at = (address + done) & (SIZE - 1)
            part = min(n - done, SIZE - at)
            self._fill(out, done, at, part)
            done += part
        return bytes(out)

    def _fill(self, out, done, at, n):
        for i in range(done, done + n, len(_BLANK)):
            out[i : min(i + len(_BLANK), done + n)] = _BLANK[: done + n - i]
        for address, length, read in self._regions:
            first = max(at, address)
            last = min(at + n, address + length)
            for piece in range(first, last, _STEP):  # a large copy would be one too many
                end = min(last, piece + _STEP)
                out[done + piece - at : done + end - at] = read(piece - address, end - piece)

    def install(self, image):
        """Burn a firmware of `image` bytes as the boot ROM wants it, and a formatted file
        system."""
        self._firmware = image + IMAGE_OVERHEAD
        self.add(0, self._firmware, _Image(image).read)
        self.burn(SPIFFS, _FORMATTED)


def _blank(offset, n):
    return b"\xff" * n


# Contract. Flag byte, length, payload, sha256 over all before it. The payload is the first
# instructions that all K210 programs share and zeros; the digest is right for it, and worked out
# only when it is read.
class _Image:
    def __init__(self, n):
        self._end = n + 5
        self._head = bytes((0, n & 0xFF, n >> 8 & 0xFF, n >> 16 & 0xFF, n >> 24)) + _START
        self._digest = None

    def read(self, offset, n):
        out = bytearray(n)
        self._lay(out, offset, 0, self._head)
        if offset + n > self._end:
            self._digest = self._digest or self._sum()
            self._lay(out, offset, self._end, self._digest)
        return out

    def _lay(self, out, offset, at, data):
        first = max(at, offset)
        last = min(at + len(data), offset + len(out))
        if first < last:
            out[first - offset : last - offset] = data[first - at : last - at]

    def _sum(self):
        digest = hashlib.sha256(self._head)
        left = self._end - len(self._head)
        zeros = bytes(_STEP)
        while left:
            n = min(left, _STEP)
            digest.update(zeros if n == _STEP else bytes(n))
            left -= n
        return digest.digest()
