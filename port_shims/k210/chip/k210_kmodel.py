# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A kmodel as the KPU library of the firmware walks it: sizes, shapes and the errors it finds."""

MAX_SIZE = 0x600000
MAX_WALK = 100000

ERR_VERSION = 2002
ERR_FORMAT = 2003
ERR_DECRYPT = 2004
ERR_READ = 2005
ERR_NO_MEM = 2006
ERR_NOT_CONV = 2007
ERR_FULL = 2009
ERR_UNKNOWN = 2015

_V3 = 3
_V4 = 0x4B4D444C
_LOCKED = {10003: False, 0x534D444C: True}
_CONV = 10240


class KpuError(Exception):
    """Inside the shim: the KPU library returned the code args[0]."""


def u32(data, at):
    return data[at] | data[at + 1] << 8 | data[at + 2] << 16 | data[at + 3] << 24


# Contract. What the library knows of a model after reading its header: `version` 3, 4 or 0
# (encrypted), `size` as the library works it out in 32 bits, `main_mem`, `largest` body, `wrapped`
# when the sum of the bodies overflowed, `bad` when it is read but refused after the memory was
# taken. read(offset, n) shows the model's bytes.
class Header:
    def __init__(self, read, v4):
        # all that it has, so that its table lies in front of what reading leaves
        self._read = read
        self.largest = self.size = self.main_mem = self.count = self.version = 0
        self.inputs = self.outputs = self._table = self._output_at = 0
        self.wrapped = self.bad = False
        data = read(0, 40)
        if len(data) < 28:
            raise KpuError(ERR_VERSION)
        word = u32(data, 0)
        if word == _V3:
            self._v3(data)
        elif word == _V4 and v4 and len(data) == 40:
            self._v4(data)
        elif word in _LOCKED and (v4 or not _LOCKED[word]):
            self._locked(data)
        else:
            raise KpuError(ERR_VERSION)

    def _v3(self, data):
        self.version = 3
        self.bad = u32(data, 8) != 0
        self.count, self.main_mem, self.outputs = u32(data, 12), u32(data, 20), u32(data, 24)
        self._table = 28 + 8 * self.outputs
        self._output_at = 28

    def _v4(self, data):
        self.version = 4
        self.bad = u32(data, 4) != 4 or u32(data, 12) > 1
        constants, self.main_mem, self.count = u32(data, 16), u32(data, 20), u32(data, 24)
        self.inputs, self.outputs = u32(data, 28), u32(data, 32)
        self._output_at = 40 + 32 * self.inputs
        self._table = self._output_at + 16 * self.outputs + constants

    def _locked(self, data):
        self.version = 0
        self.size = u32(data, 4)
        if self.size % 16:
            raise KpuError(ERR_FORMAT)

    def walk(self):
        """Work out `size` and `largest` from the bodies, as a load from flash does."""
        size = self._table + 8 * self.count
        for _kind, body in self.bodies():
            if not body and self.version == 3:
                raise KpuError(ERR_FORMAT)
            size += body
            self.largest = max(self.largest, body)
        self.size = size & 0xFFFFFFFF
        self.wrapped = self.size != size

    def bodies(self):
        """(type, body_size) of every layer."""
        for i in range(self.count):
            data = self._read(self._table + 8 * i, 8)
            if len(data) < 8:
                return
            yield u32(data, 0), u32(data, 4)

    def output(self, index):
        """(address in the main memory, bytes) of an output."""
        if self.version == 3:
            data = self._read(self._output_at + 8 * index, 8)
            return u32(data, 0), u32(data, 4)
        data = self._read(self._output_at + 16 * index, 16)
        return u32(data, 8), u32(data, 12)

    def input_shape(self):
        """(w, h, channels) of the input, or None when the first layer of a V3 model is no
        convolution."""
        if self.version == 4:
            data = self._read(40 + 16 * self.inputs, 16)
            return u32(data, 12), u32(data, 8), u32(data, 4)
        for kind, _body in self.bodies():
            return self._conv(self._table + 8 * self.count)[0] if kind == _CONV else None
        return None

    def output_shape(self):
        """(w, h, channels) of the last convolution, or None."""
        shape = None
        at = self._table + 8 * self.count
        for kind, body in self.bodies():
            if kind == _CONV:
                shape = self._conv(at)[1]
            at += body
        return shape

    def is_conv(self, index):
        return [kind for kind, _body in self.bodies()][index] == _CONV

    def layer_shape(self, index):
        """(w, h, channels) that the last convolution up to a layer gives."""
        at = self._table + 8 * self.count
        shape = self.input_shape()
        for i, (kind, body) in enumerate(self.bodies()):
            if kind == _CONV:
                shape = self._conv(at)[1]
            if i == index:
                return shape
            at += body
        return shape

    def _conv(self, at):
        data = self._read(u32(self._read(at, 24), 8), 96)
        channels, width, height = u32(data, 16), u32(data, 24), u32(data, 28)
        inside = ((width & 0x3FF) + 1, (width >> 10 & 0x1FF) + 1, (channels & 0x3FF) + 1)
        outside = ((height & 0x3FF) + 1, (height >> 10 & 0x1FF) + 1, (u32(data, 20) & 0x3FF) + 1)
        return inside, outside
