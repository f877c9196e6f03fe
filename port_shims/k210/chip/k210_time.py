# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Time on the board: it passes while a program sleeps or waits for the firmware, but nobody waits
for it; timers call back on it."""

import time as _host

import k210_board as board
from k210_args import as_float, as_int

if hasattr(_host, "ticks_us"):
    _now = _host.ticks_us
else:

    def _now():
        return _host.monotonic_ns() // 1000


_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_QUEUE = 8  # callbacks that wait for the end of a call of the firmware
_SATURDAY = 5  # 1 January 2000; Monday is 0; of the clock's own date, whose Sunday is 0, one more


def _print(error):
    print("%s: %s" % (type(error).__name__, error))


# Contract. Microseconds since the board was powered on: those that really passed, and `slept`,
# those that nobody waited for. `alarms` are timers, objects with .due (microseconds), .passes(at),
# which sets the next, and .ring(); they ring at the board's steps and in sleeps. `ends_at`:
# microseconds at which the run ends, or None; `begins_by`: at which it ends while it has had fewer
# pictures than `begins`; `works_by`: of those that really passed, at which it ends. `follows`: who
# knows the line that runs, .line, and hears of a callback before it, .rings(), and after it,
# .rang(line). `failed(error)` prints what a callback raised. `wait(us)`: sleeps while threads have
# their turns; None where there are none.
class Clock:
    def __init__(self):
        self.alarms = []
        self.ends_at = self.begins_by = self.works_by = self.wait = self.follows = None
        self.begins = 0
        self.failed = _print
        self.restart()

    def restart(self):
        self.alarms[:] = []
        self._start = _now()
        self.slept = 0
        self._hidden = 0
        self._set = 0
        self._ringing = False

    def us(self):
        return _now() - self._start + self.slept - self._hidden

    def seconds(self):
        return self.us() // 1000000 + self._set

    def set_seconds(self, n):
        self._set = n - self.us() // 1000000

    def sleep(self, us):
        until = self.us() + us
        while True:
            due = self._first(until)
            self.slept += max(0, (due.due if due else until) - self.us())
            self.tick()
            if not due or self._ringing:
                break
        self.slept += max(0, until - self.us())
        self.tick()

    def busy(self, us):
        """A call of the firmware goes on so long. What is due meanwhile rings after it, if the
        firmware's queue has room: at once, as where a round has some branches more. There each
        jump of the bytecode calls one, and in a loop of snapshot() alone the queue stays full."""
        queue = self._meanwhile(self.us() + us)
        self.slept += us
        self._ring(queue)
        self.tick()

    def _meanwhile(self, until):
        """The queue of what is due until then; where nothing is, which leaves no garbage, none."""
        if self._ringing or not self._first(until):
            return ()
        queue = []
        while len(queue) < _QUEUE:
            alarm = self._first(until)
            if alarm is None:
                return queue
            alarm.passes(alarm.due)
            queue.append(alarm)
        for alarm in list(self.alarms):
            if alarm.due <= until:  # is lost
                alarm.passes(until)
        return queue

    def _first(self, until):
        """Which is due first, until then."""
        found = None
        for alarm in self.alarms:
            if alarm.due <= until and (found is None or alarm.due < found.due):
                found = alarm
        return found

    def without(self, since):
        """What passed since then does not count."""
        self._hidden += self.us() - since

    def over(self):
        """Whether the run has had its time, on the board's clock or on the desk's."""
        few = board.state.frames < self.begins
        ends = self.begins_by if few else self.ends_at
        if self.works_by is not None and _now() - self._start >= self.works_by:
            return True
        return ends is not None and self.us() >= ends

    def tick(self):
        """A step of the board: what is due rings, and the run ends when its time is over."""
        if self.over():
            board.end()
        self._ring(self._meanwhile(self.us()))

    def _ring(self, alarms):
        if not alarms:
            return
        self._ringing = True
        try:
            for alarm in alarms:
                alarm.ring()
        finally:
            self._ringing = False


passed = Clock()
board.state.on_step = passed.tick


def sleep(seconds):
    if not isinstance(seconds, int):
        seconds = as_float(seconds)
    _wait(int(seconds * 1000000))


def sleep_ms(ms):
    _wait(as_int(ms) * 1000)


def sleep_us(us):
    """Lets no thread run, however long it is."""
    board.alive()
    passed.sleep(max(0, as_int(us)))


def _wait(us):
    board.alive()
    if us > 0:
        (passed.wait or passed.sleep)(us)


def ticks_us():
    board.alive()
    return passed.us()


def ticks_ms():
    return ticks_us() // 1000


ticks = ticks_ms


def ticks_cpu():
    return ticks_us() * 400


def ticks_add(ticks, delta):
    """What is no number counts as some number on the board, here and in ticks_diff()."""
    return (ticks if isinstance(ticks, int) else 0) + as_int(delta)


def ticks_diff(end, start):
    return (end if isinstance(end, int) else 0) - (start if isinstance(start, int) else 0)


def time():
    board.alive()
    return passed.seconds()


def set_time(value):
    passed.set_seconds(mktime(value))


def _days_of(year, month):
    return 29 if month == 2 and year % 4 == 0 else _DAYS[month - 1]


def localtime(seconds=None):
    """(year, month, day, hour, minute, second, weekday, day of the year), counted from 2000."""
    saturday = _SATURDAY
    if seconds is None:
        seconds, saturday = time(), _SATURDAY + 1
    days, rest = divmod(as_int(seconds), 86400)
    weekday = (days + saturday) % 7
    year, length = 2000, 366
    while days >= length:
        days -= length
        year += 1
        length = 366 if year % 4 == 0 else 365
    of_year = days + 1
    month = 1
    while days >= _days_of(year, month):
        days -= _days_of(year, month)
        month += 1
    return (year, month, days + 1, rest // 3600, rest // 60 % 60, rest % 60, weekday, of_year)


def mktime(value):
    if len(value) not in (8, 9):
        raise TypeError("mktime needs a tuple of length 8 or 9 (%d given)" % len(value))
    year, month, day, hour, minute, second = value[:6]
    days = (year - 2000) * 365 + (year - 2000 + 3) // 4 + day - 1
    days += sum([_days_of(year, m) for m in range(1, month)])
    return ((days * 24 + hour) * 60 + minute) * 60 + second


# Frames a second, between tick() and fps().
class clock:
    def __init__(self):
        object.__setattr__(self, "_marks", [0, 0, 0])  # start of the frame, all time, frames

    def __setattr__(self, name, value):
        raise AttributeError("'clock' object has no attribute '%s'" % name)

    def tick(self):
        self._marks[0] = ticks_us()

    def avg(self):
        """Milliseconds of a frame."""
        marks = self._marks
        marks[1] += ticks_us() - marks[0]
        marks[2] += 1
        return marks[1] / marks[2] / 1000

    def fps(self):
        return 1000 / max(self.avg(), 0.001)

    def reset(self):
        self._marks[:] = [0, 0, 0]
