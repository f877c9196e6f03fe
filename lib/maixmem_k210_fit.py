# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Would a load succeed on the system heap of a K210 as it is: checked when it is tight.

A one-time part of the K210's port; it reckons with maixmem_k210_malloc what malloc will do.
"""

import gc

from maixmem import NoRoom, const, message
from maixmem_k210_chip import SIZE, SPI_EXTRA, TRANSIENT, UNCHECKED, chunk
from maixmem_k210_malloc import Malloc

TRIM_READ = 32720  # a flash read that takes so much that the free end of the heap goes back
_RAM = const(0x80000000)
_END = const(0x80600000)
_HEAD = const(16)  # from a chunk to its block
_SMALL = const(512)  # what a load keeps beside its buffers is smaller, and what YOLO takes
_YOLO = const(64)


class Damaged(Exception):
    """malloc's lists are not whole near the address args[0]."""


# --- whether a load comes through ---


def check_fit(p, cost, margin: int, freed) -> "NoRoom | None":
    """See maixmem_port.Port.check_fit(). Reads 32 KiB of flash where that gives the room."""
    if not p.exact:
        return _bound(p, cost, margin + cost.peak["heap"], freed)
    gone = sure = None
    if freed:
        gone, sure = nets_chunks(p, freed)
        if gone is None:
            return None  # we cannot tell: the last word before the load can
    first = missing(p.heap, cost.chunks, margin, gone)
    if first and freed and not sure:
        return None  # it may be chunks of another net of these sizes that were counted
    if first and p.trims and not missing(p.heap, trimmed(cost.chunks), margin, gone):
        if freed:
            return None
        trim(p)
        first = missing(p.heap, cost.chunks, margin)
    if not first:
        return None
    error = _no_room(p, cost, margin + cost.peak["heap"], p.free_bytes())
    error.hangs = first & UNCHECKED
    error.largest = p.largest
    error.holes = p.heap.holes
    return error


def _bound(p, cost, need, freed):
    """The same without malloc's lists: what a load takes at worst must be behind the break. There
    is no forecast."""
    return None if freed or need <= p.behind else _no_room(p, cost, need, p.behind)


def _no_room(p, cost, need, free):
    text = "loading takes {} bytes of system heap, {} are free: release() a model"
    error = NoRoom(text.format(need, free), "heap", need, free)  # explain() has more words
    error.cost = cost
    error.behind = p.behind
    error.largest = None
    return error


def trimmed(pieces) -> tuple:
    """The same load after a flash read that gives the free end of the heap back."""
    return (chunk(4 * TRIM_READ + SPI_EXTRA) | TRANSIENT | UNCHECKED,) + tuple(pieces)


def trim(p) -> None:
    """That flash read; safe only where malloc has its chunk."""
    from maixmem_k210 import utils

    try:
        utils.flash_read(0, TRIM_READ)
    except (MemoryError, NotImplementedError):  # no GC heap for it, or no such call
        pass
    gc.collect()  # else what stays lies behind these 32 KiB, between the images


def plan(heap, gone=()) -> Malloc:
    """What malloc has now, without the chunks `gone`, (address, bytes) each. Damaged where its
    lists are not whole."""
    holes = []  # type: list[tuple]
    _look(heap, holes)
    table = heap.table + 4  # of the last remainder
    last = holes.pop(0) if heap.words[table + 4] != _RAM + 4 * table else None
    m = Malloc(holes, last, heap.top, _END - heap.heap_free)
    for at, n in gone or ():
        m.used[at] = n
    for at, _ in gone or ():
        m.give(at)
    return m


def _look(heap, into=None):
    if heap.look(into):
        if into:
            into.clear()
        place = heap.look(into)
        if place:
            raise Damaged(place)


def missing(heap, pieces, margin: int = 0, gone=()) -> int:
    """0, or the first piece of a load for which there is no memory beside `margin` bytes."""
    first = plan(heap, gone).load(pieces)
    if margin and not first:
        m = plan(heap, gone)
        first = m.load(pieces) if m.take(chunk(margin)) else chunk(margin)
    return first


# --- what unloading gives back ---


def nets_chunks(p, handles):
    """[(address, bytes)] of the chunks that go with these nets, more rather than fewer, None where
    that is not known; and whether they are theirs for sure."""
    try:
        _look(p.heap)
        used = [c for c in chunks(p.heap) if c[2]]
    except (LookupError, Damaged):
        return None, False
    gone = []
    sure = True
    for handle in handles:
        cost = p.costs.get(_source(p, handle))
        mine, own = _of_net(p.heap.words, used, handle, cost) if cost else (None, False)
        if mine is None:
            return None, False
        sure = sure and own and cost.certainty == "exact"
        gone += mine
    return [c[:2] for c in gone], sure


def _source(p, handle):
    """What a handle was loaded from; None where it does not say."""
    if hasattr(p, "key_of"):
        return p.key_of(handle)
    try:
        return handle.model_path() or handle.model_addr()
    except AttributeError:
        return None


def _of_net(words, used, handle, cost):
    """The chunks of a load by their sizes, and by who points to whom or lies behind whom where
    several have the size; None where there is none. `used` loses them. And whether all that count
    are its own for sure."""
    mine = []
    sure = True
    for piece in cost.chunks:
        if piece & TRANSIENT:
            continue
        alike = [c for c in used if c[1] - (piece & SIZE) in (0, _HEAD)]
        own = [c for c in alike if _linked(words, c, mine, handle)]
        if not own and mine:  # a load's chunks often lie behind each other, another's too
            own = [c for c in alike if c[0] == mine[-1][0] + mine[-1][1]]
            others = [c[0] + c[1] for c in used if c[1] == mine[-1][1]]
            alike = [c for c in alike if c[0] not in others] or alike
        if not own and len(alike) > 1 and piece & SIZE > _SMALL:
            sure = not _RAM < id(handle) < _END  # a stand-in's net points to nothing
        own += alike
        if not own:
            return None, False
        best = own[0]
        used.remove(best)
        mine.append(best)
    for c in used[:]:  # YOLO's lie behind
        if c[1] <= _YOLO and [m for m in mine if m[0] + m[1] == c[0]]:
            used.remove(c)
            mine.append(c)
    return mine, sure


def _linked(words, c, mine, handle):
    """Whether the net's object or one of these chunks points into c, or c into one of them."""
    start = id(handle)
    if _RAM < start < _END and _points(words, start, _HEAD, c):
        return True
    for m in mine:
        if m[1] <= _SMALL and _points(words, m[0] + _HEAD, m[1] - 8, c):
            return True
        if c[1] <= _SMALL and _points(words, c[0] + _HEAD, c[1] - 8, m):
            return True
    return False


def _points(words, start, n, c):
    for i in range((start - _RAM) >> 2, (start + n - _RAM) >> 2, 2):
        if c[0] < words[i] < c[0] + c[1]:
            return True
    return False


# --- every chunk ---


def chunks(heap, found: "list | None" = None) -> "list[tuple[int, int, bool]]":
    """(address, bytes, in use) from the GC heap to the top of the last look(), put into `found`.
    Damaged where one does not lead to the next: what was found before it is in the list."""
    words = heap.words
    at = gc_chunk(heap)
    found = [] if found is None else found
    while at < heap.top:
        i = (at - _RAM) >> 2
        n = words[i + 2] & SIZE
        if n < 32 or at + n > heap.top:
            raise Damaged(at)
        found.append((at, n, words[i + n // 4 + 2] & 1 > 0))
        at += n
    return found


def damage(p) -> "list[str]":
    """The report where malloc's lists are damaged, with the block that lies before the place:
    who wrote past its end may be its owner."""
    place = p.heap.look() and p.heap.look()
    if not place:
        return []
    found = []  # type: list[tuple]
    try:
        chunks(p.heap, found)
    except (LookupError, Damaged):
        pass
    before = [c for c in found if c[0] + c[1] <= place and not _is_hole(p.heap.words, c[0])]
    if not before:
        return [message("heap_damaged", place)]
    key = "heap_damaged_after" if before[-1][0] != found[0][0] else "heap_damaged_gc"
    return [message(key, place, before[-1][1] - 8, before[-1][0] + _HEAD)]


def _is_hole(words, chunk: int) -> bool:
    """Whether both neighbours in a list of free chunks point to it: the head behind it, which says
    so too, may be what was written over."""
    i = (chunk - _RAM) >> 2
    for there, back in ((4, 6), (6, 4)):
        neighbour = words[i + there]
        if not _RAM <= neighbour < _END or neighbour & 7:
            return False
        if words[((neighbour - _RAM) >> 2) + back] != chunk:
            return False
    return True


def gc_chunk(heap) -> int:
    """The address of the chunk that the GC heap is, by mp_state_mem behind malloc's table: start
    and length of its own table, start of the next one, start and end of the pool. LookupError."""
    n = (gc.mem_alloc() + gc.mem_free()) >> 7
    words = heap.words
    i = heap.table + 512
    while _RAM + 4 * i < heap.top - 64:
        if words[i + 2] == n and words[i + 8] - words[i + 6] == n << 7:
            if words[i + 4] == words[i] + n:
                return words[i] - _HEAD
        i += 2
    raise LookupError
