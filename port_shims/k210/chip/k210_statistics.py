# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What an image is asked for in numbers: statistics, histograms, a cascade of features. No pixels
are computed: every number is that of a black picture. Fields as the firmware has them (v0.6.2_84).
"""

import k210_board as board
import k210_files as files
from k210_args import as_int, as_str
from k210_parts import Part, keep
from k210_work import use

_CHANNELS = ("l_", "a_", "b_")
_MEASURES = ("mean", "median", "mode", "stdev", "min", "max", "lq", "uq")
_BINS = ((2,), (256,), (101, 256, 256))  # of a binary, a gray and a colored picture
_KEPT = ("_l", "_a", "_b")
_BLACK = (0, 128 / 255, 128 / 255)
# width, height, stages, features, rectangles of the cascades in the firmware
_CASCADES = {"frontalface": (24, 24, 25, 2913, 6383), "eye": (20, 20, 24, 1066, 2299)}
_SHOWN = '{"width":%d, "height":%d, "n_stages":%d, "n_features":%d, "n_rectangles":%d}'


def _zero(self):
    return 0


def _shown(self):
    names = [c + n for c in self.channels for n in self.fields]
    return "{" + ", ".join(['"%s":%d' % (name, 0) for name in names]) + "}"


class _Numbers(Part):
    """Zeros by name, one of each field for each channel. The board's has `room` bytes more."""

    __str__ = __repr__ = _shown

    def __init__(self, channels):
        keep(self, "channels", channels)
        if self.room:
            keep(self, "_room", bytearray(self.room))

    def __getitem__(self, i):
        n = len(self.channels) * len(self.fields)
        if isinstance(i, int) and -n <= i < n:
            return 0
        if isinstance(i, int):
            raise IndexError("%s index out of range" % type(self).__name__)
        return ((0,) * n)[i]


def _kind(title, fields, room=0):
    members = {channel + name: _zero for channel in ("",) + _CHANNELS for name in fields}
    members["fields"], members["room"] = fields, room
    return type(title, (_Numbers,), members)


_Statistics, _Threshold = _kind("statistics", _MEASURES, 128), _kind("threshold", ("value",))
_Percentile = _kind("percentile", ("value",))


def _bins(n, black):
    found = [None] * n  # with no room for more
    for i in range(n):
        found[i] = 0.0 * i  # each an object of its own, as on the board
    if n:
        found[int(black * (n - 1))] = 1.0
    return found


# Contract. Lists of floats. Of a colored picture the firmware makes three in turn. Where the GC
# heap gets full after the first it goes on with lists that it collected: full (v0.6.2_84) keeps up
# to 60 histograms where 38 have room. Then it hangs or, by the layout of its heap, raises a memory
# error; here it hangs at once. Of other pictures it is a memory error.
class histogram(Part):
    def __init__(self, channels, sizes):
        made = 0
        try:
            for i in range(len(_BLACK)):
                keep(self, _KEPT[i], _bins(sizes[i] if i < len(sizes) else 0, _BLACK[i]))
                made += 1
        except MemoryError:
            if not made or len(channels) == 1:
                raise
            for name in _KEPT:
                keep(self, name, None)
            board.crash(
                "get_histogram() of a colored picture fills the GC heap",
                "keep fewer of them, or take it of a grayscale picture",
            )

    @property
    def _channels(self):
        return _CHANNELS if self._b else ("",)

    def __str__(self):
        pairs = zip(self._channels, (self._l, self._a, self._b))
        return "{" + ", ".join(['"%sbins":%s' % pair for pair in pairs]) + "}"

    __repr__ = __str__

    def size(self):
        """The shim's own: how many bins there are."""
        return len(self._l) + len(self._a) + len(self._b)

    def bins(self):
        return self._l

    l_bins = bins

    def a_bins(self):
        return self._a

    def b_bins(self):
        return self._b

    def get_percentile(self, share):
        return _Percentile(self._channels)

    def get_threshold(self):
        return _Threshold(self._channels)

    def get_statistics(self):
        return _Statistics(self._channels)

    get_stats = statistics = get_statistics


def _usual(img):
    return _BINS[img._bpp]


def _named(img):
    return _CHANNELS if len(_usual(img)) > 1 else ("",)


def _count(sizes):
    """A number of 4 bytes for each bin, while they are counted."""
    board.alive()
    use([4 * n for n in sizes])


def of_image(img, *args, **kwargs):
    """Its statistics."""
    _count(_usual(img))
    return _Statistics(_named(img))


def bins_of_image(img, *args, **kwargs):
    """Its histogram."""
    usual = _usual(img)
    channels = _named(img)
    one = "bins" if len(channels) > 1 else "l_bins"  # what goes for each that is not named
    names = [c + "bins" for c in channels]
    sizes = [kwargs.get(n, kwargs.get(one, usual[i])) for i, n in zip(range(len(usual)), names)]
    _count(sizes)
    return histogram(channels, sizes)


class Cascade(Part):
    def __init__(self, about):
        keep(self, "_about", about)

    def __str__(self):
        return _SHOWN % self._about

    __repr__ = __str__


def cascade(path, *args, **kwargs):
    """image.HaarCascade(): of the firmware by name, or of a file, whose content is not looked
    at."""
    board.alive()
    name, stages = as_str(path), as_int(kwargs.get("stages", 0))
    about = _CASCADES.get(name)
    if about is None:
        files.needs(name)
    about = about or _CASCADES["frontalface"]
    return Cascade(about[:2] + (stages or about[2],) + about[3:])
