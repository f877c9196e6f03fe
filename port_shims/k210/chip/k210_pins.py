# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pins of the chip: which function each has, levels and interrupts, and what a board's own table
says of them."""

import k210_board as board
import k210_config
from k210_parts import Part, keep

_PINS, _FUNCTIONS = 48, 256
_EIO = 5
_IN, _OUT = 0, 3
_PULLS = (None, -1, 0, 1, 2)
_PULL_NONE = -1
_GPIOHS0, _GPIO0, _GPIO7 = 24, 56, 63  # FPIOA's numbers
_HIGH_SPEED = 32  # pins 0 to 31 of Maix.GPIO are GPIOHS, then come the 8 others


def _function(number):
    if not 0 <= number < _FUNCTIONS:
        raise ValueError("This function is invalid")
    return number


class FPIOA(Part):
    def __init__(self, *args, **kwargs):
        pass

    def __repr__(self):
        return "<FPIOA>"

    def set_function(self, pin=0, func=0, *args, **kwargs):
        if not 0 <= pin <= _PINS:
            raise ValueError("Don't have this Pin")
        if pin == _PINS:  # the firmware's look is one too far, the driver's is not
            raise OSError(_EIO)
        _function(func)
        pins = board.state.pins
        for other in list(pins):
            if pins[other] == pin:
                del pins[other]
        pins[func] = pin
        return True

    def get_Pin_num(self, fpioa_func=0):
        return board.state.pins.get(_function(fpioa_func))

    def help(self, func=None):
        print("FPIOA function %s" % ("list" if func is None else func))


# What irq() gives.
class IRQ(Part):
    pass


# Contract. A pin remembers the level that was written to it, for every object of the same number;
# one that nobody wrote reads 1 as an input with nothing on it.
class Pin(Part):
    def __init__(self, number, mode=None, pull=None, value=None):
        if not 0 <= number <= _HIGH_SPEED + 7:
            raise ValueError("invalid pin")
        keep(self, "_number", number)
        keep(self, "_mode", _IN)
        self.init(mode, pull, value=value)

    def __repr__(self):
        return "Pin(%d)" % (self._number & 31)

    def init(self, mode=None, pull=None, value=None):
        board.alive()
        if mode is not None:
            self._drive(mode, pull)
        if value is not None:
            board.state.levels[self._number] = 1 if value else 0

    def _drive(self, mode, pull):
        if mode == _OUT and pull not in (None, _PULL_NONE):
            raise ValueError(
                "When this pin is in output mode, it is not allowed to pull up and down."
            )
        if pull not in _PULLS:
            raise ValueError("this mode not support.")
        if mode < _IN or (mode > _OUT and self._number >= _HIGH_SPEED):
            board.crash("GPIO drive mode %d is not supported" % mode, "use GPIO.IN or GPIO.OUT")
        if _GPIOHS0 + self._number not in board.state.pins:
            board.crash(
                "GPIO(%d) has no pin, and gpio.c waits for ever" % self._number,
                "register it first: fm.register(PIN, fm.fpioa.GPIO...)",
            )
        keep(self, "_mode", pull if mode == _IN and pull in (1, 2) else mode)

    def value(self, *level):
        board.alive()
        if level:
            board.state.levels[self._number] = 1 if level[0] else 0
            return None
        return board.state.levels.get(self._number, 0) if self._mode == _OUT else 1

    def __call__(self, *level):
        if len(level) > 1:
            raise TypeError("function expected at most 1 arguments, got %d" % len(level))
        return self.value(*level)

    def mode(self, mode=-1):
        if mode < 0:
            return self._mode
        if mode > _OUT:
            raise ValueError("arg error")
        self._drive(mode, None)
        return None

    def irq(self, handler=None, trigger=0, wake=None, priority=7):
        """No edge comes: nothing changes the pins."""
        if self._number >= _HIGH_SPEED:
            board.crash(
                "irq() of a GPIO that is no GPIOHS runs into a null pointer", "use a GPIOHS"
            )
        if wake not in (None, 0):
            raise ValueError("This platform does not support interrupt wakeup")
        return IRQ()

    def disirq(self, *args, **kwargs):
        board.alive()


# fpioa_manager.fm is written in Python on the board too, and so is its class.
class _Manager:
    fpioa = FPIOA()

    def help(self):
        self.fpioa.help()

    def get_pin_by_function(self, function):
        return self.fpioa.get_Pin_num(function)

    def register(self, pin, function, force=True):
        used = self.get_pin_by_function(function)
        if used == pin:
            return
        if used is not None:
            text = "[Warning] function is used by %s(pin:%d)" % (self.str_function(function), used)
            if force is False:
                raise Exception(text)
            print(text)
        self.fpioa.set_function(pin, function)

    def unregister(self, pin):
        self.fpioa.set_function(pin, 120)

    @staticmethod
    def str_function(function):
        if _GPIOHS0 <= function < _GPIO0:
            return "fm.fpioa.GPIOHS%d" % (function - _GPIOHS0)
        return (
            "fm.fpioa.GPIO%d" % (function - _GPIO0) if _GPIO0 <= function <= _GPIO7 else "unknown"
        )

    def get_gpio_used(self):
        numbers = range(_GPIOHS0, _GPIO7 + 1)
        return [(self.str_function(f), self.get_pin_by_function(f)) for f in numbers]


fm = _Manager()


class board_info:
    @classmethod
    def set(cls, key, value=None):
        setattr(cls, key, value)

    @classmethod
    def all(cls):
        return dir(cls)

    @classmethod
    def load(cls, pins={}):
        for key, value in pins.items():
            cls.set(key, value)


def first_import_of_board():
    """What importing `board` says and does: the pins of the board come from /flash/config.json."""
    pins = k210_config.get_value("board_info", None)
    if pins is None:
        print("[Warning] Not loaded from /flash/config.json to board_info.")
        pins = {"BOOT_KEY": 16}
    board_info.load(pins)
