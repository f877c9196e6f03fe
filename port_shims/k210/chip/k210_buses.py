# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Buses and serial ports with nothing on them: what is sent goes nowhere, what is read is what the
host gave."""

import k210_board as board
from k210_args import as_int
from k210_image import buffer_of
from k210_parts import Part, keep

_EIO, _ENODEV = 5, 19
_PINS = 48
_SPI_SOFT = 4
_PORTS = (0, 1, 2, 4)  # UART1 to UART3, UARTHS
_I2C_SOFT = 3  # the first bus that is made of plain pins
_I2C_LAST = 6
_GPIOHS = range(24, 56)  # FPIOA's numbers
_MASTER, _SLAVE, _MASTER_SOFT = 0, 1, 2


def _is_pin(value):
    return isinstance(value, int) and 0 <= value < _PINS


_PARITIES = ("None", "odd", "even")


# Contract. A serial port reads what the host put into board.state.serial[port], a file of bytes
# for UART 1 to 3, and then nothing any more; what is written to it goes nowhere.
class UART(Part):
    def __init__(self, port, *args, **kwargs):
        board.point("UART")
        if port not in _PORTS:
            raise ValueError("[MAIXPY]UARTtrue:does not exist")
        self.init(*args, **kwargs)
        keep(self, "_port", port + 1)  # UART.UART1 is 0

    def init(self, baudrate=115200, bits=8, parity=None, stop=1, read_buf_len=2048, **kwargs):
        for right, what in (
            (baudrate > 0, "baudrate"),
            (5 <= bits <= 8, "data bits"),
            (parity in (None, 0, 1, 2), "parity"),
            (stop in (None, 0, 1, 1.5, 2), "stop bits"),
        ):
            if not right:
                raise ValueError("[MAIXPY]UART:invalid " + what)
        if stop == 1.5 and bits != 5:
            board.crash("UART: 1.5 stop bits go with 5 data bits only", "stop=1 or stop=2")
        keep(self, "_buffer", bytearray(read_buf_len))  # on the GC heap, as the firmware has it
        keep(self, "_line", (baudrate, bits, parity, stop))

    def __repr__(self):
        baudrate, bits, parity, stop = self._line
        text = "[MAIXPY]UART%d:( baudrate=%d, bits=%d, parity=%s, stop=%s)"
        return text % (self._port, baudrate, bits, _PARITIES[parity or 0], stop or 1)

    def any(self):
        board.alive()
        return len(board.state.serial.get(self._port, b""))

    def _take(self, n):
        data = board.state.serial.get(self._port, b"")
        board.state.serial[self._port] = data[n:]
        return data[:n] or None

    def read(self, n=-1):
        board.alive()
        return self._take(self.any() if n < 0 else n)

    def readline(self, limit=-1):
        board.alive()
        data = board.state.serial.get(self._port, b"")
        return self._take(data.find(b"\n") + 1 or len(data))

    def readinto(self, buffer, n=-1):
        data = self.read(len(buffer) if n < 0 else min(n, len(buffer)))
        if data is None:
            return None
        buffer[: len(data)] = data
        return len(data)

    def readchar(self):
        data = self.read(1)
        return data[0] if data else -1

    def write(self, data, n=-1, *args):
        board.alive()
        size = len(buffer_of(data))
        return size if n < 0 else min(n, size)


def _need(right, what):
    if not right:
        raise ValueError("[MAIXPY]I2C: " + what)


# An I2C bus with nothing on it: a transfer fails as it does on the board then.
class I2C(Part):
    def __init__(self, *args, **kwargs):
        self.init(*args, **kwargs)

    def init(self, id, mode=_MASTER, addr=0, addr_size=7, **more):
        _need(0 <= id, "I2C(%d) doesn't exist" % id)
        if id > _I2C_LAST:
            board.crash("I2C(%d): the driver takes any number" % id, "I2C.I2C0 to I2C.I2C4")
        _need(_MASTER <= mode <= _MASTER_SOFT, "mode error!")
        if mode == _SLAVE:
            calls = [more.get(name) for name in ("on_receive", "on_transmit", "on_event")]
            _need(False not in [callable(call) for call in calls], "callback error!")
            _need(0 < addr < 1 << 10 and addr_size in (7, 10), "addr/addr size error!")
        _need(addr_size in (7, 10), "addr size error!")
        if "scl" in more or "sda" in more:
            _need(_pins(more, "scl", "sda", range(_PINS)), "pin(scl/sda) error!")
        if "gscl" in more or "gsda" in more:
            _need(_pins(more, "gscl", "gsda", _GPIOHS), "gpio(scl/sda) error!")
        keep(self, "_error", _ENODEV if id >= _I2C_SOFT else _EIO)

    def _nobody(self, *args, **kwargs):
        board.alive()
        raise OSError(self._error)

    def _no_memory(self, *args, mem_size=8, **kwargs):
        if mem_size not in (8, 16, 24, 32):
            raise ValueError("mem_size error")
        self._nobody()

    readfrom = readfrom_into = writeto = writeto_mem = _nobody
    readfrom_mem = readfrom_mem_into = _no_memory


def _pins(more, one, two, known):
    """True when both are pins. The firmware converts them even where one was not given."""
    for name in (one, two):
        if name not in more:
            raise TypeError("can't convert  to int")
    return as_int(more[one]) in known and as_int(more[two]) in known


class SPI(Part):
    def __init__(self, id=-1, mode=0, baudrate=500000, sck=-1, mosi=-1, **kwargs):
        for right, what in (
            (id >= 0 and id != 3, "spi id error( > 0 & !=3 )"),
            (0 <= mode <= 4, "spi mode error"),
            (baudrate > 0, "baudrate(freq) value error"),
            (kwargs.get("polarity", 0) in (0, 1), "polarity should be 0 or 1"),
            (kwargs.get("phase", 0) in (0, 1), "ARG_phase should be 0 or 1"),
            (4 <= kwargs.get("bits", 8) <= 32, "bits should be 4~32"),
            (kwargs.get("firstbit", 0) in (0, 1), "firstbit should be SPI.LSB or SPI.MSB"),
        ):
            if not right:
                raise ValueError("[MAIXPY]SPI: " + what)
        if mode:
            raise NotImplementedError("[MAIXPY]SPI: only standard mode supported yet")
        if id > _SPI_SOFT or (id == _SPI_SOFT and not (_is_pin(sck) and _is_pin(mosi))):
            board.crash(
                "SPI(%d) without its pins waits for ever in the driver" % id, "give sck, mosi"
            )

    def read(self, n, *args, **kwargs):
        """Nobody answers: the line stays high."""
        board.alive()
        return b"\xff" * n

    def readinto(self, buf, *args, **kwargs):
        buf[:] = self.read(len(buf))

    def write_readinto(self, data, buf, *args, **kwargs):
        self.readinto(buf)
