# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Wrong numbers and kinds of arguments: the stand-in raises what the real firmware raises, and gives what it gives.

Needs $MAIXMEM_FIRMWARE with MaixPy v0.6.2_84 (full build)."""

from __future__ import annotations

from pathlib import Path

import sim_both

pytestmark = sim_both.needs

_HEAD = """
import image, lcd, gc
from Maix import GPIO, FPIOA, I2S
from machine import I2C, UART, Timer, PWM
from fpioa_manager import fm
fm.register(20, fm.fpioa.GPIO1)
fm.register(21, fm.fpioa.GPIOHS1)
img = image.Image(size=(80, 60))
gray = img.to_grayscale(copy=True)
pin, high = GPIO(GPIO.GPIO1, GPIO.OUT), GPIO(GPIO.GPIOHS1, GPIO.IN)
bus = I2C(I2C.I2C0, freq=100000, scl=28, sda=29)
uart = UART(UART.UART1, 115200)
timer = Timer(Timer.TIMER0, Timer.CHANNEL0, mode=Timer.MODE_PWM)
for number, text in enumerate({calls!r}):
    try:
        found = eval(text)
        if not isinstance(found, (int, float, str, tuple, list)):
            found = type(found).__name__
    except Exception as e:
        found = type(e).__name__ + " " + str(e)
    print(text, "->", found, number)
    if text.startswith("lcd.init("):
        lcd.init()  # the display is closed after an error
"""
#: {}: each of the wrong arguments, and then none
_WRONG = ("'a'", "None", "1.5", "(1,)", "b'xy'", "")
_CALLS = """
GPIO({})|GPIO(GPIO.GPIO1, {})|GPIO(GPIO.GPIO1, GPIO.IN, {})|pin.init({})|fm.fpioa.set_function(22, {})
fm.unregister({})|fm.get_pin_by_function({})|high.irq(print, GPIO.IRQ_BOTH, {})
I2C({})|I2C(I2C.I2C0, scl=28, sda={})|I2C(I2C.I2C0, freq={}, scl=28, sda=29)|bus.readfrom(1, {})
bus.readfrom_mem(1, 2, {})|bus.init({})
UART(UART.UART1, {})|UART(UART.UART1, 9600, 8, {})|uart.read({})|uart.write({})
Timer(0, {})|Timer(2, 0, callback={}, start=False)|Timer(2, 0, mode=1, period={}, callback=print, start=False)
PWM(timer, freq={}, duty=50, pin=9)|PWM(timer, freq=1000, duty={}, pin=9)
lcd.init(type={})|lcd.init(color={})|lcd.display({})|lcd.display(img, roi={})|lcd.display(img, oft={})
lcd.rotation({})|lcd.draw_string(1, 2, {})|lcd.draw_string({}, 2, "x")|lcd.draw_string(1, 2, "x", {})|lcd.clear({})
img.copy({})|img.resize(10, {})|img.pix_to_ai({})|img.cut(0, 0, {}, 9)|I2S({})
"""
_EDGES = (
    "GPIO(-1)|GPIO(GPIO.GPIO1, GPIO.OUT, GPIO.PULL_UP)|pin.value(1)|pin()|pin.mode()|I2C(-1)|UART(-1, 9600)"
    "|UART(UART.UART1, -1)|UART(UART.UART1, 9600, 3)|Timer(3, 0)|Timer(0, 4)|Timer(2, 0, mode=7)|lcd.init(type=-1)"
    "|lcd.init(type=5)|lcd.width()|lcd.init()|lcd.rotation(1)|lcd.width()|lcd.rotation(0)|lcd.rotation(4)|lcd.mirror(1)"
    "|lcd.freq(20000000)|lcd.get_backlight()|img.format()|gray.format()|PWM(timer, freq=-1, duty=50, pin=9)"
    "|img.find_lines((200, 200, 10, 10))|img.find_rects((0, 0, 0, 5))|img.find_edges(image.EDGE_CANNY)"
)


def _calls() -> list[str]:
    found = [
        text.replace("{}", wrong)
        for text in _CALLS.strip().replace("\n", "|").split("|")
        for wrong in _WRONG
    ]
    return found + _EDGES.split("|")


def test_what_is_refused_and_given_is_the_firmwares(tmp_path: Path) -> None:
    program = _HEAD.format(calls=_calls())
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    real = sim_both.run(tmp_path, "--firmware", str(sim_both.FULL))
    assert len(real) == len(_calls())
    assert sim_both.run(tmp_path, "--firmware", "full") == real
