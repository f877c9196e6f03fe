# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The books of TLSF 3.1 as OpenMV builds it (common/tlsf.c of openmv/openmv, 2026): which block of
what size a request gets. Sizes are multiples of 4; lists are last in, first out.

`word` is the size of a pointer: 4 on a board. A desk's own build of tlsf.c has 8, and the test
that compares the two needs the same addresses.
"""

_SL_LOG2 = 5  # lists in each power of two: 32
_ALIGN = 4
_FL_MAX = 30
_FL_SHIFT = _SL_LOG2 + 2
_FL_COUNT = _FL_MAX - _FL_SHIFT + 1
_SMALL = 1 << _FL_SHIFT
_LARGEST = 1 << _FL_MAX


def align(n, to):
    return (n + to - 1) & ~(to - 1)


def _insert_list(size):
    """(first, second) index of the list that a free block of this size is in."""
    if size < _SMALL:
        return 0, size // (_SMALL >> _SL_LOG2)
    fl = size.bit_length() - 1
    return fl - (_FL_SHIFT - 1), (size >> (fl - _SL_LOG2)) ^ (1 << _SL_LOG2)


def _search_list(size):
    """(first, second) index of the first list all of whose blocks are large enough."""
    if size >= _SMALL:
        size += (1 << (size.bit_length() - 1 - _SL_LOG2)) - 1
    return _insert_list(size)


class Block:
    """A block: where its bytes start, how many there are, and its neighbours in memory."""

    def __init__(self, at, size, prev=None, next=None):
        self.at = at
        self.size = size
        self.free = self.persist = False
        self.prev = prev
        self.next = next


# Contract. Owns the blocks of one piece of memory; a block that malloc() gave goes back by free(),
# once. Nothing is raised: None for want of room.
class Tlsf:
    def __init__(self, base, nbytes, word=4):
        self.word = word
        self.minimum = 3 * word
        self.lists = {}
        pool = nbytes - control_size(word) - 2 * word
        pool -= pool % _ALIGN
        self.first = None
        if self.minimum <= pool <= _LARGEST:
            at = base + control_size(word) + word
            self.first = Block(at, pool)
            self.first.next = Block(at + pool + word, 0, self.first)  # the end: of no size, in use
            self._give(self.first)

    # --- free lists ---

    def _give(self, block):
        block.free = True
        block.persist = False
        self.lists.setdefault(_insert_list(block.size), []).append(block)

    def _take(self, block):
        key = _insert_list(block.size)
        self.lists[key].remove(block)
        if not self.lists[key]:
            del self.lists[key]
        block.free = False

    def _locate(self, size):
        """A free block of at least this size, taken from its list."""
        wanted = _search_list(size)
        there = [key for key in self.lists if key >= wanted]
        if not size or not there:
            return None
        block = self.lists[min(there)][-1]
        self._take(block)
        return block

    # --- neighbours ---

    def _split(self, block, size):
        """Cuts `block` at `size`; the second half, in no list."""
        rest = Block(block.at + size + self.word, block.size - size - self.word, block, block.next)
        block.next.prev = rest
        block.next = rest
        block.size = size
        return rest

    def _can_split(self, block, size):
        return block.size >= 4 * self.word + size

    def _absorb(self, block):
        """Joins a block with the one behind it."""
        gone = block.next
        block.size += gone.size + self.word
        block.next = gone.next
        block.next.prev = block

    def _join(self, block):
        """Joins a block with a free one behind it."""
        if block.next.free:
            self._take(block.next)
            self._absorb(block)

    def _adjust(self, size, to=_ALIGN):
        n = align(size, to)
        return max(n, self.minimum) if size and n < _LARGEST else 0

    def _use(self, block, size):
        if block is not None and self._can_split(block, size):
            self._give(self._split(block, size))
        return block

    # --- calls ---

    def malloc(self, size):
        size = self._adjust(size)
        return self._use(self._locate(size), size)

    def memalign(self, to, size):
        size = self._adjust(size)
        least = 4 * self.word  # a gap before it becomes a free block
        wide = self._adjust(size + to + least, to) if size and to > _ALIGN else size
        block = self._locate(wide)
        if block is None:
            return None
        at = align(block.at, to)
        if block.at < at < block.at + least:
            at = align(at + max(least - (at - block.at), to), to)
        gap = at - block.at
        if gap and self._can_split(block, gap):
            second = self._split(block, gap - self.word)
            self._give(block)
            block = second
        return self._use(block, size)

    def free(self, block):
        block.persist = False
        if block.prev is not None and block.prev.free:
            self._take(block.prev)
            block = block.prev
            self._absorb(block)
        self._join(block)
        self._give(block)

    def can_resize(self, block, size):
        wanted = self._adjust(size)
        if size and not wanted:
            return False
        both = block.size + block.next.size + self.word
        return wanted <= block.size or (block.next.free and wanted <= both)

    def resize(self, block, size):
        """In place, where can_resize()."""
        size = self._adjust(size)
        if size > block.size:
            self._join(block)
        if self._can_split(block, size):
            rest = self._split(block, size)
            self._join(rest)
            self._give(rest)

    def collect(self):
        """Frees every block that is not persistent; their bytes."""
        freed = 0
        going = [b for b in self.blocks() if not b.free and not b.persist]
        for block in going:
            freed += block.size
            self.free(block)
        return freed

    def blocks(self):
        """Every block but the end, by address."""
        found = []
        block = self.first
        while block is not None and block.size:
            found.append(block)
            block = block.next
        return found

    def largest(self):
        """The largest request that is sure to be met."""
        if not self.lists:
            return 0
        size = self.lists[max(self.lists)][-1].size
        if size >= _SMALL:
            size -= (1 << (size.bit_length() - 1 - _SL_LOG2)) - 1
        return size


def control_size(word=4):
    """Bytes at the start of each piece that are TLSF's own."""
    return align(4 * word + 4 + 4 * _FL_COUNT, word) + _FL_COUNT * (1 << _SL_LOG2) * word
