# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What forward() and get_output() of the KPU module give: values that lie in the model's own
memory."""

import struct

import k210_board as board
import k210_image
from k210_args import as_int, exactly

_P = "[MAIXPY]kpu: "
_WILD = "?"  # the firmware shows bytes of its stack
_PERIOD = 256  # values, after which they are the same again
_HEAD, _FLOAT = 16, 16  # bytes of a tuple besides its own, of a float
garbage = None  #: k210_garbage, where a run is metered


# Contract. Floats of one output that stay in the model's own memory: a run or deinit() of the
# model changes them. The values are made up, the same for the same model, output and position;
# after deinit() they are poisoned (NaN).
class kpu_fmap:
    def __init__(self, model, index, at_layer=False):
        self._model = model
        self._index = 0 if at_layer else index
        self._bytes = 4  # of a value
        if at_layer:
            self._of_layer(model, index)
        else:
            self._size = model.header.output(index)[1]
            self._last = model.header.count - 1
            flat = (0, 0, 0) if model.header.version == 4 else (self._size, 1, 1)
            self._shape = model.output_shapes.get(index, flat)
        self._generation = model.generation

    def _of_layer(self, model, index):
        """The output of a layer in the middle: of a convolution bytes, as many as its channels'
        pixels less one."""
        self._last = index
        self._shape = model.header.layer_shape(index)
        w, h, channels = self._shape
        if model.header.is_conv(index):
            self._size, self._bytes = w * h * channels - 1, 1
        else:
            self._size = 4 * w * h * channels
            self._shape = (self._size, 1, 1)

    def size(self):
        return self._size

    def index(self):
        return self._last

    def w(self):
        return self._shape[0]

    def h(self):
        return self._shape[1]

    def ch(self):
        return self._shape[2]

    def _value(self, i):
        if self._model.generation != self._generation:
            return float("nan")
        value = (i * 37 + self._index * 11 + self._size) % 256
        return value if self._bytes == 1 else value / 256

    def _values(self, start, stop):
        """A tuple, made at once as the board's: of no list, which would grow."""
        before = garbage and garbage.books.real()
        n, form = max(0, stop - start), "f" if self._bytes == 4 else "B"
        data = board.other_bytes(n * self._bytes)
        some = bytearray(_PERIOD * self._bytes)
        for i in range(_PERIOD):
            struct.pack_into(form, some, i * self._bytes, self._value(start + i))
        for at in range(0, len(data), len(some)):
            end = min(len(data), at + len(some))
            data[at:end] = some[: end - at]
        found = struct.unpack("%d%s" % (n, form), data)
        if garbage:
            floats = garbage.blocks(_FLOAT) * n if form == "f" else 0
            garbage.books.left(before, garbage.blocks(8 * n + _HEAD) + floats)
        return found

    def __repr__(self):
        text = (
            '{"fmap": "data"=0x%x, "size"=%d, "index": %d, "w": %d, "h": %d, "ch": %d, '
            '"typecode": %s}'
        )
        at = self._model.output_at(self._index)
        return text % ((at, self._size, self._last) + self._shape + (self._typecode(),))

    def _typecode(self):
        return "f" if self._bytes == 4 else "B"

    def typecode(self):
        board.crash(
            "typecode() of a kpu_fmap follows a number as an address", "print the kpu_fmap"
        )

    def __iter__(self):
        raise TypeError("'kpu_fmap' object isn't iterable")

    def __getitem__(self, at):
        board.alive()
        n = self._size // self._bytes
        if isinstance(at, slice):
            if at.step not in (None, 1):
                raise OSError("only slices with step=1 (aka None) are supported")
            return self._values(at.start or 0, n if at.stop is None else at.stop)
        if not -n <= at < n:
            raise IndexError("kpu_fmap index out of range")
        return self._value(at if at >= 0 else n + at)


def fmap(*args):
    """One channel of a convolution's output as an image that lies in the model."""
    exactly(len(args), 2)
    found, channel = args[0], as_int(args[1])
    board.alive()
    if isinstance(found, str):
        board.crash("KPU.fmap() of a str reads through a wild pointer", "pass a kpu_fmap")
    if not isinstance(found, kpu_fmap):
        raise ValueError(_WILD)
    w, h, channels = found._shape
    if not 0 <= channel < channels:
        raise ValueError(_WILD)
    if found._bytes != 1:
        raise ValueError(_P + "can't convet float fmap yet\r\n")
    return k210_image.Image(w, h, k210_image.GRAYSCALE, _Pixels(w * h))


# Pixels in the memory of a model: no byte of the GC heap on the board.
class _Pixels:
    def __init__(self, n):
        self.data = board.other_bytes(n)
