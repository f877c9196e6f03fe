# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Arguments as the firmware takes them: counts, kinds and keywords, refused with its own texts."""

_MISSING = "function missing %d required positional arguments"
_MANY = 1 << 20


def _name(value):
    return type(value).__name__


def as_int(value):
    if isinstance(value, (int, bool)):  # bool is no int on MicroPython
        return int(value)
    raise TypeError("can't convert %s to int" % _name(value))


def as_float(value):
    if isinstance(value, (int, float, bool)):
        return float(value)
    raise TypeError("can't convert %s to float" % _name(value))


def as_str(value):
    if isinstance(value, (str, bytes)):
        return value
    raise TypeError("can't convert '%s' object to str implicitly" % _name(value))


def as_tuple(value, n=0):
    """A tuple or list, of n items when n is not 0."""
    if not isinstance(value, (tuple, list)):
        raise TypeError("object '%s' isn't a tuple or list" % _name(value))
    if n and len(value) != n:
        raise ValueError("requested length %d but object has length %d" % (n, len(value)))
    return value


def _as_color(value):
    """A number, or a tuple of three."""
    return value if isinstance(value, int) else as_tuple(value, 3)


def _as_address(value):
    as_tuple(value, 2)


def as_buffer(value):
    try:
        memoryview(value)
    except TypeError:
        if not isinstance(value, str):
            raise TypeError("object with buffer protocol required")


def _as_number(value):
    """A number, or None for what it is anyway."""
    if value is not None:
        as_int(value)


def _as_room(value):
    """A buffer that can be written."""
    if isinstance(value, (bytes, str)):
        raise TypeError("object with buffer protocol required")
    as_buffer(value)


def _as_data(value):
    """Bytes, or one byte as a number."""
    return value if isinstance(value, int) else as_buffer(value)


def _as_image(value):
    if _name(value) != "Image":
        raise TypeError("Can't convert %s to type" % _name(value))


def _as_picture(value):
    """An image, the name of one, or a color."""
    if _name(value) not in ("Image", "str"):
        _as_color(value)


_KINDS = {
    "i": as_int,
    "f": as_float,
    "s": as_str,
    "t": as_tuple,
    "a": _as_address,
    "b": as_buffer,
    "d": _as_data,
    "m": _as_image,
    "n": _as_number,
    "w": _as_room,
    "k": _as_color,
    "x": _as_picture,
    "o": None,
}


def _place(args, at, n):
    """How many arguments n coordinates are: one tuple, or n numbers."""
    if isinstance(args[at], (tuple, list)):
        as_tuple(args[at], n)
        return 1
    if len(args) - at < n:
        raise OSError("Not enough positional arguments!")
    for value in args[at : at + n]:
        as_int(value)
    return n


# Contract.  What one function takes, from its text in the table.  check(args, kwargs, own) raises the firmware's
# TypeError; `own` is 1 for a method, whose object the firmware counts too.  Allocates only when it raises.
class Takes:
    def __init__(self, text):
        head, _, rest = text.partition(",")
        count, _, kinds = head.partition(":")
        low, dash, high = count.partition("-")
        self._open = count[-1] == "+"
        self._low = int(low.rstrip("+"))
        self._high = int(high) if dash else _MANY if self._open else self._low
        self._exact = not dash
        self._kinds = [int(kind) if "0" < kind <= "9" else _KINDS[kind] for kind in kinds]
        self._named = [_Named(word) for word in rest.split(",")] if rest else None

    def check(self, args, kwargs, own=0):
        self.count(args, kwargs, own)
        self.kinds(args, kwargs)

    def count(self, args, kwargs, own):
        """TypeError for a wrong number of arguments."""
        n = len(args)
        if not self._open and not self._named:
            self._fixed(n, kwargs, own)
        elif n < self._low:
            raise TypeError(_MISSING % (self._low - n))
        elif n > self._high:
            raise TypeError(
                "function expected at most %d arguments, got %d" % (self._high + own, n + own)
            )

    def kinds(self, args, kwargs):
        """TypeError, or what a coordinate raises, for an argument of the wrong kind."""
        at = 0
        for convert in self._kinds:
            if at >= len(args):
                break
            if isinstance(convert, int):
                at += _place(args, at, convert)
                continue
            if convert:
                convert(args[at])
            at += 1
        if self._named:
            self._keywords(args[len(self._kinds) or self._low :], kwargs)

    def _fixed(self, n, kwargs, own):
        if kwargs:
            raise TypeError("function doesn't take keyword arguments")
        if self._low <= n <= self._high:
            return
        if self._exact:
            raise TypeError(
                "function takes %d positional arguments but %d were given"
                % (self._low + own, n + own)
            )
        if n < self._low:
            raise TypeError(_MISSING % (self._low - n))
        raise TypeError(
            "function expected at most %d arguments, got %d" % (self._high + own, n + own)
        )

    def _keywords(self, rest, kwargs):
        place = found = 0
        by_place = True
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
            if named.convert:
                named.convert(value)
        if place < len(rest):
            raise TypeError("extra positional arguments given")
        if found < len(kwargs):
            raise TypeError("extra keyword arguments given")


class _Named:
    def __init__(self, word):
        self.name, _, kind = word.partition(":")
        self.required = self.name[-1] == "!"
        self.name = self.name.rstrip("!")
        self.convert = _KINDS[kind] if kind else None
