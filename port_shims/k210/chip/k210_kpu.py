# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The KPU library's memory: what loading, running and freeing a model takes from the system
heap."""

import k210_board as board
import k210_files as files
from k210_kmodel import (
    ERR_DECRYPT,
    ERR_FORMAT,
    ERR_FULL,
    ERR_NO_MEM,
    ERR_READ,
    ERR_UNKNOWN,
    ERR_VERSION,
    MAX_SIZE,
    MAX_WALK,
    Header,
    KpuError,
)

SLOTS = 5
_CHUNK = 65536
_HEAD_V3 = 28
_HEAD_V4 = 40
_STREAM_HEAD = 0x1100
_BLOCKS = ("handle", "model", "context", "interpreter", "main")
_CURE_ROOM = "before kpu.load compare size + 256 + max(262274, 480 + main memory) with heap_free()"


# Contract. The malloc blocks of one model, in the order in which the firmware takes them: handle,
# model, context, [interpreter], main memory (or, streamed from flash: handle, context, header,
# [interpreter], main memory, layer buffers). A load that fails frees what it took; release() frees
# in the firmware's order and is idempotent. What the firmware does not check hangs the board.
# `size`, `address`, `path` and `header` stay readable after release(). Measured on the firmware
# (v0.6.2_84).
class Model:
    def __init__(self):
        self.header = None
        self.size = 0
        self.address = None
        self.path = None
        self.yolo = None
        self.output_shapes = {}
        self.layers = 0  # how many forward() runs; 0 are all
        self.generation = 0
        self._blocks = dict.fromkeys(_BLOCKS, 0)  # with room for all of them
        self._yolo_blocks = ()
        self._order = ()
        self.loaded = False

    def __eq__(self, other):
        """A kpu_net equals its model, so that a test can look for one in board.nets()."""
        return self is other or getattr(other, "_model", None) is self

    def __hash__(self):
        return id(self)

    def live(self):
        """Bytes of the system heap that the model holds."""
        return sum([board.heap.asked(block) for block in self.blocks()])

    def blocks(self):
        """Addresses of the blocks that the model holds."""
        return [block for block in self._blocks.values() if block] + list(self._yolo_blocks)

    # -- loading

    def load_address(self, address):
        """kpu.load(int): the whole model is copied from flash, 64 KiB at a time."""
        self.address = address & 0xFFFFFFFF
        self._guard(self._from_flash, ("model", "main", "interpreter", "context", "handle"))

    def load_path(self, path):
        """kpu.load(str): the whole file, through the file system."""
        self.path = path
        self._guard(self._from_file, ("model", "main", "interpreter", "context", "handle"))

    def load_stream(self, address, dual):
        """kpu.load_flash(): only the main memory and one or two layers are in RAM."""
        self.address = address & 0xFFFFFFFF
        self._guard(
            lambda: self._streamed(dual),
            ("head", "main", "layer", "layer 2", "interpreter", "context", "handle"),
        )

    def _guard(self, load, order):
        self._order = order
        board.point("load: slot")
        if len(board.state.nets) >= SLOTS:
            raise KpuError(ERR_FULL)
        board.state.nets.append(self)
        try:
            self._alloc("handle", 1)
            load()
        except BaseException:
            self._drop()
            raise
        self.loaded = True

    def _alloc(self, name, n):
        board.point("load: " + name)
        block = board.heap.malloc(n)
        if not block:
            raise KpuError(ERR_NO_MEM)
        self._blocks[name] = block

    def _from_flash(self):
        read = flash_reader(self.address)
        board.spi_read(_HEAD_V3, "kpu.load")
        self.header = header = Header(read, board.state.firmware.v4)
        if header.version:
            self._walk(header)
        self.size = header.size
        self._alloc("model", header.size + 256)
        self._alloc("context", 192)
        for at in range(0, header.size, _CHUNK):
            board.spi_read(min(_CHUNK, header.size - at), "kpu.load")
        self._start(header)

    def _walk(self, header):
        if header.count > MAX_WALK:
            self._walk_garbage(header)
        table = 0
        if header.version == 4:
            board.spi_read(_HEAD_V4, "kpu.load")
            table = board.heap.malloc(8 * header.count)
            if not table:
                raise KpuError(ERR_UNKNOWN)
            for at in range(0, 8 * header.count, _CHUNK):
                board.spi_read(min(_CHUNK, 8 * header.count - at), "kpu.load")
        elif header.count:
            board.spi_read(8, "kpu.load")
        board.heap.free(table)
        header.walk()
        if not 0 < header.size <= MAX_SIZE:
            print("model size err")
            raise KpuError(ERR_FORMAT)

    def _walk_garbage(self, header):
        if header.version == 4 and 8 * header.count > board.heap.heap_free():
            raise KpuError(ERR_UNKNOWN)
        board.crash(
            "kpu.load walks %d layer headers" % header.count, "check the address, this is no model"
        )

    def _from_file(self):
        if files.source(self.path) is None:
            raise KpuError(ERR_READ)
        board.file_read(self.path)
        self.header = header = Header(
            lambda offset, n: files.read(self.path, offset, n), board.state.firmware.v4
        )
        self.size = files.size(self.path) if header.version else header.size
        self._alloc("model", self.size + 256)
        self._alloc("context", 192)
        board.file_read(self.path)
        self._start(header)

    def _start(self, header):
        """The model is in memory: the library looks at it and takes its working memory."""
        if not header.version:
            print("encrypted model")
            raise KpuError(ERR_DECRYPT)
        if header.version == 3 and header.bad:
            raise KpuError(ERR_VERSION)
        self._interpreter(header)
        self._main(header)
        if header.wrapped:
            board.crash(
                "kpu.load follows layer sizes that overflow", "the model is damaged: burn it again"
            )

    def _interpreter(self, header):
        """V4 only: an object that believes the header it is given."""
        if header.version == 4:
            self._alloc("interpreter", 288)
            if header.bad:
                board.crash(
                    "loading a kmodel that is not V4 runs into a null pointer",
                    "read the header before kpu.load",
                )

    def _main(self, header):
        n = max(header.main_mem, 1) if header.version == 4 else header.main_mem
        try:
            self._alloc("main", n)
        except KpuError:
            if header.version == 4:
                board.crash("the V4 model's main memory of %d bytes does not fit" % n, _CURE_ROOM)
            raise

    def _streamed(self, dual):
        read = swapped(flash_reader(self.address))
        self._alloc("context", 192)
        self._alloc("head", _STREAM_HEAD)
        self.header = header = Header(read, board.state.firmware.v4)
        if not header.version or (header.version == 3 and header.bad):
            raise KpuError(ERR_VERSION)
        self._interpreter(header)
        header.walk()
        self._main(header)
        for name in ("layer", "layer 2")[: 2 if dual else 1]:
            self._alloc(name, header.largest + 256)
        if header.version == 4:
            self._blocks["leak"] = self._blocks.pop("head")
            self._order = self._order[:1] + ("layer", "layer 2", "main") + self._order[4:]
        self.size = header.size if header.version == 3 else 0

    # -- running

    def init_yolo2(self, count, values):
        """The arguments of a yolo model. A second call leaks the first one's blocks, a failed call
        its first block."""
        anchors = board.heap.malloc(8 * count)
        yolo = values()
        board.scratch((16 * count,))
        self._yolo_blocks = (anchors, board.heap.malloc(24))
        self.yolo = yolo

    def output_at(self, index):
        """Address of an output, inside the main memory."""
        return self._blocks.get("main", 0) + self.header.output(index)[0]

    # -- freeing

    def release(self):
        """kpu.deinit(): the model's blocks, then the yolo arguments."""
        self._drop()
        for block in self._yolo_blocks:
            board.heap.free(block)
        for block in self._yolo_blocks[1:]:
            board.ram.clear(block + 16)  # of its 24 bytes, after it was freed
        self._yolo_blocks = ()
        self.yolo = None
        self.loaded = False

    def _drop(self):
        self.generation += 1
        for name in self._order:
            board.heap.free(self._blocks.pop(name, 0))
        self._blocks = {}
        if self in board.state.nets:
            board.state.nets.remove(self)

    def finalise(self):
        """kpu_net.__del__()"""
        print("kpu_net __del__")
        self.release()


def flash_reader(address):
    return lambda offset, n: board.flash.read(address + offset, n)


def swapped(read):
    """Bytes as the 32-bit frames of load_flash see them: every word reversed."""

    def words(offset, n):
        first = offset & ~3
        data = read(first, (offset + n + 3 & ~3) - first)
        out = bytearray(len(data))
        for i in range(len(data)):
            out[i] = data[i ^ 3]
        return bytes(out[offset - first : offset - first + n])

    return words
