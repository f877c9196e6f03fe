# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""ImagePool on the K210: frames copied in without allocating, the firmware's image traps
closed."""

import gc

import image
import maixmem
from devtest import Skip, heap_locked, raises
from maixmem import NoRoom, PoolEmpty, PoolError
from maixmem_pool import ImagePool

try:
    import k210_board
except ImportError:
    k210_board = None  # a real board

HEAP = "2m"

RED = (255, 0, 0)


def power_on():
    """A fresh board, where it is a stand-in."""
    if k210_board:
        k210_board.reset("minimum")
    gc.collect()


def frame(w, h, color=RED):
    """An image of the program's own, with one pixel painted."""
    img = image.Image(size=(w, h))
    img.set_pixel(3, 2, color)
    return img


def test_take_copies_the_pixels_into_the_same_images_for_ever():
    power_on()
    pool = ImagePool(32, 24, "rgb565", 2)
    seen = []
    for _ in range(5):
        img = pool.take(frame(32, 24), "camera")
        assert img.get_pixel(3, 2) == RED and (img.width(), img.height()) == (32, 24)
        if not [x for x in seen if x is img]:
            seen.append(img)
        pool.release(img, "camera")
    assert len(seen) == 1 and pool.high_water == 1 and pool.check() == 0


def test_two_images_without_ai_copies_is_what_is_not_said():
    power_on()
    p = ImagePool(32, 24)
    assert (p.format, p.count, p.ai, p.replaced, p.in_use) == ("rgb565", 2, False, 0, 0)


def test_sizes_are_whole_numbers():
    power_on()
    for args in ((32.0, 24), (32, 24.5), (0, 24), (32, 24, "rgb565", 2.0)):
        e = raises(ValueError, ImagePool, *args)
        assert "ImagePool({!r}, {!r}".format(*args[:2]) in str(e) and "//" in str(e), e


def test_gray():
    power_on()
    pool = ImagePool(32, 24, "gray", 1, ai=True)
    src = frame(32, 24).to_grayscale()
    img = pool.take(src)
    assert img.format() == src.format() and img.get_pixel(3, 2) == src.get_pixel(3, 2)
    e = raises(PoolError, pool.take, frame(32, 24))
    assert "gray" in str(e)


def test_a_frame_of_another_size_or_format_is_refused_and_nothing_is_taken():
    power_on()
    pool = ImagePool(32, 24, "rgb565", 1)
    for src in (frame(31, 24), frame(16, 24), frame(64, 48), frame(32, 24).to_grayscale()):
        e = raises(PoolError, pool.take, src)
        assert "32x24" in str(e)
        assert pool.check() == 0
    assert pool.replaced == 0


def test_an_image_that_shrank_is_replaced_before_it_is_handed_out():
    power_on()
    pool = ImagePool(32, 24, "rgb565", 1, ai=True)
    shrunk = pool.acquire()
    try:
        frame(8, 8).copy(copy_to_fb=shrunk)
        raises(OSError, frame(32, 24).copy, copy_to_fb=shrunk)
    except TypeError:  # copy() of this firmware takes no image
        shrunk.mean_pool(4, 3)
    assert shrunk.width() == 8
    pool.release(shrunk)
    img = pool.take(frame(32, 24))
    assert img is not shrunk and (img.width(), img.height(), pool.replaced) == (32, 24, 1)
    assert "not from this pool" in str(raises(PoolError, pool.release, shrunk))
    pool.release(img)
    assert pool.check() == 0 and pool.high_water == 1


def test_an_image_that_became_gray_is_replaced():
    power_on()
    pool = ImagePool(32, 24, "rgb565", 2)
    with pool.borrow() as img:
        try:
            frame(32, 24).to_grayscale().copy(copy_to_fb=img)
        except TypeError:
            raise Skip("not on this firmware: Image.copy(copy_to_fb=an image)")
    again = pool.acquire()
    assert again.format() == frame(4, 4).format() and pool.replaced == 1


def test_pix_to_ai_works_on_what_take_gives():
    power_on()
    pool = ImagePool(32, 24, "rgb565", 1)
    img = pool.take(frame(32, 24))
    img.pix_to_ai()
    pool.release(img)
    with_ai = ImagePool(32, 24, "rgb565", 1, ai=True)
    img = with_ai.take(frame(32, 24))
    img.pix_to_ai()
    assert with_ai.release(img) is None


def test_borrow_tags_and_an_empty_pool():
    power_on()
    pool = ImagePool(32, 24, "rgb565", 1)
    with pool.borrow("lcd") as img:
        e = raises(PoolEmpty, pool.take, frame(32, 24))
        assert "lcd" in str(e) and pool.failures == 1
        raises(PoolEmpty, pool.acquire)
    assert pool.acquire("b") is img
    raises(PoolError, pool.release, img, "a")


def test_a_failed_copy_gives_the_image_back():
    power_on()
    pool = ImagePool(32, 24, "rgb565", 1)

    class Bad:
        def width(self):
            return 32

        def height(self):
            return 24

        def format(self):
            return pool._code

    e = raises(Exception, pool.take, Bad())
    assert isinstance(e, (AttributeError, TypeError)), e  # as the firmware copies or draws
    assert pool.check() == 0


def test_no_room_for_the_pool_is_clean():
    power_on()
    if not hasattr(gc, "mem_free"):
        raise Skip("this interpreter does not count its heap")
    more = (gc.mem_alloc() + gc.mem_free()) // (320 * 240 * 2) + 1  # than the whole heap holds
    e = raises(NoRoom, ImagePool, 320, 240, "rgb565", more)
    assert e.region == "gc" and "320x240" in str(e) and isinstance(e, MemoryError)
    e = None
    gc.collect()
    assert ImagePool(32, 24).check() == 0


def test_wrong_sizes():
    power_on()
    for args in ((0, 1), (1, 0), (1, 1, "rgb565", 0)):
        raises(ValueError, ImagePool, *args)
    raises(ValueError, ImagePool, 8, 8, "rgb888")


# A platform with images that allocate nothing: what is left is the pool's own.
class Canvas:
    def __init__(self, w, h):
        self.w = w
        self.h = h
        self.data = bytearray(w * h)
        self.ai = 0

    def width(self):
        return self.w

    def height(self):
        return self.h

    def format(self):
        return 1

    def pix_to_ai(self):
        self.ai += 1


class CanvasPort:
    room = 100

    def new_image(self, w, h, format):
        if not self.room:
            raise MemoryError("no canvas")
        self.room -= 1
        return Canvas(w, h)

    def copy_into(self, dst, src):
        for i in range(len(src.data)):
            dst.data[i] = src.data[i]


def on_canvas(test):
    """Runs a test on the platform of canvases and puts the real one back."""
    port = CanvasPort()
    maixmem.set_port(port)
    try:
        test(port)
    finally:
        maixmem.set_port(None)


def loop(both):
    pool, src = both
    for _ in range(3):
        img = pool.take(src)
        other = pool.take(src, "x")
        pool.release(img)
        pool.release(other, "x")
        with pool.borrow() as img:
            img.data[0] = 1


def test_take_and_borrow_allocate_nothing():
    def test(port):
        pool = ImagePool(8, 8, "gray", 3, ai=True)
        src = Canvas(8, 8)
        pool.acquire()
        heap_locked(loop, (pool, src))
        assert pool.check() == 1 and pool.high_water == 3

    on_canvas(test)


def test_a_replacement_that_fails_loses_nothing():
    def test(port):
        pool = ImagePool(8, 8, "gray", 2)
        img = pool.acquire()
        img.w = 4
        pool.release(img)
        port.room = 0
        for _ in range(3):
            raises(NoRoom, pool.acquire)
            raises(NoRoom, pool.take, Canvas(8, 8))
            assert pool.check() == 0
        port.room = 1
        a, b = pool.acquire(), pool.acquire()
        assert a.w == 8 and b.w == 8 and pool.replaced == 1 and pool.check() == 2

    on_canvas(test)


def test_a_failed_construction_is_reported_with_what_was_had():
    def test(port):
        port.room = 2
        e = raises(NoRoom, ImagePool, 8, 8, "gray", 3)
        assert "8x8" in str(e) and "no canvas" in str(e)

    on_canvas(test)
