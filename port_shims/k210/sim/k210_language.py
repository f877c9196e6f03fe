# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The language of the board: a script has of the interpreter here what MicroPython 1.11 has. Texts
come marked (tools: runs/language.py) where that is less, and the marks call what is here."""

import array
import builtins
from collections import OrderedDict
from hashlib import sha256

from k210_image import buffer_of
from k210_model import language as model
from k210_threads import turns

try:
    from io import IOBase
except ImportError:
    IOBase = object
try:
    from micropython import stack_use as _stack_use
except ImportError:  # CPython: not known

    def _stack_use():
        return 0


# scripts have others of these names, and so has all that looks them up later
_dir, _getattr, _hasattr, _next = dir, getattr, hasattr, next
_FUNCTION = type(lambda: 0)
_ARRAY = type(array.array("b"))
_LATER = {}  # {attribute: types that have it here and not in 1.11}
_EPIPE = 32
# bytes of the stack here where a board's is used up, with frames 1.5 times as large: 50 to
# 53 calls of f(n + 1), 23 or 24 through a comprehension (v0.6.2_84 full and minimum)
_STACK = 24300
_TEXT_SPEC = "invalid format specifier"
_NOT_STR = "can't convert '%s' object to str implicitly"
_MIXED = "join expects a list of str/bytes objects consistent with self object"
_NAMED = "function doesn't take keyword arguments"
_TAKES = "function takes %d positional arguments but %d were given"
_MISSING = "function missing %d required positional arguments"
_DICTS = "unsupported types for %s: 'dict', 'dict'"
_IN_PLACE = "unsupported types for : '%s', '%s'"


def _types():
    from collections import deque
    from io import BytesIO, StringIO

    known = [bytes, bytearray, memoryview, BaseException, object, type, deque, _FUNCTION]
    known += [BytesIO, StringIO]
    names = "bytes bytearray memoryview BaseException object type deque function".split()
    names += ["BytesIO", "StringIO"]
    by_name = dict(zip(names, known))
    for name in model.GONE:
        _LATER[name] = tuple([by_name[kind] for kind in model.GONE[name].split()])


_types()


def _lacks(value, name):
    """Whether 1.11 has no such attribute of this value."""
    kinds = _LATER.get(name)
    if kinds is None:
        return False
    if isinstance(value, type) and type not in kinds:
        if name in ("value", "errno") or not issubclass(value, kinds):
            return False
        return _inherits(value, name)
    if not isinstance(value, kinds):
        return False
    if name == "value":
        return not isinstance(value, StopIteration) and "value" not in _own(value)
    if name == "errno":
        return "errno" not in _own(value)
    return _inherits(type(value), name)


def _inherits(kind, name):
    """Whether a class has the attribute of a built-in one, not of its own."""
    return not isinstance(_getattr(kind, name, None), _FUNCTION)


def _own(value):
    return _getattr(value, "__dict__", None) or ()


def _having(name):
    """has(value): the value, or what does in 1.11's way what its attribute does here.
    AttributeError where 1.11 has none."""

    def has(value):
        if name in _LATER and _lacks(value, name):
            raise AttributeError(_no(value, name))
        other = _OTHER.get(name)
        return other(value) if other else value

    return has


def _no(value, name):
    if isinstance(value, type):
        return "type object '%s' has no attribute '%s'" % (value.__name__, name)
    return "'%s' object has no attribute '%s'" % (type(value).__name__, name)


def either(left):
    """The left side of |, which is no dict in 1.11."""
    if isinstance(left, dict) and not _hasattr(type(left), "__or__"):
        raise TypeError(_DICTS % "__or__")
    return left


def both(left, right):
    """The right side of |=."""
    if isinstance(left, dict) and isinstance(right, dict) and not _hasattr(type(left), "__or__"):
        raise TypeError(_DICTS % "")
    return right


def in_place(left, right):
    """The right side of *= or %=, which 1.11 has of numbers, tuples and a script's own classes."""
    for value in (left, right):
        if type(value) in (list, str, bytes, bytearray):
            if type(left) is str and type(right) is not str:
                raise TypeError(_NOT_STR % type(right).__name__)
            raise TypeError(_IN_PLACE % (type(left).__name__, type(right).__name__))
    return right


def _making(kind):
    """What is called in the place of bytes, bytearray or memoryview: an image is its pixels, and
    the bytearray of a str its bytes."""

    def made(value):
        if kind is bytearray and isinstance(value, str):
            value = value.encode()
        return kind(buffer_of(value))

    return made


class _Int:
    """An int, or int itself: to_bytes() keeps the low bytes of any number."""

    def __init__(self, value):
        self._value = value

    def to_bytes(self, *args, **named):
        args = args if self._value is int else (self._value,) + args
        _count(args, 3, named)
        n, size, order = args[:3]
        if size < 0:
            return n.to_bytes(size, order)
        return (n & ((1 << 8 * size) - 1)).to_bytes(size, order) if size else b""

    def from_bytes(self, *args, **named):
        _count(args, 2, named)
        return int.from_bytes(args[0], args[1])


def _count(args, n, named):
    """TypeError where there are less than n arguments, or some with a name."""
    if named:
        raise TypeError(_NAMED)
    if len(args) < n:
        raise TypeError(_MISSING % (n - len(args)))


class _Text:
    """A str or bytes."""

    def __init__(self, value):
        self._value = value

    def startswith(self, part, *start):
        if isinstance(part, tuple):
            raise TypeError(_NOT_STR % "tuple")
        return self._value.startswith(part, *start)

    def endswith(self, part, *start):
        if isinstance(part, tuple):
            raise TypeError(_NOT_STR % "tuple")
        if start:
            raise NotImplementedError("start/end indices")
        return self._value.endswith(part)

    def join(self, parts):
        if isinstance(self._value, bytes):
            parts = parts if isinstance(parts, (list, tuple)) else list(parts)
            for part in parts:
                if not isinstance(part, bytes):
                    raise TypeError(_MIXED)
        return self._value.join(parts)


def _integer(value):
    return _Int(value) if value is int or isinstance(value, int) else value


def _text(value):
    return _Text(value) if isinstance(value, (str, bytes)) else value


def _bytes(value):
    return _Text(value) if isinstance(value, bytes) else value


def _format(value):
    """ValueError for a text with a _ in a format."""
    if isinstance(value, str) and "_" in value:
        for part in value.split("{")[1:]:
            if "_" in part.split("}")[0].partition(":")[2]:
                raise ValueError(_TEXT_SPEC)
    return value


def _of_1_11(*args):
    if len(args) < 2:
        raise TypeError(_MISSING % (2 - len(args)))
    if len(args) < 4 and args[1] in _LATER and _lacks(args[0], args[1]):
        if len(args) > 2:
            return args[2]
        raise AttributeError(_no(args[0], args[1]))
    return _getattr(*args)


def _has_in_1_11(*args):
    if len(args) != 2:
        raise TypeError(_TAKES % (2, len(args)))
    return _hasattr(*args) and not (args[1] in _LATER and _lacks(args[0], args[1]))


def _names_in_1_11(*of):
    names = _dir(*of)
    return [n for n in names if not (n in _LATER and _lacks(of[0], n))] if of else names


def _next_in_1_11(*args):
    if len(args) != 1:
        raise TypeError(_TAKES % (1, len(args)))
    return _next(*args)


class _Array:
    """An array: extend() takes what lies in memory."""

    def __init__(self, value):
        self._value = value

    def extend(self, more):
        try:
            memoryview(more)
        except TypeError:
            raise TypeError("object with buffer protocol required")
        self._value.extend(more)


def _extends(value):
    return _Array(value) if isinstance(value, _ARRAY) else value


class _Ordered:
    """An OrderedDict: popitem() takes the first."""

    def __init__(self, value):
        self._value = value

    def popitem(self):
        for key in self._value:
            return key, self._value.pop(key)
        return self._value.popitem()


def _ordered(value):
    return _Ordered(value) if isinstance(value, OrderedDict) else value


class _Hash:
    """A hash: a second digest() is another number, no error."""

    def __init__(self, value):
        self._value = value

    def digest(self):
        try:
            return self._value.digest()
        except ValueError:
            return bytes(32)


def _hash(value):
    return _Hash(value) if isinstance(value, sha256) else value


_OTHER = {
    "popitem": _ordered,
    "digest": _hash,
    "to_bytes": _integer,
    "from_bytes": _integer,
    "startswith": _text,
    "endswith": _text,
    "join": _bytes,
    "format": _format,
    "extend": _extends,
}


def known(value, name):
    """The value of a name; NameError where it is the interpreter's own and 1.11 knows none."""
    if value is _getattr(builtins, name, None):
        raise NameError("name '%s' isn't defined" % name)
    return value


def deeper(value):
    """The function that a recursion calls, or the object whose method it is. RuntimeError where
    the board's stack is used up."""
    if turns.of_thread():
        turns.deeper()
    elif _stack_use() > _STACK:
        raise RuntimeError("maximum recursion depth exceeded")
    return value


#: functions of a script that see what 1.11 has
BUILTINS = {
    "getattr": _of_1_11,
    "hasattr": _has_in_1_11,
    "dir": _names_in_1_11,
    "next": _next_in_1_11,
}
#: what marks call, but for the text that is run
MARKS = {model.OR: either, model.IOR: both, model.KNOWN: known}
MARKS.update({model.IN_PLACE: in_place, model.DEEPER: deeper})
MARKS.update({model.HAS + name: _having(name) for name in list(model.GONE) + model.OTHER})
MARKS.update({model.MARK + t.__name__: _making(t) for t in (bytes, bytearray, memoryview)})


# Contract. Asks who started this how MaixPy takes a text (tools: runs/asks.py); without pipes
# every text is as it stands. Takes little of the script's heap: a text goes over in pieces.
class Asks:
    def __init__(self, pipes):
        self._asks, self._answers = [open(n, m, 0) for n, m in zip(pipes, ("wb", "rb"))] or (0, 0)
        self._head = bytearray(11)
        self._piece = bytearray(256)
        self._left = 0

    def ready(self):
        """Says that this process has all that it starts, and waits until it can start no more."""
        if self._asks:
            self._write(b"P%10d" % 0)
            self._answer()

    def text(self, text, kind="exec"):
        """The text to run: SyntaxError, in the board's words, where that refuses it."""
        if not self._asks or not isinstance(text, (str, bytes, bytearray)):
            return text  # code
        data = text.encode() if isinstance(text, str) else text
        data = data.lstrip() if kind == "eval" else data
        self._begin(len(data))
        self._write(data)
        answer = self._answer()
        if answer == "=":
            return text
        told = self._rest()
        if answer == "!":
            return _raising(told) if kind == "exec" else _raise(told)
        return told

    def module(self, opened, size):
        """The stream of a module that is `opened()` here, of so many bytes, as MaixPy takes it."""
        if not self._asks:
            return opened()
        self._begin(size)
        source = opened()
        n = source.readinto(self._piece)
        while n:
            self._write(memoryview(self._piece)[:n])
            n = source.readinto(self._piece)
        source.close()
        answer = self._answer()
        if answer == "=":
            return opened()
        return _Stream(self._take) if answer == "T" else _Given(_raising(self._rest()).encode())

    def _begin(self, size):
        while self._left:
            self._take(self._piece)
        self._write(b"?%10d" % size)

    def _write(self, data):
        self._asks.write(data)

    def _answer(self):
        """The letter of the answer; _left are the bytes that follow it."""
        self._fill(self._head)
        self._left = int(bytes(self._head[1:]))
        return chr(self._head[0])

    def _fill(self, buffer):
        at = 0
        while at < len(buffer):
            n = self._answers.readinto(memoryview(buffer)[at:])
            if not n:
                raise OSError(_EPIPE)
            at += n

    def _take(self, buffer):
        """Bytes of the answer into a buffer; how many."""
        n = min(self._left, len(buffer))
        n = self._answers.readinto(memoryview(buffer)[:n]) if n else 0
        self._left -= n
        return n

    def _rest(self):
        told = bytearray(self._left)
        self._fill(told)
        self._left = 0
        return str(told, "utf-8")


class _Stream(IOBase):
    """The text of an answer, for the interpreter's reader of modules."""

    def __init__(self, take):
        self.readinto = take

    def ioctl(self, request, argument):
        return 0


class _Given(_Stream):
    """The bytes of a text."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def readinto(self, buffer):
        data = self._data[self._at : self._at + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _raising(told):
    """A program that ends with a refusal at its line."""
    line, words = told.split(" ", 1)
    kind, _, words = words.partition(": ")
    return "\n" * (int(line) - 1) + "raise %s(%r)\n" % (kind, words)


def _raise(told):
    """SyntaxError and its like, from "LINE CLASS: words"."""
    kind, _, words = told.split(" ", 1)[1].partition(": ")
    raise _getattr(builtins, kind, SyntaxError)(words)
