# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210's system heap: newlib's malloc on a moving break."""

_PAGE = 4096
_ALIGN = 16
_HEAD = 8
_MIN = 32
_TRIM = 128 * 1024
_SMALL = 504


def chunk_size(n):
    """Bytes that malloc(n) takes from the heap."""
    size = (n + _HEAD + _ALIGN - 1) & ~(_ALIGN - 1)
    return _MIN if size < _MIN else size


def _bin_index(size):
    if size < 512:
        return size >> 3
    for limit, base, shift in (
        (4, 56, 6),
        (20, 91, 9),
        (84, 110, 12),
        (340, 119, 15),
        (1364, 124, 18),
    ):
        if (size >> 9) <= limit:
            return base + (size >> shift)
    return 126


# Contract. One Heap is the whole newlib arena of the board, from `base` to `limit` (0x80600000). A
# chunk is 8 bytes of header plus the block, a multiple of 16, at least 32. Order of search: an
# exact fit of the bin, the last remainder, the smallest chunk of the following bins, the top. The
# top grows by the whole request (what is left of it is never counted in), rounded up to a page,
# and is cut back to the page when a free makes it 128 KiB. malloc returns an address or 0; free
# wants an address that malloc gave. heap_free() of the board is limit - break. Measured on the
# firmware (v0.6.2_84).
class Heap:
    def __init__(self):
        self.restart(0x80000000, 0x80600000)

    def restart(self, base, limit):
        self.base = base
        self.limit = limit
        self.end = base
        self.highest = base
        self.top = base
        self._size = {}
        self._before = {}
        self._free = {}
        self._bins = {}
        self._last = 0
        self._asked = {}
        self._boot = 0

    def heap_free(self):
        return self.limit - self.end

    def lowest(self):
        """The least that heap_free() was since mark()."""
        return self.limit - self.highest

    def malloc(self, n):
        chunk = self._take(chunk_size(n))
        if chunk:
            self._asked[chunk] = n
            return chunk + _HEAD * 2
        return 0

    def free(self, address):
        if not address:
            return
        chunk = address - _HEAD * 2
        if chunk not in self._asked:
            raise ValueError("free(0x%x): not a block of this heap" % address)
        del self._asked[chunk]
        self._give(chunk)

    def asked(self, address):
        """Bytes that were asked for a block."""
        return self._asked[address - _HEAD * 2]

    def holes(self):
        """Bytes of each free chunk below the top, in order of address."""
        return [self._free[chunk] for chunk in sorted(self._free)]

    def spent(self):
        """Bytes of all blocks."""
        return sum(self._asked.values())

    def live(self):
        """Bytes of the blocks that mark() does not count."""
        return self.spent() - self._boot

    def mark(self, live=0):
        """From now on live() counts from this many bytes, and lowest() from here."""
        self.highest = self.end
        self._boot = self.spent() - live

    # -- chunks

    def _link(self, chunk, size):
        """Put a free chunk into its bin: small bins are stacks, large ones are sorted, the
        smallest last."""
        chain = self._bins.setdefault(_bin_index(size), [])
        at = 0
        if size >= 512:
            while at < len(chain) and size < self._free[chain[at]]:
                at += 1
        chain.insert(at, chunk)

    def _unlink(self, chunk, size):
        if chunk == self._last:
            self._last = 0
        else:
            self._bins[_bin_index(size)].remove(chunk)

    def _set_free(self, chunk, size):
        self._free[chunk] = size
        self._before[chunk + size] = chunk

    def _drop_free(self, chunk):
        size = self._free.pop(chunk)
        del self._before[chunk + size]
        return size

    def _carve(self, chunk, size, need):
        """Use `need` bytes of a free chunk that is in no list; what is left becomes the last
        remainder."""
        self._drop_free(chunk)
        if size - need >= _MIN:
            self._set_free(chunk + need, size - need)
            self._last = chunk + need
            size = need
        self._size[chunk] = size
        return chunk

    def _take(self, need):
        index = _bin_index(need)
        if need < _SMALL:
            chain = self._bins.get(index)
            if chain:
                return self._carve(chain.pop(), need, need)
            index += 2
        else:
            for chunk in reversed(self._bins.get(index, ())):
                left = self._free[chunk] - need
                if left >= _MIN:
                    index -= 1
                    break
                if left >= 0:
                    self._unlink(chunk, self._free[chunk])
                    return self._carve(chunk, self._free[chunk], need)
            index += 1
        if self._last:
            chunk, size = self._last, self._free[self._last]
            self._last = 0
            if size >= need:
                return self._carve(chunk, size, need)
            self._link(chunk, size)
        while index < 127:
            for chunk in reversed(self._bins.get(index, ())):
                size = self._free[chunk]
                if size >= need:
                    self._unlink(chunk, size)
                    return self._carve(chunk, size, need)
            index += 1
        return self._take_top(need)

    def _take_top(self, need):
        if self.end - self.top < need + _MIN:
            if not self._grow(need + _MIN):
                return 0
        chunk = self.top
        self.top = chunk + need
        self._size[chunk] = need
        return chunk

    def _grow(self, n):
        """Move the break up by n bytes, to the end of a page."""
        end = (self.end + n + _PAGE - 1) & ~(_PAGE - 1)
        if n > 0x7FFFFFFF:
            return False
        if end > self.limit:
            print("E (0) SYSCALL: Out of memory\n")
            return False
        self.end = end
        self.highest = max(self.highest, end)
        return True

    def _give(self, chunk):
        size = self._size.pop(chunk)
        last = False
        before = self._before.get(chunk)
        after = chunk + size
        if after == self.top:
            if before is not None:
                self._unlink(before, self._free[before])
                self._drop_free(before)
                chunk = before
            self.top = chunk
            if self.end - chunk >= _TRIM:
                self._trim()
            return
        if before is not None:
            last = before == self._last
            if not last:
                self._unlink(before, self._free[before])
            size += self._drop_free(before)
            chunk = before
        if after in self._free:
            if after == self._last and not last:
                last = True
            else:
                self._unlink(after, self._free[after])
            size += self._drop_free(after)
        self._set_free(chunk, size)
        if last:
            self._last = chunk
        else:
            self._link(chunk, size)

    def _trim(self):
        size = self.end - self.top
        extra = ((size - _MIN + _PAGE - 1) // _PAGE - 1) * _PAGE
        if extra >= _PAGE:
            self.end -= extra
