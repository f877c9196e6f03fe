# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's lcd module: the memory of the display buffer, and how the display is
turned."""

import k210_board as board
import k210_config
import k210_image
import k210_work
from k210_args import Takes, as_int, as_str, as_tuple, option
from k210_model.values import Any
from k210_time import passed

_INIT = Takes(
    "0+,type:i,freq:i,color:k,width:i,height:i,invert:i,offset_w0:i,offset_h0:i,"
    "offset_w1:i,offset_h1:i,rst:i,dcx:i,"
    "ss:i,clk:i,*,lcd_type:i"
)
_NONE, _SHIELD, _LAST, _RGB = 0, 1, 4, 5
_SIZES = {2: (240, 240)}  # {type: (width, height)} of the displays that are not 320x240
_RGB_SIZES = {3: (400, 240), 4: (0, 320), 5: (480, 272)}  # by lcd_type
_CHAR_W = 8
_INIT_US = 295000  # that starting a display waits for, as on the emulated board
_NOT_GIVEN = object()


# What the display is set to; w and h None: there is none.
class _Screen:
    def __init__(self) -> None:
        self.set(320, 240)
        self.freq = 15000000

    def set(self, w: Any, h: Any) -> None:
        self.w, self.h = w, h
        self.rotation = self.mirror = 0


def _screen() -> _Screen:
    """The display since power-on."""
    if board.state.display is None:
        board.state.display = _Screen()
    return board.state.display


def init(*args: Any, **kwargs: Any) -> None:
    """The old display goes first, whatever the arguments are."""
    board.point("lcd.init")
    board.free_blocks("lcd")
    _screen().set(None, None)
    _INIT.check(args, kwargs)
    _open(*args, **kwargs)


def _open(
    type: Any = _SHIELD,
    freq: Any = 0,
    color: Any = None,
    width: Any = 0,
    height: Any = 0,
    *args: Any,
    lcd_type: Any = 0,
    **kwargs: Any,
) -> None:
    if not _NONE <= type <= _RGB:
        raise ValueError("type error")
    if type == _NONE:
        return
    said = {}  # type: dict
    if type in (_SHIELD, _RGB):
        if not k210_config.known():
            board.flash_read("lcd.init")
        said = k210_config.of_display()
        lcd_type = as_int(said.get("lcd_type", lcd_type))
    w, h = _RGB_SIZES.get(lcd_type, (None, None)) if type == _RGB else _SIZES.get(type, (320, 240))
    if w is None:
        print("error rgb lcd type!\nrgb lcd not init!" if lcd_type < 3 else "error rgb lcd type!")
        raise OSError(-1)
    w, h = width or w, height or h
    if type == _SHIELD:
        w, h = as_int(said.get("width", w)), as_int(said.get("height", h))
    _screen().set(w, h)
    _screen().freq = freq or _screen().freq
    board.lcd_take(_screen().w, _screen().h)
    passed.busy(_INIT_US)


def deinit() -> None:
    board.point("lcd.deinit")
    board.free_blocks("lcd")
    _screen().set(None, None)


def width() -> int:
    return _screen().w


def height() -> int:
    return _screen().h


def display(img: Any, *args: Any, **kwargs: Any) -> None:
    board.point("lcd.display")
    if not isinstance(img, k210_image.Image):
        raise TypeError("Can't convert %s to type" % type(img).__name__)
    if not args and not kwargs:
        return
    k210_work.inside(img, option(args, kwargs, 0, "roi", (0, 0, img.width(), img.height())))
    if "oft" in kwargs:
        as_tuple(kwargs["oft"], 2)


def draw_string(*args: Any) -> None:
    """The text is drawn in a scratch block of its line, which is lost where nothing is drawn."""
    board.point("lcd.draw_string")
    w = _screen().w or 320
    blocks = [board.heap.malloc(n) for n in (24 * w, w // 8 + 1)]
    x, y, text = as_int(args[0]), as_int(args[1]), as_str(args[2])
    for color in args[3:]:
        as_int(color)
    if not _screen().w:
        board.crash(
            "lcd.draw_string() draws on a display that was closed", "call lcd.init() first"
        )
    if text and 0 <= x <= w - _CHAR_W and 0 <= y <= _screen().h:
        for block in blocks:
            board.heap.free(block)


def clear(*args: Any, **kwargs: Any) -> None:
    board.alive()


def fill_rectangle(x: Any, y: Any, w: Any, h: Any = _NOT_GIVEN, color: Any = _NOT_GIVEN) -> None:
    board.alive()
    for value in (w, h):
        if value is _NOT_GIVEN:
            raise TypeError("can't convert  to int")
        as_int(value)
    if color is _NOT_GIVEN:
        board.crash("lcd.fill_rectangle() without a color follows a null pointer", "give a color")
    if not isinstance(color, tuple):
        as_int(color)
    if not (0 <= x and 0 <= y and 0 <= x + w <= _screen().w and 0 <= y + h <= _screen().h):
        raise ValueError("arg error")


def rotation(*quarters: Any) -> int:
    """A quarter turn changes width and height."""
    board.alive()
    if quarters:
        if not 0 <= quarters[0] <= 3:
            raise ValueError("value:[0,3]")
        if (quarters[0] ^ _screen().rotation) & 1:
            _screen().w, _screen().h = _screen().h, _screen().w
        _screen().rotation = int(quarters[0])
    return _screen().rotation


def mirror(*on: Any) -> int:
    board.alive()
    if on:
        _screen().mirror = 1 if on[0] else 0
    return _screen().mirror


def freq(*hertz: Any) -> int:
    board.alive()
    if hertz:
        _screen().freq = hertz[0]
    return _screen().freq


def bgr_to_rgb(*on: Any) -> None:
    board.alive()
    if not on:
        raise ValueError("True or False")
