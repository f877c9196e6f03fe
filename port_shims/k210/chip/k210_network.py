# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The network: the board has a chip for it, and the chip hears nothing. And nes, which has no
pictures to show."""

import k210_board as board
import k210_files as files
import k210_time
from k210_args import as_int
from k210_parts import Part

_EPIPE, _ENOTCONN = 32, 128
_NO_CHIP = "no available NIC"
_ONES = ("255.255.255.255",) * 3 + ("8.8.8.8",)
_ASKS = 21400000  # microseconds that the firmware asks an ESP32 for its version
_GPIOHS0 = 24  # FPIOA's number


class socket(Part):
    def __init__(self, *args):
        board.alive()

    def connect(self, address):
        if board.state.nic:
            _waits()
        raise OSError(_NO_CHIP)

    def sendto(self, data, address):
        self.connect(address)

    def settimeout(self, seconds):
        if seconds < 0:
            raise ValueError("[MaixPy] timeout parameter error")

    def send(self, *args):
        raise OSError(_EPIPE)

    write = read = readline = readinto = send

    def recv(self, *args):
        raise OSError(_ENOTCONN)

    recvfrom = recv


def getaddrinfo(host, port, *args):
    return [(2, 1, 0, "", ("0.0.0.0", as_int(port)))]


def ESP32_SPI(*args, rst=_GPIOHS0, **wires):
    if args:
        raise ValueError("error argument")
    wires["rst"] = rst
    names = ("cs", "rst", "rdy")
    if "spi" not in wires:
        names += ("mosi", "miso", "sclk")
    for name in names:
        if not _GPIOHS0 <= as_int(wires.get(name, -1)) < _GPIOHS0 + 32:
            raise ValueError("gpiohs %s value error!" % name)
    for name in names:
        if wires[name] not in board.state.pins:
            why = "ESP32_SPI() stops in an assertion, io_number >= 0: no pin is registered for "
            board.crash(why + name, "register it first: fm.register(PIN, fm.fpioa.GPIOHS...)")
    k210_time.passed.sleep(_ASKS)
    raise OSError("Get version fail")


def ESP8285(uart=None, *args, **kwargs):
    if args or type(uart).__name__ != "UART":
        raise ValueError("invalid uart stream")
    raise OSError("couldn't init nic esp8285 ,try again please\n")


# The chip answers to everything with ones, as a line does that nobody drives: a program takes it
# for connected.
class WIZNET5K(Part):
    def __init__(self, *args, **kwargs):
        if type(kwargs.get("spi")).__name__ != "SPI":
            raise TypeError("[MAIXPY]spi: object type error")
        board.state.nic = True

    def isconnected(self):
        return True

    def ifconfig(self, *settings):
        board.alive()
        return None if settings else _ONES

    def regs(self):
        board.alive()
        print("Wiz CREG:")

    def dhclient(self):
        _waits()


def _waits():
    board.crash("WIZNET5K waits for ever for a chip that does not answer", "connect the chip")


# -- games


_game = [False]  # whether the last load() found its file


def load(path):
    """The firmware does not look whether the file is there."""
    board.alive()
    _game[0] = files.source(path) is not None


def loop():
    board.alive()
    if not _game[0]:
        board.crash("nes.loop() without a game reads through a null pointer", "copy the file")
