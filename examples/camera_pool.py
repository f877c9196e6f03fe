# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A camera loop that keeps cut-outs of some frames: with pools, then with plain images.

Both loops need the same memory, and it is there. The plain one stops all the same, with half of
the GC heap free: the free half is in pieces. The pools are made once, and 1,000 frames go through.
"""

import gc

import sensor
from maixmem_pool import ImagePool

FRAMES = 1000
KEPT = 6  # cut-outs that wait to be sent
NOTES = 400  # lines of the log
TELL = 100  # frames between two lines about how it goes
ZOOM = (80, 60, 160, 120)


def camera_runs():
    """Starts the camera; False, and what to do, when there is none."""
    try:
        sensor.reset()
        sensor.set_pixformat(sensor.RGB565)
        sensor.set_framesize(sensor.QVGA)
        sensor.run(1)
        sensor.snapshot()  # the first one is dark
        return True
    except (OSError, RuntimeError, TypeError) as e:
        print("no camera ({}). Next: power off, plug its cable in, run this again".format(e))
        return False


class Chance:
    """What happens in front of the camera: the same for both loops."""

    def __init__(self):
        self.state = 7

    def next(self):
        self.state = self.state * 16807 % 65521
        return self.state


class Event:
    """Something that was seen."""

    def __init__(self, frame):
        self.frame = frame
        self.text = "event in frame {}".format(frame)


def tell(what, k, frames):
    """A line now and then."""
    if k and not k % TELL:
        print("{}: frame {} of {}, {} bytes free".format(what, k, frames, gc.mem_free()))


def plain_frame(k, seen, kept, log):
    """One frame, with images made as they are needed."""
    frame = sensor.snapshot().copy()
    if seen & 1 and len(kept) < KEPT:
        log[2 * k % NOTES] = Event(k)
        kept.append(frame.copy(roi=ZOOM))
    elif kept:
        kept.pop(seen % len(kept))
    log[(2 * k + 1) % NOTES] = "frame {}: {}".format(k, seen)


def plain(frames):
    """Leaves the rest to the collector, which runs when memory is out; returns how many frames it
    came through."""
    print("plain: the same with images made as they are needed")
    chance = Chance()
    kept = []
    log = [None] * NOTES
    for k in range(frames):
        tell("plain", k, frames)
        try:
            plain_frame(k, chance.next(), kept, log)
        except MemoryError as e:
            gc.collect()
            print("plain: frame {} failed with {} bytes free: {}".format(k, gc.mem_free(), e))
            return k
    return frames


def pooled_frame(k, seen, kept, log, pools):
    """One frame, with images of the pools."""
    whole, cuts = pools
    frame = whole.take(sensor.snapshot(), "frame")
    if seen & 1 and len(kept) < KEPT:
        log[2 * k % NOTES] = Event(k)
        cut = cuts.acquire("event")
        cut.draw_image(frame, -ZOOM[0], -ZOOM[1])  # copies the part, allocates nothing
        kept.append(cut)
    elif kept:
        cuts.release(kept.pop(seen % len(kept)), "event")
    log[(2 * k + 1) % NOTES] = "frame {}: {}".format(k, seen)
    whole.release(frame, "frame")


def pooled(frames):
    """The same from two pools, one for the frame and one for the cut-outs."""
    print("pooled: {} frames with images of two pools, a minute or two".format(frames))
    whole = ImagePool(320, 240, "rgb565", 1)
    cuts = ImagePool(160, 120, "rgb565", KEPT)
    chance = Chance()
    kept = []
    log = [None] * NOTES
    for k in range(frames):
        tell("pooled", k, frames)
        pooled_frame(k, chance.next(), kept, log, (whole, cuts))
    gc.collect()
    print(
        "pooled: {} frames, at most {} cut-outs at once, {} free".format(
            k + 1, cuts.high_water, gc.mem_free()
        )
    )
    return frames


if camera_runs():
    through = pooled(FRAMES)  # pools come first, while the heap is whole
    gc.collect()
    came = plain(FRAMES)
    print("frames: pooled {}, plain {}".format(through, came))
