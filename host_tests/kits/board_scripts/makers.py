"""What scripts of makers showed: broken JSON, files, pins, ports, mathematics."""

import json
import math

import network
from fpioa_manager import fm
from machine import UART
from Maix import GPIO


def say(text):
    try:
        print("@", text, eval(text))
    except Exception as e:
        print("@", text, type(e).__name__, e)


for text in (
    '{"a":1',
    "[1,2",
    "{",
    "[1,",
    '{"a":',
    '{"a"',
    '{"a":[1,{"b":2',
    '{"a":"b',
    "",
    "]",
    "[1}",
    '{"x":1}}',
    "[1]2",
):
    say("json.loads(%r)" % text)
fm.register(16, fm.fpioa.GPIOHS0, force=True)
for pull in (GPIO.PULL_UP, GPIO.PULL_DOWN, GPIO.PULL_NONE):
    pin = GPIO(GPIO.GPIOHS0, GPIO.IN, pull)
    say("pin.mode(), pin.value() in (0, 1)")
fm.register(10, fm.fpioa.UART1_TX, force=True)
uart = UART(UART.UART1, 115200, 8, 0, 0, timeout=10)
say("uart")
uart = UART(UART.UART1, 9600, 7, 1, 2)
say("uart")
uart = UART(UART.UART1, 9600, 8, 2, 1)
say("uart")
say("uart.write(b'abc')")
for wires in (
    {},
    {"cs": 34},
    {"cs": 34, "rst": 9},
    {"cs": 34, "rdy": 35, "mosi": 36},
    {"cs": 34, "rdy": 35, "mosi": 36, "miso": 37},
):
    say("network.ESP32_SPI(**wires)")
for text in (
    "sqrt(-1)",
    "acos(2)",
    "log2(0)",
    "pow(0, -1)",
    "exp(1000)",
    "fmod(1, 0)",
    "gamma(0)",
):
    say("type(math.%s).__name__" % text)
for text in ("log(0)", "log(2, 1)", "floor(2.5)", "ceil(2.5)"):
    say("math." + text)
for folder in ("/sd", "/flash"):
    name = folder + "/x.txt"
    for mode in ("x", "x", "r+", "w", "rb"):
        say("open(name, %r).close()" % mode)
