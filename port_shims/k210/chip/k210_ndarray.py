# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The arrays of ulab, of one or two dimensions: their numbers take as much of the script's heap as
on the board."""

from array import array as _store

float, uint8, int8, uint16, int16 = 102, 66, 98, 72, 104
_CODES = {float: "f", uint8: "B", int8: "b", uint16: "H", int16: "h"}
_NAMES = {float: "float", uint8: "uint8", int8: "int8", uint16: "uint16", int16: "int16"}
_LIMITS = ((uint8, 0, 255), (int8, -128, -1), (uint16, 0, 65535), (int16, -32768, -1))
# two different types of integers together; all others make floats
_BOTH = {
    frozenset((uint8, int8)): int16,
    frozenset((uint8, uint16)): uint16,
    frozenset((uint8, int16)): int16,
    frozenset((int8, int16)): int16,
    frozenset((int8, uint16)): int16,
}
_INFINITE = 1e999
_ALL_SHOWN, _ENDS = 10, 3
_SHAPES = "operands could not be broadcast together"


def _text(value, dtype):
    text = "%.7g" % value if dtype == float else "%d" % value
    return text + ".0" if dtype == float and text.lstrip("-").isdigit() else text


def _row(values, dtype):
    shown = [_text(v, dtype) for v in values]
    if len(shown) > _ALL_SHOWN:
        shown[_ENDS:-_ENDS] = ["..."]
    return "[" + ", ".join(shown) + "]"


# Contract. `rows` x `columns` numbers of one type, row after row; one dimension is one row.
class ndarray:
    def __init__(self, values, rows, columns, dtype):
        self._type, self._rows, self._columns = dtype, rows, columns
        self._all = _store(_CODES[dtype], values)

    def __repr__(self):
        n = self._columns
        rows = [_row(self._all[i * n : i * n + n], self._type) for i in range(self._rows)]
        inside = ",\n\t ".join(rows)
        return "array(%s, dtype=%s)" % (
            inside if self._rows == 1 else "[" + inside + "]",
            _NAMES[self._type],
        )

    def __len__(self):
        return self._columns if self._rows == 1 else self._rows

    def _line(self, i):
        n = self._columns
        return ndarray(self._all[i * n : i * n + n], 1, n, self._type)

    def _lines(self):
        return [self._line(i) for i in range(self._rows)]

    def __getitem__(self, at):
        if isinstance(at, tuple):
            rows, columns = [_span(a, n) for a, n in zip(at, (self._rows, self._columns))]
            found = [self._all[i * self._columns + j] for i in rows for j in columns]
            return ndarray(found, len(rows), len(columns), self._type)
        if isinstance(at, slice):
            lines = _span(at, len(self))
            if self._rows == 1:
                return ndarray([self._all[i] for i in lines], 1, len(lines), self._type)
            return _stacked([self._line(i) for i in lines], self._type)
        at = _index(at, len(self))
        return self._all[at] if self._rows == 1 else self._line(at)

    def __setitem__(self, at, value):
        if isinstance(at, tuple):
            rows, columns = [_span(a, n) for a, n in zip(at, (self._rows, self._columns))]
            places = [i * self._columns + j for i in rows for j in columns]
        else:
            lines = _span(at, len(self))
            wide = 1 if self._rows == 1 else self._columns
            places = [i * wide + j for i in lines for j in range(wide)]
        values = value._all if isinstance(value, ndarray) else [value] * len(places)
        for place, v in zip(places, values):
            self._all[place] = v

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def _with(self, other, does, dtype=None):
        if not isinstance(other, ndarray):
            if not isinstance(other, (int, type(0.0))):
                raise TypeError("wrong operand type on the right hand side")
            other = ndarray([other] * len(self._all), self._rows, self._columns, _of_number(other))
        if (other._rows, other._columns) != (self._rows, self._columns):
            raise ValueError(_SHAPES)
        both = self._type if self._type == other._type else None
        both = both or _BOTH.get(frozenset((self._type, other._type)), float)
        values = [does(a, b) for a, b in zip(self._all, other._all)]
        if dtype is bool:
            n = self._columns
            rows = [values[i * n : i * n + n] for i in range(self._rows)]
            return rows[0] if self._rows == 1 else rows
        return ndarray(cut(values, dtype or both), self._rows, self._columns, dtype or both)

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b if b else _INFINITE, float)

    def __lt__(self, other):
        return self._with(other, lambda a, b: a < b, bool)

    def __gt__(self, other):
        return self._with(other, lambda a, b: a > b, bool)

    def __le__(self, other):
        return self._with(other, lambda a, b: a <= b, bool)

    def __ge__(self, other):
        return self._with(other, lambda a, b: a >= b, bool)

    def __abs__(self):
        return self._each(abs, self._type)

    def __neg__(self):
        return self._each(lambda a: -a, self._type)

    def _each(self, does, dtype=float):
        values = [does(v) for v in self._all]
        return ndarray(cut(values, dtype), self._rows, self._columns, dtype)

    def shape(self):
        return self._rows, self._columns

    def rawsize(self):
        nbytes = len(self._all) * (
            4 if self._type == float else 1 + (self._type in (uint16, int16))
        )
        return self._rows, self._columns, len(self._all), nbytes, nbytes // len(self._all)

    def reshape(self, shape):
        if shape[0] * shape[1] != len(self._all):
            raise ValueError("cannot reshape array (incompatible input/output shape)")
        self._rows, self._columns = shape
        return self

    def flatten(self, order="C"):
        made = self if order == "C" else turned(self)
        return ndarray(made._all, 1, len(self._all), self._type)

    def transpose(self):
        new = turned(self)
        self._all, self._rows, self._columns = new._all, new._rows, new._columns

    def asbytearray(self):
        return self._all

    def sort(self, axis=1):
        lines = [sorted(line._all) for line in self._lines()]
        self._all = array(lines, self._type)._all


def turned(a):
    m, n = a._rows, a._columns
    return ndarray([a._all[i * n + j] for j in range(n) for i in range(m)], n, m, a._type)


def _index(at, n):
    if not -n <= at < n:
        raise IndexError("index is out of bounds")
    return at % n


def _span(at, n):
    if isinstance(at, slice):
        return range(n)[at]
    at = _index(at, n)
    return range(at, at + 1)


def _of_number(value):
    if isinstance(value, int):
        for dtype, low, high in _LIMITS:
            if low <= value <= high:
                return dtype
    return float


def cut(values, dtype):
    """As they are stored: integers run over."""
    if dtype == float:
        return values
    bits = 16 if dtype in (uint16, int16) else 8
    low = -(1 << (bits - 1)) if dtype in (int8, int16) else 0
    return [((int(v) - low) & ((1 << bits) - 1)) + low for v in values]


def _stacked(lines, dtype):
    values = [v for line in lines for v in line._all]
    return ndarray(values, len(lines), lines[0]._columns, dtype)


def as_array(values):
    return values if isinstance(values, ndarray) else array(values)


def array(values, dtype=float):
    try:
        values = list(values)
    except TypeError:
        raise ValueError("first argument must be an iterable")
    if any(hasattr(v, "__iter__") or isinstance(v, (list, tuple)) for v in values):
        lines = [list(v) for v in values]
        if len({len(line) for line in lines}) != 1:
            raise ValueError("iterables are not of the same length")
        flat = [v for line in lines for v in line]
        return ndarray(cut(flat, dtype), len(lines), len(lines[0]), dtype)
    return ndarray(cut(values, dtype), 1, len(values), dtype)
