# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Ascend memory that is allocated once: a block cut into pieces, and picture buffers of one size.

pool = DevicePool(memory, 8 << 20)               frames = Pictures(memory, 1920, 1080, "yuv420sp",
    rule=JPEGD_310)
piece = pool.alloc(1000)                         frame = frames.acquire()
pool.free(piece)                                 frames.release(frame)
"""

from __future__ import annotations

from maixmem import PoolError
from maixmem_arena import ASCEND_DVPP, ASCEND_RT, Arena, piece_bytes, round_up
from maixmem_image import ImageRule, image_bytes, strides
from maixmem_pool import BufferPool
from maixmem_text import tell

from maixmem_ascend.memory import Buffer, Memory

_RULES = {"device": ASCEND_RT, "host": ASCEND_RT, "dvpp": ASCEND_DVPP}


# Owns one allocation of `kind` until close(). A piece takes its bytes rounded up to 32 and 32 more
# and starts at a multiple of 64 (dvpp: 128), as the runtime asks of whoever divides its memory.
# alloc() and free() ask nothing of the device. NoRoom when no hole is large enough, PoolError for
# a wrong release: the pool is as before.
class DevicePool:
    """A large block of device, host or DVPP memory, handed out in pieces of any size."""

    def __init__(
        self, memory: Memory, nbytes: int, kind: str = "device", pieces: int = 64
    ) -> None:
        rule = _RULES[kind]
        self._memory = memory
        # On the board itself host memory starts anywhere: what the first piece skips is asked for
        # as well.
        self._block = memory.alloc(kind, nbytes + (rule[2] if kind == "host" else 0))
        self.arena = Arena(self._block.nbytes, rule=rule, block=self._block.ptr, pieces=pieces)

    def alloc(self, nbytes: int) -> Buffer:
        """A piece of `nbytes` as a Buffer. PoolError when the pool is closed."""
        if not self._block.ptr:
            raise PoolError(tell("alloc({}): this pool is closed.\nmake another", nbytes))
        return Buffer(self._block.kind, self.arena.alloc(nbytes), nbytes, self)

    def free(self, piece: Buffer) -> None:
        """Takes a piece back. PoolError if it is not one of this pool's, or is free already."""
        if piece.pool is not self or not piece.ptr:
            raise PoolError("free: not a piece of this pool, or free already")
        self.arena.free(piece.ptr)
        piece.ptr = 0

    def close(self) -> None:
        """Gives the block back. PoolError while pieces are out; harmless when it is closed
        already."""
        if not self._block.ptr:
            return
        live = self.arena.check()
        if live:
            raise PoolError(tell("close: {} pieces of the pool are out.\nfree them", live))
        self._memory.free(self._block)


class Picture(Buffer):
    """A buffer with the size and format of a picture."""

    def __init__(self, ptr: int, size: tuple[int, int, str, int], pool: Pictures | None) -> None:
        w, h, format, nbytes = size
        super().__init__("dvpp", ptr, nbytes, pool)
        self._size = w, h, format

    def width(self) -> int:
        """Pixels in a row."""
        return self._size[0]

    def height(self) -> int:
        """Rows."""
        return self._size[1]

    def format(self) -> str:
        """The name of the format, as in the rule."""
        return self._size[2]


# Owns one DVPP allocation until close(): pages of 2 MiB, which a picture of its own would fill up
# alone. The pictures lie as far apart as the strictest rule wants: the guide's round128(size + 8)
# for JPEGD, and 32 + 32 bytes for pieces of DVPP memory. (One page of 5.0.4.6 has them start at
# multiples of 64, which JPEGD refuses.)
class Pictures(BufferPool):
    """`count` DVPP buffers for pictures of w x h in a format, by the rule of the unit that uses
    them."""

    def __init__(
        self, memory: Memory, w: int, h: int, format: str, *, rule: ImageRule, count: int = 2
    ) -> None:
        if count < 1:
            raise ValueError("Pictures: {} of them: 1 or more".format(count))
        self._memory = memory
        self.nbytes = image_bytes(w, h, format, rule)
        self.strides = strides(w, h, format, rule)
        start = rule.start
        self.stride = max(
            round_up(self.nbytes + rule.gap, start),
            round_up(piece_bytes(self.nbytes, ASCEND_DVPP), start),
        )
        self._block = memory.alloc("dvpp", self.nbytes + (count - 1) * self.stride)
        size = (w, h, format, self.nbytes)
        self._fill([Picture(self._block.ptr + i * self.stride, size, self) for i in range(count)])

    def close(self) -> None:
        """Gives the memory back. PoolError while pictures are out; harmless when it is closed
        already."""
        if not self._block.ptr:
            return
        if self.check():
            raise PoolError(
                tell("close: pictures are out, held by {}.\nrelease them", self.holders())
            )
        self._memory.free(self._block)
        self._fill([])

    def _empty(self) -> None:
        if not self._block.ptr:
            raise PoolError(tell("acquire: these pictures are closed.\nmake others"))
        super()._empty()
