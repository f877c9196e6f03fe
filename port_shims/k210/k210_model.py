# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A kmodel as the KPU library of the firmware walks it, and the memory it takes for it."""

import k210_board as board

_MAX = 0x600000
_CHUNK = 65536

ERR_VERSION = 2002
ERR_FORMAT = 2003
ERR_READ = 2005
ERR_NO_MEM = 2006
ERR_FULL = 2009
ERR_UNKNOWN = 2015


class LoadError(Exception):
    """Inside the shim: the library returned the code args[0]."""


class Header:
    def __init__(self, version, size, main_mem, outputs):
        self.version = version
        self.size = size
        self.main_mem = main_mem
        self.outputs = outputs


def _u32(data, at):
    return data[at] | data[at + 1] << 8 | data[at + 2] << 16 | data[at + 3] << 24


def read_header(read, v4):
    """Header of the model that `read(offset, n)` shows, or LoadError."""
    data = read(0, 40)
    if len(data) < 28:
        raise LoadError(ERR_VERSION)
    word = _u32(data, 0)
    if word == 3 and _u32(data, 8) == 0:
        return _header_v3(read, data)
    if word == 0x4B4D444C and v4:
        return _header_v4(read, data)
    raise LoadError(ERR_VERSION)


def _header_v3(read, data):
    layers, main_mem, outputs = _u32(data, 12), _u32(data, 20), _u32(data, 24)
    start = 28 + 8 * outputs
    size = _bodies(read, start, layers, start + 8 * layers)
    return Header(3, size, main_mem, outputs)


def _header_v4(read, data):
    constants, main_mem, nodes, inputs, outputs = [_u32(data, at) for at in (16, 20, 24, 28, 32)]
    start = 40 + 32 * inputs + 16 * outputs + constants
    return Header(4, _bodies(read, start, nodes, start + 8 * nodes), main_mem, outputs)


def _bodies(read, start, count, size):
    if count > 4096:
        raise LoadError(ERR_FORMAT)
    data = read(start, 8 * count)
    for i in range(len(data) // 8):
        body = _u32(data, 8 * i + 4)
        if not body:
            raise LoadError(ERR_FORMAT)
        size += body
    if not 0 < size <= _MAX:
        raise LoadError(ERR_FORMAT)
    return size


# Contract.  One loaded model: owns its malloc blocks from take() to release(), which is idempotent.  take() frees
# what it took when it fails.  `header` stays readable afterwards, as model_size() of the firmware does.
class Model:
    def __init__(self):
        self._blocks = []
        self._bytes = 0
        self.header = None
        self.size = 0
        self.address = None
        self.path = None

    def live(self):
        return self._bytes

    def alloc(self, n, stage):
        board.point("load: " + stage)
        block = board.heap.malloc(n)
        if not block:
            raise LoadError(ERR_NO_MEM)
        self._blocks.append(block)
        self._bytes += n

    def release(self):
        for block in self._blocks:
            board.heap.free(block)
        self._blocks = []
        self._bytes = 0
        if self in board.state.nets:
            board.state.nets.remove(self)

    finalise = release

    def load(self, read, nbytes=None):
        """Take the memory of a load; nbytes is the file's length when it is a file, which needs no SPI transient."""
        if len(board.state.nets) >= board.SLOTS:
            raise LoadError(ERR_FULL)
        board.state.nets.append(self)
        try:
            self._load(read, nbytes)
        except BaseException:
            self.release()
            raise

    def _load(self, read, nbytes):
        self.alloc(1, "handle")
        self.header = read_header(read, board.state.firmware.v4)
        self.size = self.header.size if nbytes is None else nbytes
        self.alloc(self.size + 256, "model")
        if nbytes is None:
            for at in range(0, self.size, _CHUNK):
                spi_transient(min(_CHUNK, self.size - at), "kpu.load")
        self.alloc(192, "context")
        if self.header.version == 4:
            self.alloc(288, "interpreter")
        try:
            self.alloc(self.header.main_mem, "main memory")
        except LoadError:
            if self.header.version == 4:
                board.crash("the main memory of a V4 model (%d bytes) does not fit" % self.header.main_mem,
                            "check size + 256 + 480 + main memory against heap_free() before kpu.load")
            raise


def spi_transient(n, who):
    """The SPI driver's buffer for one read of n bytes: it is not checked, so a failure hangs the board."""
    block = board.heap.malloc(4 * n + 130)
    if not block:
        board.crash("%s: the SPI driver needs %d bytes of system heap and has %d" % (who, 4 * n + 130, board.heap.heap_free()),
                    "keep that much of heap_free() beside the model, or read in smaller pieces")
    board.heap.free(block)
