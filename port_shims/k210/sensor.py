# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's sensor module: the memory of the camera's frame buffers."""

import k210_board as board
import k210_image

BAYER, RGB565, YUV422, GRAYSCALE, JPEG = 1, 2, 3, 4, 5
QQQQVGA, QQQVGA, QQVGA, QVGA, VGA = 7, 8, 9, 10, 11
HQQQVGA, HQQVGA, HQVGA = 12, 13, 14
B64X32, B64X64, B128X64, B128X128, B240X240 = 15, 16, 17, 18, 19
LCD, QQVGA2, WVGA, WVGA2, SVGA, SXGA, UXGA = 20, 21, 22, 23, 24, 25, 26
QQCIF, QCIF, CIF, QQSIF, QSIF, SIF = 1, 2, 3, 4, 5, 6
_SIZES = (
    (0, 0),
    (88, 72),
    (176, 144),
    (352, 288),
    (88, 60),
    (176, 120),
    (352, 240),
    (40, 30),
    (80, 60),
    (160, 120),
    (320, 240),
    (640, 480),
    (60, 40),
    (120, 80),
    (240, 160),
    (64, 32),
    (64, 64),
    (128, 64),
    (128, 128),
    (240, 240),
    (128, 160),
    (128, 160),
    (720, 480),
    (752, 480),
    (800, 600),
    (1280, 1024),
    (1600, 1200),
)
_BPP = {RGB565: k210_image.RGB565, GRAYSCALE: k210_image.GRAYSCALE}


# Contract.  The camera after sensor.reset().  Each of 1 or 2 buffers is two blocks of the system heap, pixels
# ceil128(2wh) and AI planes ceil64(3wh), taken by set_framesize() and freed by reset() and deinit().  A failed
# set_framesize() keeps the new size without a buffer, as the firmware does: the same size again takes nothing.
class _Camera:
    def __init__(self, dual):
        self.buffers = 2 if dual else 1
        self.pixformat = None
        self.size = None
        self.window = None
        self.pixels = None
        self.dangling = False


def _camera():
    board.alive()
    if board.state.sensor is None:
        raise TypeError("not found sensor")
    return board.state.sensor


def _drop():
    camera = board.state.sensor
    if camera and camera.dangling:
        board.crash(
            "the camera's AI buffer is freed twice after a failed set_framesize()",
            "machine.reset(); call sensor.deinit() before a larger frame size",
        )
    for block in board.state.blocks.pop("sensor", ()):
        board.heap.free(block)


def reset(freq=24000000, set_regs=True, choice=0, dual_buff=False):
    board.point("sensor.reset")
    _drop()
    board.spi_read(4096, "sensor.reset")
    if not board.state.camera:
        board.state.sensor = None
        raise RuntimeError("Reset Failed")
    board.state.sensor = _Camera(dual_buff)


def deinit():
    board.point("sensor.deinit")
    _drop()
    if board.state.sensor:
        board.state.sensor = _Camera(board.state.sensor.buffers == 2)


def set_pixformat(pixformat):
    camera = _camera()
    board.point("set_pixformat")
    camera.pixformat = pixformat
    return True


def set_framesize(size):
    camera = _camera()
    board.point("set_framesize")
    w, h = _SIZES[size]
    camera.window = None
    if camera.size == (w, h):
        return None
    old = board.state.blocks.pop("sensor", [])
    camera.size = (w, h)
    blocks = board.state.blocks["sensor"] = []
    for i in range(camera.buffers):
        for block in old[2 * i : 2 * i + 2]:
            board.heap.free(block)
        blocks.extend(_buffer(camera, w, h, bool(old)))
    camera.pixels = bytearray(2 * w * h)
    return None


def _buffer(camera, w, h, grown):
    first = board.heap.malloc((2 * w * h + 127) & ~127)
    if not first:
        camera.dangling = grown
        raise OSError(12)
    second = board.heap.malloc((3 * w * h + 63) & ~63)
    if not second:
        board.heap.free(first)
        raise OSError(12)
    return first, second


def set_windowing(window):
    camera = _camera()
    camera.window = tuple(window)[-2:]
    return True


def run(enable):
    _camera()
    return True


def skip_frames(*args, **kwargs):
    _camera()


def width():
    return _camera().size[0]


def height():
    return _camera().size[1]


def snapshot():
    camera = _camera()
    board.point("snapshot")
    if camera.size is None:
        raise RuntimeError("Not init!")
    if not board.state.blocks.get("sensor"):
        board.crash(
            "snapshot() without a frame buffer writes through a null pointer",
            "after ENOMEM call sensor.reset() before set_framesize()",
        )
    w, h = camera.window or camera.size
    return k210_image.Image(w, h, _BPP.get(camera.pixformat, k210_image.RGB565), camera, camera)
