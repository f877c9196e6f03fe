# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for CanMV on the K230: the memory of RT-Smart, and whether the buffers of camera and
display fit into the media memory before MediaManager.init() makes them.

    import maixmem_k230
    refusal = maixmem_k230.check_media()
    if refusal:
        raise refusal
    MediaManager.init()

    gc.sys_heap(), gc.sys_page(), gc.sys_mmz()      (total, used, free), bytes

From its sources (canmv-k230/canmv of 2024 to 2026) and manuals, untested on a board.
"""

import gc

import maixmem_generic
from maixmem import NoRoom, Region, const, message

_PAGE = const(4096)  # the media memory is given in pages
_FRAME_INFO = const(204)  # bytes that the driver keeps of each block, in pages of their own a pool
_NO_MMZ = "gc.sys_mmz() says nothing here.\nupdate CanMV"
_HIDDEN = "this firmware hides its video buffers.\ncheck_media([(bytes, number), ...])"
_MEDIA = (
    "the video buffers take {} bytes of mmz, {} are free.\nsmaller frames, fewer channels, or "
    "nncase_runtime.shrink_memory_pool() before"
)
_PREVIEW = ((2076672, 2),)  # what init() adds for the IDE's picture: 1920*1080 in whole pages, two


# Owns no memory; it loads no models.
class Port(maixmem_generic.Port):
    """CanMV on the K230."""

    name = "k230"

    def regions(self) -> "list[Region]":
        """The GC heap, and what RT-Smart says of its heap, its pages and the media memory, as far
        as it answers. The figures of the last three are free bytes, perhaps in pieces."""
        return super().regions() + [r for r in map(system, ("heap", "page", "mmz")) if r]


def system(name: str) -> "Region | None":
    """What gc.sys_NAME() says, None where it does not: no such call, a driver that is missing
    (OSError), zeros."""
    try:
        total, used, free = getattr(gc, "sys_" + name)()
    except (AttributeError, OSError):
        return None
    return Region(name, total, used, free) if total else None


def check_media(pools=None, preview: bool = True) -> "NoRoom | None":
    """None where the video buffers fit into the free media memory, else the NoRoom, returned and
    not raised: MediaManager.init() would end with 0xa004800c. Free memory in pieces may still be
    too small.

    `pools`: (bytes of a block, number of blocks) of each; without it those that Sensor and Display
    have requested of MediaManager. `preview`: init() adds its two blocks for the IDE
    (for_comress). NotImplementedError where the firmware tells neither the pools nor what is free.
    """
    mmz = system("mmz")
    if mmz is None:
        raise NotImplementedError(message(_NO_MMZ))
    need = 0
    for size, count in tuple(asked() if pools is None else pools) + (_PREVIEW if preview else ()):
        need += _pages(size * count) + _pages(_FRAME_INFO * count)
    free = mmz.free or 0
    if need <= free:
        return None
    return NoRoom(message(_MEDIA, need, free), "mmz", need, free)


def asked() -> "list[tuple[int, int]]":
    """(bytes of a block, number of blocks) of each pool that MediaManager will make.
    NotImplementedError on firmware of 2025 and later, which keeps them out of Python's sight."""
    manager = __import__("media.media", None, None, ["MediaManager"]).MediaManager
    try:
        config, n = manager._vb_buffer, manager._vb_buffer_index
    except AttributeError:
        raise NotImplementedError(message(_HIDDEN))
    return [(config.comm_pool[i].blk_size, config.comm_pool[i].blk_cnt) for i in range(n)]


def _pages(n):
    return -(-n // _PAGE) * _PAGE
