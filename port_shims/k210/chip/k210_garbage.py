# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a call leaves on the GC heap: the bytes that the firmware's leaves, as measured
(host_tests/kits/board_scripts/garbage.py). What the stand-in itself leaves is not shown, and with
gc.disable() there is room for it."""

import gc

from k210_gc import NATIVE, heap, latest, tokens

_MUCH = 6144  # bytes of the stand-in's own garbage that are let be, where there is room
_PART, _STEP = 16, 512  # of what is free: so much at most; looked at after so many bytes
# words of lists, which give their bytes back at once when they are cleared
_ROOM, _LAST = 1020, 2044
_HEADS = 96  # bytes of a list and of a bytearray besides its own
_GOES_ON = 128  # bytes of a call that goes on
_NAMES = 8  # arguments with and without names that calls are told apart by

_MEASURED = 3  # calls that left the same: the first ones make what later ones find
_NEW = 64  # bytes of an image's own block, of a tuple, of an empty list
_MADE = "Image copy crop cut resize mean_pooled midpoint_pooled compressed".split()
_MADE += "to_grayscale to_rgb565 to_rainbow to_bitmap get_pixel rgb_to_lab lab_to_rgb".split()
_LISTS = "find_lines find_circles find_rects find_line_segments find_qrcodes find_barcodes".split()
#: function -> bytes that the board takes where it gives something, besides new pixels
BOARD = dict.fromkeys(_MADE + _LISTS + ["find_datamatrices", "find_apriltags", "binary"], _NEW)
BOARD.update({"find_blobs": 192, "get_statistics": 224, "get_stats": 224, "statistics": 224})
BOARD.update({"get_threshold": _NEW, "get_percentile": _NEW, "get_regression": 96})
BOARD["to_bytes"] = BOARD["forward"] = 32
#: functions of KPU whose own garbage is not shown
OF_KPU = ("run_yolo2", "forward")
NAMES = 32  #: bytes of the dict that takes the arguments with names, where there are none
_NOTHING = {"get_regression": 96}  # function -> bytes that it takes though it gives None
_COUNTS = ("get_histogram", "get_hist", "histogram")
_OF_FORMAT = _COUNTS + ("get_statistics", "get_stats", "statistics")  # by the image's channels
_BIN, _HISTOGRAM = 40, 224  # bytes of a bin, a float in a list, and of what has the lists


def _of(name, result):
    """Bytes that the board takes for that."""
    if result is None:
        return _NOTHING.get(name, 0)
    if name in _COUNTS:
        return _BIN * result.size() + _HISTOGRAM
    return BOARD.get(name, 0)


# Contract. What calls of some kinds leave, each measured until some in a row have left the same:
# to measure is to look at the whole heap. own(kind): bytes, or None while that is not known.
class Meter:
    def __init__(self, kinds):
        self._costs = [-1] * kinds
        self._calls = bytearray(kinds)

    def own(self, kind):
        return self._costs[kind] if self._calls[kind] == _MEASURED else None

    def measured(self, kind, own):
        self._calls[kind] = self._calls[kind] + 1 if own == self._costs[kind] else 0
        self._costs[kind] = own


# Contract. The books of the stand-in's own garbage since the last collection. `hidden`: bytes of
# the interpreter's heap that no script is shown; `room` a list that is cleared for as long as the
# script keeps gc disabled, `last` one that is when the script has ended. Where there is much of
# its own garbage the stand-in collects, so that it lies not between what the script keeps: pixels
# stay where they are, for what is made next to lie behind them as on the board. What it collected
# of the script's else stays in the books, as `lost` bytes, or as `gone` blocks while gc is
# disabled.
class _Books:
    def __init__(self):
        self.hidden = self.own = self.lost = 0
        self._seen = self._own_seen = 0
        self._next = _STEP  # its own garbage at which is looked
        self.room = self.last = self.gone = ()
        self.calls = 0  # of what is metered

    def alloc(self):
        """Bytes that the script is shown as used. The interpreter may have collected meanwhile."""
        real = gc.mem_alloc()
        if real < self._seen + (self.own - self._own_seen) // 2:
            self.own = self.lost = 0
            self._next = _STEP
            latest.forget()
        self._seen, self._own_seen = real, self.own
        used = real - self.hidden - self.own
        if used + self.lost > heap.pool:  # the board has collected, too
            self.lost = 0
        return min(used + self.lost, heap.pool) if self.hidden else used

    def collect(self):
        """As the script asks."""
        self.gone, self.lost = (), 0
        latest.forget()
        self._collect()

    def _collect(self):
        gc.collect()
        self.own = self._seen = self._own_seen = 0
        self._next = _STEP

    def begin(self):
        """Takes both rooms."""
        self.last = [None] * _LAST
        self.room = [None] * _ROOM

    def open(self):
        """Makes room for the stand-in, for a script that disabled gc."""
        self._free(self.room)

    def end(self):
        """Makes room for what is said of a script that ended: it may have left none."""
        gc.enable()
        self._free(self.last)

    def _free(self, room):
        before = gc.mem_alloc()
        if room:
            room.clear()
        self.hidden -= before - gc.mem_alloc()

    def close(self):
        """The room is taken back, where there is any."""
        before = gc.mem_alloc()
        try:
            self.room = [None] * _ROOM
        except MemoryError:
            return
        self.hidden += gc.mem_alloc() - before

    def add(self, n):
        """The stand-in left so many bytes."""
        self.own += n
        if self.own > self._next:
            much = min(_MUCH, gc.mem_free() // _PART)
            if self.own > much:
                self._sweep()
            self._next = max(self.own + _STEP, much)

    def real(self):
        """Bytes in use but for those that no script is shown, before a call of the stand-in's."""
        return gc.mem_alloc() - self.hidden if NATIVE else 0

    def left(self, before, kept=0):
        """What that call left besides what the script has of it is the stand-in's garbage. Returns
        its bytes."""
        n = self.real() - before - kept
        if n > 0:  # else it was collected meanwhile
            self.add(n)
        return n

    def tidy(self):
        """Nothing of the stand-in's own garbage is left."""
        if self.hidden:
            self._sweep()

    def _sweep(self):
        used = self.alloc()
        for kind in (latest, tokens):
            kind.hold()
        self._collect()
        for kind in (latest, tokens):
            kind.let_go()
        self.own = _GOES_ON
        n = used - self.alloc()
        self._seen = self._own_seen = 0  # the calls that go on give back more than a collection
        if gc.isenabled():
            self.lost += max(0, n)
            return
        gone = [self.gone]
        n -= _HEADS
        while n > 0:
            try:
                gone.append(bytearray(n))
                break
            except MemoryError:
                gone.append(bytearray(n // 4))
                n -= n // 4
        self.gone = gone
        self.own += self.alloc() - used  # what its blocks are longer


books = _Books()


def metered(name, function, look):
    """A function of image, of an image or of KPU, whose own garbage is not shown, with look(args,
    kwargs) before it. That is measured until some calls with so many arguments, one after the
    other, have left the same."""
    meter = Meter(_NAMES * _NAMES)
    steady = name not in _OF_FORMAT

    def method(*args, **kwargs):
        books.calls += 1
        kind = (len(args) * _NAMES + len(kwargs)) % (_NAMES * _NAMES)
        own = meter.own(kind)
        if own is not None:
            look(args, kwargs)
            result = function(*args, **kwargs)
            books.add(own)
            return result
        taken, known, before = heap.taken, books.own, gc.mem_alloc()
        look(args, kwargs)
        result = function(*args, **kwargs)
        own = gc.mem_alloc() - before - (heap.taken - taken) - (books.own - known)
        if own >= 0:  # else it was collected meanwhile
            own += _of_call(len(args), len(kwargs)) - _of(name, result)
            if steady:
                meter.measured(kind, own)
            books.add(own)
        return result

    return method


def _of_call(n, named):
    """Bytes of a tuple of n arguments, and of a dict of those with names."""
    return blocks(16 + 8 * n) + 32 + blocks(16 * named)


def blocks(n):
    """The bytes that so many have on the heap of the unix port."""
    return -(-n // 32) * 32
