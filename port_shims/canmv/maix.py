# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for CanMV's module maix on the K210: KPU objects and utils, on the board of
port_shims/k210.

Texts, order of allocations and slots as in its sources (kendryte/canmv, 2025); no image was at
hand, so the boot figures are those of the MaixPy build that the board was started with, and the
size of the yolo layer's buffers is a guess.
"""

import k210_board as board
import k210_files as files
from k210_image import Image
from k210_kmodel import Header, KpuError

SLOTS = 8


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


class utils:
    @staticmethod
    def gc_heap_size(*args):
        board.point("gc_heap_size")
        if not args:
            return board.gc_configured()
        board.gc_configure(args[0])
        return None

    @staticmethod
    def heap_free():
        board.alive()
        return board.heap.heap_free()

    @staticmethod
    def flash_read(address, n):
        board.point("flash_read")
        return board.read_flash(address, n)


# Contract. The eight slots of the firmware: a load takes the one after the last one's, and is
# refused while that is taken. They outlive the KPU objects, which have no finaliser.
class Slots:
    def __init__(self):
        self.clear()

    def clear(self):
        """As after power on."""
        self.taken = [None] * SLOTS
        self.index = 0

    def add(self, kpu):
        if self.index >= SLOTS:
            self.index = 0
        if self.taken[self.index] is not None:
            return False
        self.taken[self.index] = kpu
        self.index += 1
        return True

    def drop(self, kpu):
        self.taken = [None if x is kpu else x for x in self.taken]


slots = Slots()


# Contract. One model: malloc(size), then what the SDK takes (V4: its interpreter; the working
# memory). load_kmodel() frees what it took when it fails, except when no slot is free. deinit()
# without init_yolo2() hangs the board.
class KPU:
    def __init__(self):
        self._blocks = []
        self._yolo = None
        self._header = None

    def load_kmodel(self, path=None, size=0):
        board.alive()
        if path is None:
            raise ValueError("invalid path input")
        if isinstance(path, str):
            if files.source(path) is None:
                raise ValueError("open file error, please check file path!")
            size, read = files.size(path), lambda offset, n: files.read(path, offset, n)
            print("model size %d " % size)
        elif _is_int(path):
            if path <= 0:
                raise ValueError("path error!")
            if size <= 0:
                raise ValueError("size error!")
            read = lambda offset, n: board.flash.read(path + offset, n)  # noqa: E731
        else:
            raise ValueError("path error!")
        try:
            if not self._malloc("model", size):
                raise MemoryError("model buffer memory allocation failed")
            board.point("load: read")
            self._init(read)
        except BaseException:
            self._free()
            raise
        if not slots.add(self):
            raise OSError("Failed to add kpu_model_buffer")
        print("model load succeed")

    def _init(self, read):
        try:
            self._header = header = Header(read, True)
        except KpuError:
            header = None
        if header is None or not header.version or header.bad:
            raise OSError("Failed to init model")
        rest = [232] * (header.version == 4) + [header.main_mem]
        for n in rest:
            if not self._malloc("init", n):
                if header.version == 4 and n == header.main_mem:
                    board.crash(
                        "the V4 model's main memory does not fit", "compare with heap_free()"
                    )
                raise OSError("Failed to init model")

    def _malloc(self, name, n):
        board.point("load: " + name)
        block = board.heap.malloc(n)
        if block:
            self._blocks.append(block)
        return block

    def _free(self):
        while self._blocks:
            board.heap.free(self._blocks.pop())

    def run_with_output(self, input=None, getlist=False, get_feature=False):
        board.point("run")
        if not isinstance(input, Image):
            raise ValueError("invalid input")
        if not input.has_ai():
            raise OSError("Image formart error, use pix_to_ai() method to convert for kpu")
        if not self._blocks:
            board.crash("run_with_output() without a model", "load_kmodel() first")
        n = self._header.output(0)[1] // 4
        return [i / n for i in range(n)] if getlist or get_feature else None

    def init_yolo2(self, anchor=None, anchor_num=5, layer_w=10, layer_h=8, classes=1, **options):
        board.alive()
        if anchor is None:
            raise ValueError("need input anchor")
        boxes = anchor_num * layer_w * layer_h
        self._yolo = [board.heap.malloc(4 * boxes * n) for n in (classes + 5, 4, classes + 1)]

    def regionlayer_yolo2(self):
        board.alive()
        if self._yolo is None:
            board.crash("regionlayer_yolo2() without init_yolo2()", "init_yolo2() first")
        return []

    def deinit(self):
        board.point("deinit")
        if not self._blocks:
            return False
        if self._yolo is None:
            board.crash(
                "deinit() without init_yolo2() follows a null pointer", "init_yolo2() first"
            )
        self._free()
        slots.drop(self)
        for block in self._yolo:
            board.heap.free(block)
        self._yolo = None
        return True
