# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's sensor module: the memory of the camera's frame buffers."""

import k210_board as board
import k210_image
from k210_args import as_int, as_tuple, exactly
from k210_model.frame_sizes import SIZES
from k210_model.values import Any
from k210_time import passed

BAYER, RGB565, YUV422, GRAYSCALE, JPEG = 1, 2, 3, 4, 5
QQQQVGA, QQQVGA, QQVGA, QVGA, VGA = 7, 8, 9, 10, 11
HQQQVGA, HQQVGA, HQVGA = 12, 13, 14
B64X32, B64X64, B128X64, B128X128, B240X240 = 15, 16, 17, 18, 19
LCD, QQVGA2, WVGA, WVGA2, SVGA, SXGA, UXGA = 20, 21, 22, 23, 24, 25, 26
QQCIF, QCIF, CIF, QQSIF, QSIF, SIF = 1, 2, 3, 4, 5, 6


def _by_number(numbers: dict) -> list:
    """Width and height of each frame size, by what its name stands for in `numbers`."""
    sizes = [(0, 0)] * (1 + len(SIZES))
    for name in SIZES:
        sizes[numbers[name]] = SIZES[name]
    return sizes


_SIZES = _by_number(globals())
_OV7740 = 0x7742  # the camera that is there
# microseconds, as on the emulated board: from the beginning of a picture to that of the next, and
# to its own end (30 a second); of a reset; of a frame size
_PERIOD, _PICTURE = 33333, 25000
_RESET, _FRAME_SIZE = 1614000, 30000
_SKIPPED = 300  # milliseconds
_BPP = {
    RGB565: k210_image.RGB565,
    GRAYSCALE: k210_image.GRAYSCALE,
    YUV422: k210_image.RGB565,
    BAYER: k210_image.BAYER,
}


# Contract. The camera after sensor.reset(). Each of 1 or 2 buffers is two blocks of the system
# heap, pixels ceil128(2wh) and AI planes ceil64(3wh), taken by set_framesize() and freed by
# reset(), deinit() and a soft reset. A failed set_framesize() keeps the new size without a buffer,
# as the firmware does: the same size again takes nothing. `data` is what the frames show. `free`:
# microseconds slept, since when a buffer waits for the next picture to begin.
class _Camera:
    def __init__(self, dual: bool) -> None:
        self.buffers = 2 if dual else 1
        self.bpp = k210_image.JPEG
        self.size = (0, 0)
        self.window = None
        self.data = b""
        self.dangling = False
        self.free = 0

    def waits(self, pictures: int = 1) -> None:
        """Until there were so many. With two buffers it may have come since the last one; with one
        it begins when there is somebody who waits for it."""
        if self.buffers == 1:
            self.free = passed.slept
        ready = -(-self.free // _PERIOD) * _PERIOD + _PICTURE
        ready += (pictures - 1) * _PERIOD
        passed.busy(max(0, ready - passed.slept))
        self.free = passed.slept


def _one(args: Any) -> None:
    """These two look for their argument by themselves."""
    if not args:
        raise TypeError("function missing 1 required positional arguments")
    if len(args) > 1:
        raise ValueError("arg err")


def _drop() -> None:
    camera = board.state.sensor
    if camera and camera.dangling:
        board.crash(
            "the camera's AI buffer is freed twice after a failed set_framesize()",
            "call sensor.deinit() before a larger frame size",
        )
    board.free_blocks("sensor")


def reset(*args: Any, **kwargs: Any) -> None:
    """reset(dual_buff=False); other arguments do not matter here."""
    board.point("sensor.reset")
    _drop()
    board.spi_read(4096, "sensor.reset")
    if not board.state.camera:
        board.state.sensor = None
        raise RuntimeError("Reset Failed")
    passed.busy(_RESET)
    board.state.sensor = _Camera(kwargs.get("dual_buff", False))


def binocular_reset(*args: Any, **kwargs: Any) -> None:
    """Two cameras on one board: as reset(), and nothing of two of them."""
    reset()


def deinit() -> None:
    board.point("sensor.deinit")
    _drop()
    board.state.sensor = None


def set_pixformat(*args: Any, **kwargs: Any) -> bool:
    _one(args)
    pixformat = as_int(args[0])
    board.point("set_pixformat")
    if board.state.sensor is None or pixformat not in _BPP:
        raise OSError("Pixel format is not supported!")
    board.state.sensor.bpp = _BPP[pixformat]
    return True


def set_framesize(*args: Any, **kwargs: Any) -> None:
    _one(args)
    board.point("set_framesize")
    size = as_int(args[0])
    camera = board.state.sensor
    if camera is None:
        raise OSError(5)
    if size < 0:
        board.crash("set_framesize(%d) reads in front of its table" % size, "give sensor.QVGA")
    if size >= len(_SIZES):  # what lies behind the table is too large
        raise OSError(12)
    w, h = _SIZES[size]
    if camera.size != (w, h) or camera.window:
        _take(camera, w, h)


def _take(camera: _Camera, w: int, h: int) -> None:
    old = board.state.blocks.pop("sensor", [])
    blocks = []  # type: list[int]
    board.state.blocks["sensor"] = blocks
    camera.size = (w, h)
    camera.window = None
    camera.data = b""
    passed.busy(_FRAME_SIZE)
    for i in range(camera.buffers):
        for block in old[2 * i : 2 * i + 2]:
            board.heap.free(block)
        blocks.extend(_buffer(camera, w, h, bool(old)))


def _buffer(camera: _Camera, w: int, h: int, grown: bool) -> tuple:
    first = board.heap.malloc((2 * w * h + 127) & ~127)
    if not first:
        camera.dangling = grown
        raise OSError(12)
    second = board.heap.malloc((3 * w * h + 63) & ~63)
    if not second:
        board.heap.free(first)
        raise OSError(12)
    return first, second


def set_windowing(*args: Any, **kwargs: Any) -> bool:
    """set_windowing((w, h)) or ((x, y, w, h)): takes no memory, and the frame keeps all of its
    own."""
    if kwargs:
        raise TypeError("function doesn't take keyword arguments")
    exactly(len(args), 1)
    board.point("set_windowing")
    camera = board.state.sensor
    if len(as_tuple(args[0])) not in (2, 4):
        raise ValueError("The tuple/list must either be (x, y, w, h) or (w, h)")
    w, h = [as_int(n) for n in args[0]][-2:]
    if w < 8 or h < 8:
        raise ValueError("The selected window is too small")
    if camera is None or w > camera.size[0] or h > camera.size[1]:
        raise ValueError("The selected window is outside the bounds of the frame")
    if w % 8 or h % 8:
        raise ValueError("value must be multiple of 8")
    camera.window = (w, h)
    return True


def run(enable: Any) -> bool:
    board.alive()
    return True


def skip_frames(*args: Any, **kwargs: Any) -> None:
    """skip_frames(n), or (time=milliseconds)."""
    board.point("skip_frames")
    camera = board.state.sensor
    if camera is None:
        board.crash("skip_frames() without a camera", "call sensor.reset() first")
    if args:
        camera.waits(as_int(args[0]))
    else:
        passed.busy(1000 * as_int(kwargs.get("time", _SKIPPED)))


def _control(*args: Any, **kwargs: Any) -> None:
    """A register of the camera is set: no memory, and no effect on a picture."""
    board.alive()
    if board.state.sensor is None:
        raise ValueError("Sensor control failed!")


set_vflip = set_hmirror = set_auto_gain = set_auto_whitebal = set_auto_exposure = _control


def _camera_is_there(*args: Any) -> bool:
    board.alive()
    return board.state.sensor is not None


set_colorbar = _camera_is_there


def _level(n: Any) -> bool:
    return _camera_is_there() and -4 <= n <= 4


set_brightness = set_contrast = set_saturation = _level


def set_special_effect(n: Any) -> bool:
    return _camera_is_there() and n in (0, 1)  # NORMAL, NEGATIVE


def set_gainceiling(gain: Any) -> bool:
    if gain not in (2, 4, 8, 16, 32, 64, 128):
        raise ValueError("Invalid gainceiling")
    return _camera_is_there()


def set_framerate(n: Any) -> None:
    if n not in (2, 8, 15, 25, 30, 60):
        raise ValueError("Invalid framerate")
    if n < 15 or not _camera_is_there():
        raise ValueError("Fail")


def get_id() -> int:
    return _OV7740 if _camera_is_there() else 0


def get_gain_db() -> float:
    _control()
    return 0.0


def get_rgb_gain_db() -> tuple:
    _control()
    return 0.0, 0.0, 0.0


def get_exposure_us() -> int:
    _control()
    return 0


def get_fb() -> "k210_image.Image | None":
    """The last picture: before one a JPEG of no size, before set_framesize() nothing."""
    camera = board.state.sensor
    if camera is None or not _shape()[0]:
        return None
    w, h = _shape()
    bpp = camera.bpp if camera.data else k210_image.JPEG
    return k210_image.Image(w, h, bpp, camera, camera)


def sleep(on: Any) -> None:
    if not _camera_is_there():
        print("[MAIXPY]: Operation not supported.", end="")
        raise OSError("Sleep Failed")


def set_jb_quality(quality: Any) -> None:
    board.alive()
    if not isinstance(quality, int):
        raise ValueError("must be int")


def _shape() -> tuple:
    board.alive()
    camera = board.state.sensor
    return (0, 0) if camera is None else camera.window or camera.size


def width() -> int:
    return _shape()[0]


def height() -> int:
    return _shape()[1]


def snapshot(*args: Any, **kwargs: Any) -> k210_image.Image:
    board.point("snapshot")
    board.frame()
    camera = board.state.sensor
    if camera is None:
        raise TypeError("not found sensor")
    w, h = _shape()
    if not w:
        raise RuntimeError("Not init!")
    if not board.state.blocks.get("sensor"):
        board.crash(
            "snapshot() without a frame buffer writes through a null pointer",
            "after ENOMEM call sensor.reset() before set_framesize()",
        )
    if not camera.data:
        n = k210_image.nbytes(camera.size[0], camera.size[1], k210_image.RGB565)
        camera.data = board.frame_bytes(n)
    camera.waits()
    return k210_image.Image(w, h, camera.bpp, camera, camera)
