# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Room for the camera's buffers on a K210: checked, and freed, before sensor.set_framesize().

    from maixmem_camera import check_camera, make_room
    error = check_camera(320, 240)            # None: it will succeed
    make_room(models, 320, 240)               # evicted models are loaded again at their next use

A frame size allocates two blocks of the system heap for each buffer; where that fails the
firmware raises OSError(12) and is left in a state from which only sensor.reset() helps. Compared
with the firmware (v0.6.2_84, v0.6.2-16): fresh cameras, larger and smaller frames.
"""

from maixmem import NoRoom, message, port
from maixmem_k210_chip import chunk
from maixmem_k210_fit import Damaged, chunks, nets_chunks, plan


def blocks(w: int, h: int) -> "tuple[int, int]":
    """Bytes of the chunks of one buffer: the frame, and its planes for the KPU."""
    return chunk((2 * w * h + 127) & ~127), chunk((3 * w * h + 63) & ~63)


def check_camera(w: int, h: int, buffers: int = 1, freed=()) -> "NoRoom | None":
    """None where set_framesize() of w x h would succeed now, else a NoRoom, not raised, with what
    is needed and what is free, or where the lists are damaged. `buffers` is 2 with dual_buff;
    `freed` are handles of models taken as unloaded, None also where it is not known which chunks
    are theirs. Takes nothing; allocates some KB for the moment.

    NotImplementedError where malloc's lists are not found: nothing tells then.
    """
    p = port()
    if not getattr(p, "heap", None):
        raise NotImplementedError(message("missing", "malloc's lists"))
    free = p.free_bytes()
    if not p.exact:
        return NoRoom(p.warning, "heap")
    need = blocks(w, h)
    gone = _frames(p.heap)
    sure = True
    if freed:
        mine, sure = nets_chunks(p, freed)
        gone += mine or []
    m = plan(p.heap, gone)
    for _ in range(buffers):
        if sure and not (m.take(need[0]) and m.take(need[1])):
            text = message("camera", w, h, buffers * sum(need), free, p.largest)
            return NoRoom(text, "heap", buffers * sum(need), free)
    return None


def make_room(models, w: int, h: int, buffers: int = 1) -> None:
    """Frees models of a ModelManager, the least recently used first, until set_framesize() of
    w x h succeeds; none where that would not help. They are loaded again at their next use.
    NoRoom where it is not to be had."""
    going = []
    error = check_camera(w, h, buffers)
    idle = [x for x in models.loaded() if x.ready and not x.pin and not x.pin_count]
    idle.sort(key=lambda x: x.used)
    while error and idle:
        going.append(idle.pop(0))
        error = check_camera(w, h, buffers, [x.handle for x in going])
    if not error:
        for x in going:
            models.release(x.name)
        error = check_camera(w, h, buffers)
    if error:
        raise error


def _frames(heap):
    """[(address, bytes)] of the buffers that the camera has and set_framesize() frees first."""
    import sensor

    try:
        sizes = blocks(sensor.width(), sensor.height())
        used = [c for c in chunks(heap) if c[2]]
    except (AttributeError, OSError, LookupError, Damaged):
        return []
    frames = [c for c in used if c[1] - sizes[0] in (0, 16)]
    planes = [c for c in used if c[1] - sizes[1] in (0, 16)]
    if not frames or not planes or sizes[0] < 64:
        return []
    # the display's buffer is as large as a frame, and was taken at boot, below
    best = frames[-1]
    for c in frames:
        if c[0] + c[1] == planes[-1][0]:
            best = c
    return [best[:2], planes[-1][:2]]
