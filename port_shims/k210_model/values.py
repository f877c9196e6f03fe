# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Values of a script as the firmware converts them, refused with its own texts."""

MYPY = False
if MYPY:  # which takes it for true
    from typing import Any
else:
    Any = object  # of annotations: MicroPython has no typing


# made once: a tuple is an object of the heap
_INT, _FLOAT = (int, bool), (int, float, bool)  # bool is no int on MicroPython
_STR, _TUPLE = (str, bytes), (tuple, list)


def type_name(value: Any) -> str:
    return type(value).__name__


def as_int(value: Any) -> int:
    if isinstance(value, _INT):
        return int(value)
    raise TypeError("can't convert %s to int" % type_name(value))


def as_float(value: Any) -> float:
    if isinstance(value, _FLOAT):
        return float(value)
    raise TypeError("can't convert %s to float" % type_name(value))


def as_str(value: Any) -> Any:
    if isinstance(value, _STR):
        return value
    raise TypeError("can't convert '%s' object to str implicitly" % type_name(value))


def as_tuple(value: Any, n: int = 0) -> Any:
    """A tuple or list, of n items when n is not 0."""
    if not isinstance(value, _TUPLE):
        raise TypeError("object '%s' isn't a tuple or list" % type_name(value))
    if n and len(value) != n:
        raise ValueError("requested length %d but object has length %d" % (n, len(value)))
    return value


def option(args: Any, kwargs: Any, at: int, name: str, default: Any) -> Any:
    """A value that is given by its name or, at the end of the places, by its place."""
    if name in kwargs:
        return kwargs[name]
    return args[at] if len(args) > at else default
