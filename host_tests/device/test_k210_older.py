# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Every public call on whatever firmware there is: it works, or a sentence names what is missing.
Never AttributeError."""

import gc

import maixmem
from devtest import Skip

try:
    import k210_board
except ImportError:
    k210_board = None  # a real board

try:
    from board_models import MODELS
except ImportError:
    MODELS = ()


def missing(f, *args, **how):
    """Calls f; None when it works, else the sentence about what this firmware lacks."""
    try:
        f(*args, **how)
    except NotImplementedError as e:
        text = str(e)
        assert "not on this firmware: " in text and "Next:" in text, text
        return text
    return None


def _silent(text):
    pass


def walk_memory():
    """What is missing for memory and flash."""
    from maixmem_flash import FlashMap
    from maixmem_kmodel import read_info

    def watch():
        w = maixmem.Watch()
        w.sample()
        w.mark("x")
        w.report(_silent)
        w.high_water()

    def gc_heap():
        from maixmem_k210 import utils

        try:
            ask = getattr(utils, "gc_heap_size", int)
            maixmem.set_gc_heap(ask() or 524288)
        except ValueError:  # another interpreter's heap
            pass

    def info():
        try:
            read_info(0x1FFFF)
        except ValueError:  # no model is there
            pass

    found = [missing(maixmem.report, _silent), missing(maixmem.regions), missing(watch)]
    found += [missing(gc_heap), missing(maixmem.port().read_flash, 0, 16), missing(info)]
    found.append(missing(lambda: FlashMap().scan(offsets=(), gaps=False).report(_silent)))
    return [x for x in found if x]


def walk_images():
    """What is missing for image pools."""
    from maixmem_pool import ImagePool

    def frames(format, ai):
        pool = ImagePool(32, 24, format, 2, ai=ai)
        src = maixmem.port().new_image(32, 24, format)
        src.set_pixel(3, 4, 255 if format == "gray" else (255, 255, 255))
        for _ in range(20):
            img = pool.take(src)
            assert bytes(img.to_bytes()) == bytes(src.to_bytes())
            pool.release(img)

    found = [missing(frames, "rgb565", False), missing(frames, "gray", False)]
    return [x for x in found + [missing(frames, "rgb565", True)] if x]


def walk_models(addresses, nbytes, img):
    """What is missing for models at these addresses."""
    from maixmem_models import ModelManager

    m = ModelManager()
    found = []
    for i in range(len(addresses)):
        found.append(missing(m.add, i, addresses[i], nbytes=nbytes))
        found.append(missing(m.add, -1 - i, addresses[i], stream=(0, 8, 80000000), nbytes=nbytes))
    try:
        for i in (0, 1, 0):
            found.append(missing(m.use, i))
        net = m.models[0]
        if net.ready:
            found.append(missing(net.run, img))
            found.append(missing(net.init_yolo2, 0.5, 0.3, 1, (1.0, 1.0)))
            if not found[-1]:
                try:
                    found.append(missing(net.run_yolo2, img))
                except (ValueError, OSError):  # the model has no such output
                    pass
            for name, args in (("get_output", (0,)), ("netinfo", ()), ("set_layers", (1,))):
                found.append(missing(lambda: getattr(net, name)(*args)))
            for name in ("fmap", "fmap_free", "classifier"):
                found.append(missing(lambda: getattr(net, name)))
        try:
            found.append(missing(m.use, -1))
        except ValueError as e:  # not swapped, or there is no load_flash
            assert "Next" in str(e) or "load_flash" in str(e), e
        m.status(_silent)
    finally:
        found.append(missing(m.release_all))
    return [x for x in found if x]


def test_memory_and_flash():
    if k210_board:
        k210_board.reset("minimum")
    walk_memory()


def test_images():
    if k210_board:
        k210_board.reset("minimum")
    assert walk_images() == []


def test_frames_leave_memory_flat():
    from maixmem_pool import ImagePool

    if k210_board:
        raise Skip("the pixels of the stand-in are not the interpreter's")
    pool = ImagePool(64, 48, "rgb565", 1)
    src = maixmem.port().new_image(64, 48)
    pool.release(pool.take(src))
    gc.collect()
    before = gc.mem_alloc()
    for _ in range(1000):
        pool.release(pool.take(src))
    gc.collect()
    assert gc.mem_alloc() <= before, gc.mem_alloc() - before


def test_models():
    if len(MODELS) < 2:
        raise Skip("no two models in flash: --model ADDR twice")
    img = maixmem.port().new_image(28, 28)
    try:
        walk_models(MODELS, 1 << 20, img)
    except (ValueError, OSError) as e:  # the image is not of the model's size
        assert "img" in str(e) or "image" in str(e) or "check" in str(e), e
