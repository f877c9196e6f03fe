# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""An OpenMV camera without the camera: its GC heap, in areas, and its pools of umalloc.

reset() makes a fresh one; install(setattr) puts its GC heap into the module gc. Sizes of the
boards from openmv/openmv, boards/*/board_config.h, 2026.
"""

import gc

import omv_uma

_BLOCK = 16  # bytes; MICROPY_BYTES_PER_GC_BLOCK
#: name -> areas of the GC heap; (bytes, flags) of each pool
BOARDS = {
    "OPENMV4P": ((232 << 10, 4 << 20), ((27 << 20, 0), (496 << 10, omv_uma.FAST | omv_uma.DTCM))),
    "OPENMV_N6": (
        (1 << 20, 24 << 20),
        (
            (31 << 20, 0),
            (590 << 10, omv_uma.FAST | omv_uma.DTCM),
            (128 << 10, omv_uma.DTCM),
            (1792 << 10, omv_uma.FAST | omv_uma.DTCM | omv_uma.TRANSIENT),
        ),
    ),
    "OPENMV_AE3": ((4 << 20,), ((2512 << 10, 0), (512 << 10, omv_uma.DTCM))),
    "small": ((256 << 10,), ((64 << 10, 0),)),  # no board: what fills soon
}


# Contract. Blocks of 16 bytes, the first hole that is large enough; a request that finds none
# collects garbage and tries again. What drop() was given is garbage: its bytes come back with the
# next collection, and its finaliser runs then.
class GcHeap:
    def __init__(self, areas):
        self.areas = [[(0, n // _BLOCK)] for n in areas]  # holes: (first block, blocks)
        self.total = sum([n // _BLOCK * _BLOCK for n in areas])
        self.used = 0
        self.garbage = []

    def alloc(self, nbytes):
        """(area, first block, blocks); MemoryError in the interpreter's words."""
        omv_uma.faults.point("gc")
        n = max(1, -(-nbytes // _BLOCK))
        found = self._first(n) or (self.collect() or self._first(n))
        if not found:
            raise MemoryError("memory allocation failed, allocating {} bytes".format(nbytes))
        self.used += n * _BLOCK
        return found

    def _first(self, n):
        for area, holes in enumerate(self.areas):
            for i, (start, length) in enumerate(holes):
                if length >= n:
                    holes[i : i + 1] = [(start + n, length - n)] if length > n else []
                    return area, start, n
        return None

    def free(self, piece):
        area, start, n = piece
        self.used -= n * _BLOCK
        holes = []
        for hole in sorted([*self.areas[area], (start, n)]):
            if holes and sum(holes[-1]) == hole[0]:
                holes[-1] = (holes[-1][0], holes[-1][1] + hole[1])
            else:
                holes.append(hole)
        self.areas[area] = holes

    def drop(self, pieces, finaliser=None):
        self.garbage.append((pieces, finaliser))

    def collect(self):
        going, self.garbage = self.garbage, []
        for pieces, finaliser in going:
            if finaliser:
                finaliser()
            for piece in pieces:
                self.free(piece)

    def largest(self):
        """Bytes of the largest hole: max_free of gc_info()."""
        return _BLOCK * max([n for holes in self.areas for _, n in holes] or [0])


heap = GcHeap(BOARDS["small"][0])
uma = omv_uma.Uma()
files = {}  # what a path has to say: bytes


def reset(board="OPENMV4P"):
    """A board after power on, with no files."""
    areas, pools = BOARDS[board]
    heap.__init__(areas)
    uma.__init__()
    for nbytes, flags in pools:
        uma.add(nbytes, flags)
    files.clear()


def install(setattr):
    """gc as this board has it, by setattr(gc, name, function): a test's, which takes it back."""
    collect = gc.collect

    def collect_all():
        collect()
        heap.collect()

    setattr(gc, "mem_alloc", lambda: heap.used)
    setattr(gc, "mem_free", lambda: heap.total - heap.used)
    setattr(gc, "collect", collect_all)


class FrameBuffer:
    """The main frame buffer, persistent bytes: framebuffer_resize() of framebuffer.c."""

    block = None

    def resize(self, count, frame):
        """False where it does not fit; the old frames are gone then."""
        if self.block is not None:
            uma.free(self.block)
        queue, each = 64 * (count > 3), omv_uma.align(frame + 32, 32)
        flags = omv_uma.PERSIST | omv_uma.MAYBE
        self.block = uma.malign(each * count + 2 * queue, 32, flags)
        return self.block is not None
