# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the firmware (v0.6.2_84) says to a wrong call: the same class and text from the
stand-in."""

import gc

import image
import k210_board as board
import KPU as kpu
import lcd
import sensor
from devtest import raises
from kmodel_build import swapped, v3, v4
from Maix import utils

NEEDS = ("shim", "not mp2019")  # the stand-in itself: a program for desks

A, B, BLANK = 0x300000, 0x400000, 0x500000
P = "[MAIXPY]kpu: "
MISSING = "function missing %d required positional arguments"
V3_ONLY = "load error:2002, ERR_KMODEL_VERSION: only support kmodel V3"
YOLO = (0.5, 0.3, 1, (1.0, 2.0))


def small():
    return v3((28, 28, 1), [("conv", 16), ("dequantize",)])


def on(firmware="minimum", **files):
    gc.collect()  # what a board keeps lies low, and leaves room for a picture
    board.reset(firmware, flash={A: small(), B: v4((28, 28, 1), [("conv", 8), ("dequantize",)])})


def says(kind, text, f, *args, **kw):
    e = raises(kind, f, *args, **kw)
    assert e.args[0] == text, (e.args[0], text)


def test_load_refuses_what_it_cannot_load():
    on()
    for x in (0, -1):
        says(ValueError, P + "model_addr must > 0 ", kpu.load, x)
    for x in (None, True, b"x.kmodel", 1.5, []):
        says(TypeError, P + "only accept int or string", kpu.load, x)
    says(ValueError, P + "model format don't match, only supply .kmodel ", kpu.load, "x.bin")
    says(
        ValueError,
        P + "load error:2005, ERR_READ_FILE: read file failed",
        kpu.load,
        "/flash/x.kmodel",
    )
    says(TypeError, MISSING % 1, kpu.load)
    for address in (BLANK, 0x100, B):
        says(ValueError, P + V3_ONLY, kpu.load, address)
    assert board.heap.live() == 0
    on("full")
    says(ValueError, P + V3_ONLY + "/V4 now", kpu.load, BLANK)


def test_addresses_have_24_bits():
    on()
    for address in (A, A + (1 << 24), (1 << 32) + A):
        net = kpu.load(address, 1, 2, foo=3)
        assert net.model_size() == small().nbytes and net.model_addr() == address & 0xFFFFFFFF
        kpu.deinit(net)


def test_the_sixth_model():
    on()
    nets = [kpu.load(A) for _ in range(5)]
    text = "load error:2009, ERR_MODELS_FULL: we only support load 5 models in the same time"
    says(ValueError, P + text, kpu.load, A)
    kpu.deinit(nets[2])
    kpu.load(A)
    assert len(board.nets()) == 5


def test_a_damaged_header():
    no_body = v3((28, 28, 1), [("conv", 8), ("raw", 15, 0)])
    huge = v3((28, 28, 1), [("conv", 8), ("raw", 15, 0x600000)])
    board.reset("minimum", flash={A: no_body, 0x800000: huge.read(0, 4096)})
    text = P + "load error:2003, ERR_KMODEL_FORMAT: layer_header.body_size <=0"
    says(ValueError, text, kpu.load, A)
    says(ValueError, text, kpu.load, 0x800000)
    assert board.heap.live() == 0


def v5(head):
    return b"LDMK\x05\x00\x00\x00" + head


def test_kmodel_v5():
    b_head = v5(b"\x20\0\0\0" + bytes(4) + b"\x08\0\0\0" + bytes(12)) + bytes(64)
    a_head = v5(
        bytes(4) + b"\x00\x01\0\0" + b"\x01\0\0\0" + bytes(4) + b"\xff\xff\xff\x6f"
    ) + bytes(64)
    flash = {A: b_head, B: a_head}
    board.reset("full", flash=flash, files={"/flash/a.kmodel": b_head})
    says(ValueError, P + "load error:2015, ERR_UNKNOWN", kpu.load, B)
    raises(board.DeviceCrash, kpu.load, "/flash/a.kmodel")
    board.reset("minimum", flash=flash, files={"/flash/a.kmodel": b_head})
    for x in (A, B, "/flash/a.kmodel"):
        says(ValueError, P + V3_ONLY, kpu.load, x)


def test_load_flash():
    plain = small()
    board.reset(
        "full",
        flash={A: plain, B: swapped(plain), 0x500000: swapped(v4((28, 28, 1), [("conv", 8)]))},
    )
    text = "load_flash error:2002, ERR_KMODEL_VERSION: only support kmodel V3/V4 now"
    says(ValueError, P + text, kpu.load_flash, A, 0, 0, 80000000)
    text = (
        "load_flash arg format error: task=kpu.load_flash(flash_addr, is_dual_buf, "
        "batch_size, spi_speed)"
    )
    says(ValueError, P + text, kpu.load_flash, "a", 0, 0, 80000000)
    says(TypeError, MISSING % 3, kpu.load_flash, 1)
    for dual in (0, 1):
        net = kpu.load_flash(B, dual, 0, 80000000)
        assert board.kpu_live() == 4545 + plain.main_mem + (dual + 1) * (plain.largest_body + 256)
        kpu.deinit(net)
    assert board.heap.live() == 0
    net = kpu.load_flash(0x500000, 0, 0, 80000000)
    kpu.deinit(net)
    assert (
        net.model_size() == 0 and board.heap.live() == 4352
    )  # the firmware leaks the header of a V4 model


def test_kpu_net():
    on()
    net = kpu.load(A)
    says(AttributeError, "'kpu_net' object has no attribute 'foo'", getattr, net, "foo")
    says(TypeError, "unsupported type for __hash__: 'kpu_net'", hash, net)
    assert net != 1 and net in board.nets()
    assert net.model_path() is None and "model_addr" in repr(net)
    assert kpu.deinit(net) is True and kpu.deinit(net) is True
    assert net.model_size() == small().nbytes and net not in board.nets()
    says(
        OSError,
        "ERR_PARAM: please check param, load address or kmodel file name",
        kpu.forward,
        net,
        [1.0],
    )
    says(TypeError, P + "kpu_net type error", kpu.deinit, 1)
    says(TypeError, MISSING % 1, kpu.deinit)


def test_init_yolo2():
    on()
    net = kpu.load(A)
    says(TypeError, MISSING % 5, kpu.init_yolo2, kpu_net=net, threshold=0.5)
    says(TypeError, P + "kpu_net type error", kpu.init_yolo2, 1, *YOLO)
    says(ValueError, P + "threshold only support 0 to 1", kpu.init_yolo2, net, 1.5, 0.3, 5, ())
    says(ValueError, P + "nms_value only support 0 to 1", kpu.init_yolo2, net, 0.5, -0.3, 5, ())
    says(ValueError, P + "anchor_number should > 0", kpu.init_yolo2, net, 0.5, 0.3, 0, ())
    says(TypeError, "can't convert str to float", kpu.init_yolo2, net, "a", 0.3, 1, (1, 2))
    says(
        ValueError,
        "requested length 10 but object has length 2",
        kpu.init_yolo2,
        net,
        0.5,
        0.3,
        5,
        (1, 2),
    )
    says(TypeError, "object 'int' isn't a tuple or list", kpu.init_yolo2, net, 0.5, 0.3, 5, 5)
    leaked = board.heap.live() - board.kpu_live()
    assert leaked == 2 * 40  # a refused call leaks its first block
    assert kpu.init_yolo2(net, *YOLO) is True
    kpu.deinit(net)
    assert board.heap.live() == leaked


def test_running():
    on()
    net = kpu.load(A)
    img = image.Image(size=(28, 28)).to_grayscale()
    refused = P + "check img format err!\r\n"
    says(ValueError, refused, kpu.run_yolo2, net, img)  # no pix_to_ai()
    img.pix_to_ai()
    raises(board.DeviceCrash, kpu.run_yolo2, net, img)  # without init_yolo2
    on()
    net = kpu.load(A)
    kpu.init_yolo2(net, *YOLO)
    img = image.Image(size=(28, 28)).to_grayscale()
    says(ValueError, refused, kpu.run_yolo2, net, img)
    img.pix_to_ai()
    assert kpu.run_yolo2(net, img) is None
    other = image.Image(size=(30, 28)).to_grayscale()
    other.pix_to_ai()
    says(ValueError, refused, kpu.run_yolo2, net, other)
    says(ValueError, "input not support", kpu.forward, net, None)
    says(ValueError, P + "check input list format err!\r\n", kpu.forward, net, [])
    assert kpu.forward(1, img) is None
    says(OSError, "sipeed_kpu_get_output err", kpu.forward, net, img, 1)
    found = kpu.forward(net, img)
    assert found.size() == board.nets()[0].header.output(0)[1]
    assert len(found[0:9]) == 9 and found[0:9] == kpu.forward(net, img)[0:9]
    raises(IndexError, lambda: found[found.size() // 4])
    kpu.deinit(net)
    assert found[0] != found[0]  # the memory is gone: not a number


def test_set_outputs():
    on("full")
    net = kpu.load(B)
    size = board.nets()[0].header.output(0)[1]
    unset = kpu.get_output(net, 0)
    assert (unset.size(), unset.w(), unset.h(), unset.ch()) == (size, 0, 0, 0)
    says(OSError, "ERR_OUTPUTS_SET: need kpu.set_outputs() to set shape", kpu.forward, net, [1.0])
    says(OSError, "get_output err", kpu.get_output, net, 5)
    assert kpu.set_outputs(net, 0, 1, 1, 1) is False
    assert kpu.set_outputs(net, 0, 1, 1, size // 4) is True
    assert kpu.get_output(net, 0).size() == size
    assert kpu.set_outputs(kpu.load(A), 0, 1, 1, 1) is False
    says(TypeError, MISSING % 3, kpu.set_outputs, net)


def test_utils():
    on()
    arity = "function takes %d positional arguments but %d were given"
    says(TypeError, arity % (2, 1), utils.flash_read, 1)
    says(TypeError, arity % (0, 1), utils.heap_free, 1)
    says(TypeError, "function expected at most 1 arguments, got 2", utils.gc_heap_size, 1, 2)
    for x, name in ((None, "NoneType"), ("x", "str"), (3.5, "float")):
        says(TypeError, "can't convert %s to int" % name, utils.gc_heap_size, x)
    assert utils.gc_heap_size() == 524288
    says(
        MemoryError,
        "memory allocation failed, allocating 4294967295 bytes",
        utils.flash_read,
        0,
        -1,
    )
    says(
        MemoryError,
        "memory allocation failed, allocating 600000 bytes",
        utils.flash_read,
        0,
        600000,
    )
    head = utils.flash_read(0, 5)
    assert head == b"\x00\x00\xff\x0a\x00" == utils.flash_read(1 << 24, 5)
    assert utils.flash_read(0xFFFFFE, 4) == b"\xff\xff\x00\x00" == utils.flash_read(-2, 4)
    assert utils.flash_read(0, 0) == b""


def test_gc_heap_size_counts_after_a_hard_reset():
    on()
    for n, stored in ((0, 524288), (-1, 4294967295), ((1 << 32) + 65536, 65536), (262144, 262144)):
        assert utils.gc_heap_size(n) is None and utils.gc_heap_size() == stored
    board.soft_reset()
    assert board.gc_pool() == 518144
    board.power_on()
    assert board.gc_pool() == 259072 and utils.heap_free() == 4997120


def test_images():
    on()
    says(TypeError, "object 'int' isn't a tuple or list", image.Image, 64, 64)
    says(ValueError, "requested length 2 but object has length 1", image.Image, size=(5,))
    says(OSError, 5, image.Image, "/flash/none.bmp")
    img = image.Image(size=(64, 64))
    assert repr(img) == '{"w":64, "h":64, "type"="rgb565", "size":8192}'
    assert img.pix_to_ai() is None and img.format() == 2
    small_one = image.Image(size=(32, 32))
    small_one.copy(copy_to_fb=img)
    assert (img.width(), img.height()) == (32, 32)
    says(
        OSError,
        "The new image won't fit in the target frame buffer!",
        image.Image(size=(64, 64)).copy,
        copy_to_fb=img,
    )
    img.pix_to_ai()
    img.to_bytes()[0:2] = b"\xff\xff"
    assert img.get_pixel(0, 0) == (255, 255, 255)
    e = raises(board.DeviceCrash, img.copy().pix_to_ai)
    assert "copy_to_fb" in e.cure
    on()
    img.resize(16, 16).pix_to_ai()
    img.cut(0, 0, 8, 8).pix_to_ai()
    raises(board.DeviceCrash, img.crop(roi=(0, 0, 8, 8)).pix_to_ai)


def test_camera():
    on()
    says(TypeError, "not found sensor", sensor.snapshot)
    says(OSError, 5, sensor.set_framesize, sensor.QVGA)
    sensor.reset()
    says(RuntimeError, "Not init!", sensor.snapshot)
    sensor.set_pixformat(sensor.RGB565)
    sensor.set_framesize(sensor.QVGA)
    assert board.heap.live() == 384000
    assert sensor.snapshot().size() == 153600
    says(OSError, 12, sensor.set_framesize, sensor.SXGA)
    assert (
        sensor.set_framesize(sensor.SXGA) is None
    )  # the size is remembered, the buffer is not there
    raises(board.DeviceCrash, sensor.snapshot)
    on()
    sensor.reset(dual_buff=True)
    sensor.set_framesize(sensor.QVGA)
    assert board.heap.live() == 768000
    sensor.deinit()
    assert board.heap.live() == 0


def test_display():
    on()
    says(TypeError, "Can't convert int to type", lcd.display, 1)
    lcd.deinit()
    assert utils.heap_free() == 4911104
    lcd.init()
    assert utils.heap_free() == 4734976


def test_a_dead_board_stays_dead_until_reset():
    on()
    raises(board.DeviceCrash, board.crash, "cause", "cure")
    for f in (utils.heap_free, board.soft_reset, sensor.reset, lcd.init):
        assert raises(board.DeviceCrash, f).cause == "cause"
    on()
    assert utils.heap_free() == 4734976


def test_the_unknown_firmware_is_named():
    e = raises(ValueError, board.reset, "v9")
    assert "v9" in str(e) and "minimum" in str(e) and "lvgl" in str(e)
    on()


def test_unused_image_memory_comes_back():
    on()
    for _ in range(40):
        image.Image(size=(160, 120))
        gc.collect()
