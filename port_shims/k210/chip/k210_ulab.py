# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""ulab as MaixPy v0.6.2 has it. What it gives was asked from the full build."""

import math

import k210_math
from k210_ndarray import array, as_array, cut, float, ndarray, turned, uint16

_MANY = (tuple, list, range, ndarray)
_AXIS = "axis must be None, 0, or 1"


def _filled(shape, value, dtype):
    if not isinstance(shape, (int, tuple)):
        raise TypeError("input argument must be an integer or a 2-tuple")
    m, n = shape if isinstance(shape, tuple) else (1, shape)
    return ndarray([value] * (m * n), m, n, dtype)


def zeros(shape, dtype=float):
    return _filled(shape, 0, dtype)


def ones(shape, dtype=float):
    return _filled(shape, 1, dtype)


def eye(n, M=None, k=0, dtype=float):
    m = M or n
    return ndarray([int(j - i == k) for i in range(n) for j in range(m)], n, m, dtype)


def linspace(start, stop, num=50, endpoint=True, dtype=float):
    step = (stop - start) / (num - (1 if endpoint else 0))
    return ndarray(cut([start + i * step for i in range(num)], dtype), 1, num, dtype)


def size(a, *ignored, axis=None):
    return (len(a._all), a._rows, a._columns)[0 if axis is None else axis + 1]


def _along(a, axis, does):
    """One number of all, or an array of those of each column (0) or row (1)."""
    if not isinstance(a, ndarray):
        return does(list(a))
    if axis is None or (a._rows == 1 and axis == 1):
        return does(list(a._all))
    if axis not in (0, 1):
        raise ValueError(_AXIS)
    lines = [list(line._all) for line in (turned(a) if axis == 0 else a)._lines()]
    return array([does(line) for line in lines])


def _mean(values):
    return _total(values) / len(values)


def _total(values):
    return _host_sum(values, 0.0)


def _deviation(values):
    mean_ = _mean(values)
    return math.sqrt(_total([(v - mean_) * (v - mean_) for v in values]) / len(values))


_host_sum, _host_min, _host_max, _host_sorted = sum, min, max, sorted


def sum(a, axis=None):
    return _along(a, axis, _total)


def mean(a, axis=None):
    return _along(a, axis, _mean)


def std(a, axis=None):
    return _along(a, axis, _deviation)


def min(a, axis=None):
    return _along(a, axis, _host_min)


def max(a, axis=None):
    return _along(a, axis, _host_max)


def argmin(a, axis=None):
    return _along(a, axis, lambda v: v.index(_host_min(v)))


def argmax(a, axis=None):
    return _along(a, axis, lambda v: v.index(_host_max(v)))


def _rearranged(a, does, dtype=None):
    values = [v for line in a._lines() for v in does(list(line._all))]
    return ndarray(values, a._rows, len(values) // a._rows, dtype or a._type)


def sort(a, axis=1):
    return _rearranged(a, _host_sorted)


def argsort(a, axis=1):
    return _rearranged(a, lambda v: _host_sorted(range(len(v)), key=lambda i: v[i]), uint16)


def diff(a, n=1, axis=1):
    for _ in range(n):
        a = _rearranged(a, lambda v: [v[i + 1] - v[i] for i in range(len(v) - 1)])
    return a


def flip(a, axis=None):
    return ndarray(list(reversed(list(a._all))), a._rows, a._columns, a._type)


def roll(a, distance, axis=None):
    at = distance % len(a._all)  # the other way round than numpy
    a._all = a._all[at:] + a._all[:at]


def _vector(name):
    does = getattr(k210_math, name, getattr(math, name))

    def of_each(a):
        if isinstance(a, (int, type(0.5))):
            return 1.0 * does(a)
        return as_array(a)._each(does) if isinstance(a, _MANY) else None

    return of_each


for _name in dir(math):
    if _name not in globals() and callable(getattr(math, _name)):
        globals()[_name] = _vector(_name)


def dot(a, b):
    m, k, n = a._rows, a._columns, b._columns
    if k != b._rows:
        raise ValueError("matrix dimensions do not match")
    cells = [
        _total([a._all[i * k + c] * b._all[c * n + j] for c in range(k)])
        for i in range(m)
        for j in range(n)
    ]
    return ndarray(cells, m, n, float)


def _solved(rows, n):
    """Gauss-Jordan with pivots over the first n columns; the determinant."""
    product = 1.0
    for i in range(n):
        pivot = _host_max(range(i, n), key=lambda r: abs(rows[r][i]))
        if not rows[pivot][i]:
            return 0.0
        product *= rows[pivot][i] * (1 if pivot == i else -1)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i])]
    return product


def _square(a):
    if a._rows != a._columns:
        raise ValueError("only square matrices can be inverted")
    return [list(line._all) for line in a._lines()]


def det(a):
    return _solved(_square(a), a._rows)


def inv(a):
    n = a._rows
    rows = [row + line for row, line in zip(_square(a), _unit(n))]
    if not _solved(rows, n):
        raise ValueError("input matrix is singular")
    return array([row[n:] for row in rows])


def _unit(n):
    return [[int(i == j) for j in range(n)] for i in range(n)]


def polyval(factors, at):
    def value(x):
        total = 0.0
        for factor in factors:
            total = total * x + factor
        return total

    return array([value(x) for x in at])


def polyfit(x, y, degree):
    powers = [[v ** (degree - i) for i in range(degree + 1)] for v in x]
    left = [
        [_total([p[i] * p[j] for p in powers]) for j in range(degree + 1)]
        for i in range(degree + 1)
    ]
    rows = [line + [_total([p[i] * v for p, v in zip(powers, y)])] for i, line in enumerate(left)]
    if not _solved(rows, degree + 1):
        raise ValueError("could not invert Vandermonde matrix")
    return array([row[-1] for row in rows])


def _transformed(real, imaginary, sign):
    n = len(real)
    if n & (n - 1):
        raise ValueError("input array length must be power of 2")
    if n == 1:
        return real, imaginary
    even = _transformed(real[::2], imaginary[::2], sign)
    odd = _transformed(real[1::2], imaginary[1::2], sign)
    out = [[0.0] * n, [0.0] * n]
    for k in range(n // 2):
        angle = sign * 2 * math.pi * k / n
        c, s = math.cos(angle), math.sin(angle)
        r, i = odd[0][k] * c - odd[1][k] * s, odd[0][k] * s + odd[1][k] * c
        for place, to in ((k, 1), (k + n // 2, -1)):
            out[0][place], out[1][place] = even[0][k] + to * r, even[1][k] + to * i
    return out[0], out[1]


def _fourier(real, imaginary, sign):
    real = list(real._all)
    imaginary = [0.0] * len(real) if imaginary is None else list(imaginary._all)
    return _transformed(real, imaginary, sign)


def fft(real, imaginary=None):
    return tuple([array(part) for part in _fourier(real, imaginary, -1)])


def ifft(real, imaginary=None):
    parts = _fourier(real, imaginary, 1)
    return tuple([array([v / len(part) for v in part]) for part in parts])


def spectrum(real, imaginary=None):
    parts = _fourier(real, imaginary, -1)
    return array([math.sqrt(r * r + i * i) for r, i in zip(parts[0], parts[1])])


# {names: what they take, the error and its text for anything else}
_TAKE = {
    "sum mean std min max argmin argmax": (
        _MANY,
        TypeError,
        "input must be tuple, list, range, or ndarray",
    ),
    "sort argsort diff flip": (ndarray, TypeError, "%s argument must be an ndarray"),
    "size": (ndarray, TypeError, "size is defined for ndarrays only"),
    "det": (ndarray, TypeError, "function defined for ndarrays only"),
    "inv": (ndarray, TypeError, "only ndarrays can be inverted"),
    "roll": (ndarray, ValueError, "bad typecode"),
    "fft ifft spectrum": (ndarray, NotImplementedError, "FFT is defined for ndarrays only"),
}


def _looking(name, kinds, error, text):
    does = globals()[name]

    def looking(a, *more, **named):
        if not isinstance(a, kinds):
            raise error(text % name if "%" in text else text)
        return does(a, *more, **named)

    return looking


for _names, _how in _TAKE.items():
    for _name in _names.split():
        globals()[_name] = _looking(_name, *_how)
