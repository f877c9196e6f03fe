# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Timers of the chip, which call back on the board's clock, and PWM, which needs one."""

import k210_board as board
import k210_time
from k210_args import as_float
from k210_parts import Part, keep

_US = (0.001, 1, 1000, 1000000)  # of Timer.UNIT_NS, UNIT_US, UNIT_MS, UNIT_S
_ONE_SHOT, _PERIODIC, _PWM = 0, 1, 2
_TIMERS, _CHANNELS, _WATCHDOGS = 3, 4, 2


def _need(right, what):
    if not right:
        raise ValueError("[MAIXPY]Timer:" + what)


class Timer(Part):
    def __init__(self, *args, **kwargs):
        keep(self, "due", 0)
        self.init(*args, **kwargs)

    def init(
        self,
        number,
        channel,
        mode=0,
        period=1000,
        unit=2,
        callback=None,
        arg=None,
        start=True,
        **more,
    ):
        _need(0 <= number < _TIMERS and 0 <= channel < _CHANNELS, "Invalid timer")
        _need(_ONE_SHOT <= mode <= _PWM, "Invalid mode")
        right = period > 0 and 0 <= unit < len(_US) and 0 <= more.get("div", 0) <= 255
        _need(right, "Invalid period or div")
        _need(1 <= more.get("priority", 1) <= 7, "Invalid priority")
        _need(mode == _PWM or callable(callback), "Invalid callback")
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

    def passes(self, at):
        """It was due, and is next after that time, or never."""
        keep(self, "due", at + self._us())
        if self._mode != _PERIODIC:
            self.stop()

    def ring(self):
        callback, follows = self._call[0], k210_time.passed.follows
        line = follows and follows.line
        try:
            if follows:
                follows.rings()
            if callback:
                callback(self)
        except Exception as e:  # the firmware prints it, and the program goes on
            k210_time.passed.failed(e)
        if follows:
            follows.rang(line)

    def callback(self, function):
        keep(self, "_call", (function, self._call[1]))

    def callback_arg(self):
        return self._call[1]

    def period(self, *value):
        if not value:
            return self._period
        unit = value[1] if len(value) > 1 else self._unit
        _need(0 <= unit < len(_US), "unit error")
        if value[0] <= 0:
            board.crash("a timer's period of %d" % value[0], "give a period above 0")
        keep(self, "_period", value[0])
        keep(self, "_unit", unit)
        return value[0]


class PWM(Part):
    def __init__(self, timer, freq=None, duty=None, pin=-1, enable=True):
        # a small number is an address that can be read
        wrong = type(timer).__name__ not in ("Timer", "int")
        if not (wrong and isinstance(timer, str)):
            as_float(freq)
        if wrong:
            board.crash("PWM() takes its first argument for a Timer", "make a Timer first")
        self.init(freq, duty)

    def init(self, freq=None, duty=None, pin=-1, enable=True):
        self._set(as_float(freq), as_float(duty))

    def _set(self, freq, duty):
        for right, what in ((freq > 0, "freq"), (0 <= duty <= 100, "duty")):
            if not right:
                raise ValueError("[MAIXPY]PWM:Invalid " + what)
        keep(self, "_freq", freq)
        keep(self, "_duty", duty)

    def freq(self, *value):
        if not value:
            return int(self._freq)
        self._set(as_float(value[0]), self._duty)
        return self._freq

    def duty(self, *value):
        if not value:
            return int(self._duty)
        self._set(self._freq, as_float(value[0]))
        return self._duty


class WDT(Part):
    """A watchdog that waits for ever: it resets nothing."""

    def __init__(self, id=0, timeout=5000, callback=None, context=None):
        if not 0 <= id < _WATCHDOGS:
            raise ValueError("WDT(%d) does not exist" % id)
        if timeout <= 0:
            raise ValueError("WDT timeout too short")
        keep(self, "_context", context)

    def context(self):
        return self._context
