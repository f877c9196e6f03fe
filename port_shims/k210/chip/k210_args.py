# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Arguments as the firmware takes them: counts, kinds and keywords, refused with its own texts."""

from k210_model.values import as_float, as_int, as_str, as_tuple, option, type_name

_MISSING = "function missing %d required positional arguments"
_MANY = 1 << 20


def exactly(n, wanted, own=0):
    """TypeError for `n` arguments where another number is `wanted`; `own` as check() has it."""
    if n != wanted:
        raise TypeError(
            "function takes %d positional arguments but %d were given" % (wanted + own, n + own)
        )


def _as_color(value):
    """A number, or a tuple of three."""
    return value if isinstance(value, int) else as_tuple(value, 3)


def as_buffer(value):
    try:
        memoryview(value)
    except TypeError:
        if type_name(value) not in ("Image", "str"):
            raise TypeError("object with buffer protocol required")


def _as_number(value):
    """A number, or None for what it is anyway."""
    if value is not None:
        as_int(value)


def _as_any_number(value):
    if value is not None:
        as_float(value)


def _as_room(value):
    """A buffer that can be written."""
    if isinstance(value, (bytes, str)):
        raise TypeError("object with buffer protocol required")
    as_buffer(value)


def _as_data(value):
    """Bytes, or one byte as a number."""
    return value if isinstance(value, int) else as_buffer(value)


def _as_image(value):
    if type_name(value) != "Image":
        raise TypeError("Can't convert %s to type" % type_name(value))


def _as_picture(value):
    """An image, the name of one, or a color."""
    if type_name(value) not in ("Image", "str"):
        _as_color(value)


def _sized(n):
    return lambda value: as_tuple(value, n)


def _as_tuples(value):
    for item in as_tuple(value):
        as_tuple(item)


def _in_range(convert, low, high, text):
    """A conversion that also refuses what is out of bounds."""

    def look(value):
        if not low <= convert(value) <= high:
            raise OSError(text)

    return look


_TINY = 1e-30
IN_ONE = (tuple, list)  #: kinds of a place that is one argument
_LENIENT = "..."  # further arguments are let be, and a keyword goes before a place
_PLACES = {"p": "iis", "q": "iiiis"}
_KINDS = {
    "i": as_int,
    "f": as_float,
    "s": as_str,
    "t": as_tuple,
    "a": _sized(2),
    "v": _sized(3),
    "r": _sized(4),
    "h": _sized(9),
    "l": _as_tuples,
    "g": _in_range(as_float, _TINY, _MANY, "Error: 0 < scale!"),
    "y": _in_range(as_int, 1, 100, "Error: 1 <= quality <= 100!"),
    "c": _in_range(as_float, 0, 1, "Error: 0 <= percentile <= 1!"),
    "u": _in_range(as_float, 0, 1, "Error: 0.0 <= seed_threshold <= 1.0!"),
    "j": _in_range(as_float, 0, 1, "Error: 0 <= bias <= 1!"),
    "b": as_buffer,
    "d": _as_data,
    "m": _as_image,
    "n": _as_number,
    "e": _as_any_number,
    "w": _as_room,
    "k": _as_color,
    "x": _as_picture,
    "o": None,
}


def _place(args, at, kinds):
    """How many arguments a place is: one tuple, or so many values."""
    used = n = len(kinds)
    if isinstance(args[at], IN_ONE):
        args, at, used = as_tuple(args[at], n), 0, 1
    if len(args) - at < n:
        raise OSError("Not enough positional arguments!")
    for kind in kinds:
        _KINDS[kind](args[at])
        at += 1
    return used


def _kinds(text):
    """A function for each argument; for a place, which is one argument or several, the kinds of
    its values."""
    for kind in text:
        place = "i" * int(kind) if "0" < kind <= "9" else _PLACES.get(kind)
        yield place or _KINDS[kind]


# Contract. What one function takes, from its text in the table. check(args, kwargs, first, own)
# raises the firmware's TypeError; its arguments begin at `first`, 1 for a method; `own` is 1 where
# the firmware counts the object of a method, too.
class Takes:
    def __init__(self, text):
        head, _, rest = text.partition(",")
        count, _, kinds = head.partition(":")
        low, dash, high = count.partition("-")
        self._open = count[-1] == "+"
        self._low = int(low.rstrip("+"))
        self._high = int(high) if dash else _MANY if self._open else self._low
        self._exact = not dash
        self.exact = self._low  #: how many there have to be, where that is one number
        self._kinds = list(_kinds(kinds))
        words = rest.split(",") if rest else []
        self._lenient = words[-1:] == [_LENIENT]
        self._named = [_Named(word) for word in words if word != _LENIENT]

    def check(self, args, kwargs, first=0, own=0):
        self.count(args, kwargs, first, own)
        self.kinds(args, kwargs, first)

    def count(self, args, kwargs, first, own):
        """TypeError for a wrong number of arguments."""
        n = len(args) - first
        if not self._open and not self._named:
            self._fixed(n, kwargs, own)
        elif n < self._low:
            raise TypeError(_MISSING % (self._low - n))
        elif n > self._high:
            raise TypeError(
                "function expected at most %d arguments, got %d" % (self._high + own, n + own)
            )

    def kinds(self, args, kwargs, first):
        """TypeError, or what a coordinate raises, for an argument of the wrong kind."""
        at = first
        for convert in self._kinds:
            if at >= len(args):
                break
            if isinstance(convert, str):
                at += _place(args, at, convert)
                continue
            if convert:
                convert(args[at])
            at += 1
        if self._lenient:
            self._options(args[at:], kwargs)
        elif self._named:
            self._keywords(args[first + (len(self._kinds) or self._low) :], kwargs)

    def _fixed(self, n, kwargs, own):
        if kwargs:
            raise TypeError("function doesn't take keyword arguments")
        if self._low <= n <= self._high:
            return
        if self._exact:
            exactly(n, self._low, own)
        if n < self._low:
            raise TypeError(_MISSING % (self._low - n))
        raise TypeError(
            "function expected at most %d arguments, got %d" % (self._high + own, n + own)
        )

    def _options(self, rest, kwargs):
        for place, named in enumerate(self._named):
            if named.name == "*":
                rest = ()
            elif named.name in kwargs:
                named.look(kwargs[named.name])
            elif place < len(rest):
                named.look(rest[place])

    def _keywords(self, rest, kwargs):
        place = found = 0
        by_place, objects = True, []
        for named in self._named:
            if named.name == "*":
                by_place = False
                continue
            if by_place and place < len(rest):
                value = rest[place]
                place += 1
            elif named.name in kwargs:
                value = kwargs[named.name]
                found += 1
            elif named.required:
                raise TypeError("'%s' argument required" % named.name)
            else:
                continue
            if named.number:
                named.look(value)
            else:  # these the firmware looks at when it has them all
                objects.append((named, value))
        if place < len(rest):
            raise TypeError("extra positional arguments given")
        if found < len(kwargs):
            raise TypeError("extra keyword arguments given")
        for named, value in objects:
            named.look(value)


class _Named:
    def __init__(self, word):
        self.name, _, kind = word.partition(":")
        self.required = self.name[-1] == "!"
        self.name = self.name.rstrip("!")
        self.number = kind == "i"
        self._convert = _KINDS[kind] if kind else None

    def look(self, value):
        if self._convert:
            self._convert(value)
