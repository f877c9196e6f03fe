# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Parts of the chip and what hangs on it: pins, timers, serial ports.  No part computes or draws anything."""

import k210_board as board
import k210_files as files
import k210_time
from k210_args import as_int

_EIO, _ENODEV = 5, 19
_I2C_SOFT = 3  # the first bus that is made of plain pins
_IN, _OUT = 0, 3
_GPIOHS0 = 24  # FPIOA's number of GPIOHS0; GPIO0 follows 32 later
_US = (0.001, 1, 1000, 1000000)  # of Timer.UNIT_NS, UNIT_US, UNIT_MS, UNIT_S
_PWM, _PERIODIC = 2, 1
_THREAD = (5120, 2224)  # a stack and what belongs to it


def keep(part, name, value):
    """Sets an attribute of a part: programs cannot."""
    object.__setattr__(part, name, value)


# A C object of the firmware: it has the names of its type and no others, and takes none.
class Part:
    def __setattr__(self, name, value):
        raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))


# -- pins


class FPIOA(Part):
    def __init__(self, *args, **kwargs):
        pass

    def __repr__(self):
        return "<FPIOA>"

    def set_function(self, pin=-1, func=-1, *args, **kwargs):
        pins = board.state.pins
        for other in list(pins):
            if pins[other] == pin:
                del pins[other]
        pins[func] = pin
        return True

    def get_Pin_num(self, fpioa_func=None):
        return board.state.pins.get(fpioa_func)

    def help(self, func=None):
        print("FPIOA function %s" % ("list" if func is None else func))


class Pin(Part):
    def __init__(self, number, mode=None, pull=None, value=None):
        keep(self, "_number", number)
        keep(self, "_level", 0)
        keep(self, "_mode", _IN)
        self.init(mode, pull, value=value)

    def __repr__(self):
        return "Pin(%d)" % (self._number & 31)

    def init(self, mode=None, pull=None, value=None):
        board.alive()
        if mode is not None:
            if _GPIOHS0 + self._number not in board.state.pins:
                board.crash(
                    "GPIO(%d) has no pin, and gpio.c waits for ever" % self._number,
                    "register it first: fm.register(PIN, fm.fpioa.GPIO...)",
                )
            keep(self, "_mode", mode)
            keep(self, "_level", 0 if mode == _OUT else 1)  # a pin with nothing on it reads 1
        if value is not None:
            keep(self, "_level", 1 if value else 0)

    def value(self, *level):
        board.alive()
        if not level:
            return self._level
        keep(self, "_level", 1 if level[0] else 0)
        return None

    __call__ = value

    def mode(self, mode=None):
        if mode is None:
            return self._mode
        keep(self, "_mode", mode)
        return None


# fpioa_manager.fm is written in Python on the board too, and so is its class.
class fm:
    fpioa = FPIOA()

    def help():
        fm.fpioa.help()

    def get_pin_by_function(function):
        return fm.fpioa.get_Pin_num(function)

    def register(pin, function, force=True):
        used = fm.get_pin_by_function(function)
        if used == pin:
            return
        if used is not None:
            text = "[Warning] function is used by %s(pin:%d)" % (fm.str_function(function), used)
            if force is False:
                raise Exception(text)
            print(text)
        fm.fpioa.set_function(pin, function)

    def unregister(pin):
        fm.fpioa.set_function(pin, 120)

    def str_function(function):
        number = function - _GPIOHS0
        if 0 <= number < 32:
            return "fm.fpioa.GPIOHS%d" % number
        return "fm.fpioa.GPIO%d" % (number - 32) if 32 <= number < 40 else "unknown"

    def get_gpio_used():
        return [
            (fm.str_function(f), fm.get_pin_by_function(f)) for f in range(_GPIOHS0, _GPIOHS0 + 40)
        ]


class board_info:
    def set(key, value=None):
        return setattr(board_info, key, value)

    def all():
        return dir(board_info)

    def load(__map__={}):
        for key, value in __map__.items():
            board_info.set(key, value)


class config:
    @staticmethod
    def get_value(key, default):
        import json

        text = files.read("/flash/config.json", 0, 1 << 20)
        return json.loads(text).get(key, default) if text else default


# -- time


class Timer(Part):
    def __init__(self, number, channel, **kwargs):
        keep(self, "_at", (number, channel))
        keep(self, "_period", 1000)
        keep(self, "_unit", 2)
        keep(self, "_mode", 0)
        keep(self, "_call", (None, None))
        keep(self, "due", 0)
        self.init(start=kwargs.pop("start", True), **kwargs)

    def init(self, mode=0, period=1000, unit=2, callback=None, arg=None, start=True, **kwargs):
        if not 0 <= unit < len(_US):
            raise ValueError("[MAIXPY]TIMER:Invalid unit")
        keep(self, "_mode", mode)
        keep(self, "_period", period)
        keep(self, "_unit", unit)
        keep(self, "_call", (callback, arg))
        if start and mode != _PWM:
            self.start()

    def _us(self):
        return max(1, int(self._period * _US[self._unit]))

    def start(self):
        board.alive()
        keep(self, "due", k210_time.passed.us() + self._us())
        if self not in k210_time.passed.alarms:
            k210_time.passed.alarms.append(self)

    restart = start

    def stop(self):
        if self in k210_time.passed.alarms:
            k210_time.passed.alarms.remove(self)

    deinit = stop

    def ring(self):
        callback = self._call[0]
        keep(self, "due", k210_time.passed.us() + self._us())
        if self._mode != _PERIODIC:
            self.stop()
        if callback:
            callback(self)

    def callback(self, function):
        keep(self, "_call", (function, self._call[1]))

    def callback_arg(self):
        return self._call[1]

    def period(self, *value):
        if not value:
            return self._period
        keep(self, "_period", value[0])
        return None


class PWM(Part):
    def __init__(self, timer, freq=None, duty=0, pin=-1, enable=True):
        if type(timer).__name__ != "Timer":
            raise TypeError("[MAIXPY]PWM:tim")
        keep(self, "_freq", freq)
        keep(self, "_duty", duty)

    def freq(self, *value):
        if not value:
            return self._freq
        keep(self, "_freq", value[0])
        return None

    def duty(self, *value):
        if not value:
            return self._duty
        keep(self, "_duty", value[0])
        return None


# -- serial ports


# Contract.  A serial port reads what the host put into board.state.serial[port], a file of bytes for UART 1 to 3, and
# then nothing any more; what is written to it goes nowhere.
class UART(Part):
    def __init__(self, port, *args, read_buf_len=2048, **kwargs):
        board.point("UART")
        keep(self, "_port", port + 1)  # UART.UART1 is 0
        keep(self, "_buffer", bytearray(read_buf_len))  # on the GC heap, as the firmware has it

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

    def write(self, data, *args):
        board.alive()
        return len(data)


# An I2C bus with nothing on it: a transfer fails as it does on the board then.
class I2C(Part):
    def __init__(self, id, *args, **kwargs):
        keep(self, "_error", _ENODEV if as_int(id) >= _I2C_SOFT else _EIO)

    def _nobody(self, *args, **kwargs):
        board.alive()
        raise OSError(self._error)

    readfrom = readfrom_into = readfrom_mem = readfrom_mem_into = writeto = writeto_mem = _nobody


class SPI(Part):
    def __init__(self, id=-1, *args, **kwargs):
        if id < 0 or id == 3:
            raise ValueError("[MAIXPY]SPI: spi id error( > 0 & !=3 )")

    def read(self, n, *args, **kwargs):
        board.alive()
        return bytes(n)


# -- network: the board has a chip for it, and the chip hears nothing


class socket(Part):
    def __init__(self, *args):
        board.alive()

    def connect(self, address):
        raise OSError("no available NIC")

    def makefile(self, *args, **kwargs):
        return self


def getaddrinfo(host, port, *args):
    return [(2, 1, 0, "", ("0.0.0.0", as_int(port)))]


def ESP32_SPI(*args, cs=-1, **kwargs):
    if args:
        raise ValueError("error argument")
    if not _GPIOHS0 <= cs < _GPIOHS0 + 32:
        raise ValueError("gpiohs cs value error!")
    raise OSError("Get version fail")


def ESP8285(uart=None, *args, **kwargs):
    if args or type(uart).__name__ != "UART":
        raise ValueError("invalid uart stream")
    raise OSError("couldn't init nic esp8285 ,try again please\n")


def WIZNET5K(*args, **kwargs):
    if type(kwargs.get("spi")).__name__ != "SPI":
        raise TypeError("[MAIXPY]spi: object type error")
    board.crash("WIZNET5K waits for ever for a chip that does not answer", "connect the chip")


# -- games


def load(path):
    if files.source(path) is None:
        board.crash(
            "nes.load(%r): the firmware does not look whether the file is there" % path, "copy it"
        )


# -- threads: the firmware takes a stack, and the function is not run


def start_new_thread(function, args, *kwargs):
    board.point("thread")
    for n in _THREAD:
        board.heap.malloc(n)


class lock(Part):
    def __init__(self):
        keep(self, "_held", [])

    def acquire(self, *args):
        if self._held:
            return False
        self._held.append(1)
        return True

    def release(self):
        if not self._held:
            raise RuntimeError
        self._held.pop()

    def locked(self):
        return bool(self._held)

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *args):
        self.release()


LockType = lock


def allocate_lock():
    return lock()


def first_import_of_board():
    """What importing `board` says and does: the pins of the board come from /flash/config.json."""
    pins = config.get_value("board_info", None)
    if pins is None:
        print("[Warning] Not loaded from /flash/config.json to board_info.")
        pins = {"BOOT_KEY": 16}
    board_info.load(pins)
