# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for OpenMV's module ml (modules/py_ml.c, lib/tflm/tflm_backend.cc, 2026): what a Model
takes of the GC heap and of umalloc, in that order, and how it fails. It computes nothing.

A model here is b"xxxxTFL3", the bytes that its arena uses as 4 bytes, then anything. How large the
interpreter's own objects are is a guess: 4 KiB.
"""

import gc

import omv_board
import omv_uma

_LINE = 32
_EXTRA = 512
_ALIGN = 16
_STATE, _RESOLVER, _INTERPRETER = 16, 4096, 240


def model(arena, nbytes):
    """The file of a model whose arena uses so many bytes."""
    return (b"\x1c\0\0\0TFL3" + arena.to_bytes(4, "little")).ljust(nbytes, b"\0")


# Contract. Owns its file (in the GC heap, in umalloc where that is full, in /rom nowhere), its
# arena and its interpreter until its last reference is gone and garbage is collected. A load that
# fails leaves what it took to the next collection.
class Model:
    def __init__(self, path, postprocess=None):
        self._pieces = []
        self._file = None
        self._done = False
        try:
            self._load(path)
        except BaseException:
            self.__del__()
            raise

    def _load(self, path):
        heap = omv_board.heap
        omv_uma.faults.point("open")
        if path not in omv_board.files:
            raise OSError(2)
        data = omv_board.files[path]
        self.len = len(data)
        if not path.startswith("/rom/"):
            try:
                self._take(omv_uma.align(self.len, _LINE) + _LINE - 1)
            except MemoryError:
                flags = omv_uma.FAST | omv_uma.PERSIST
                self._file = omv_board.uma.malign(self.len, _LINE, flags)
            omv_uma.faults.point("read")
        if data[4:8] != b"TFL3":
            raise ValueError("Unsupported model schema")
        used = int.from_bytes(data[8:12], "little")
        trial = self._take(heap.largest())
        if used > trial[2] * 16:
            raise ValueError("Failed to allocate tensors")
        self._pieces.remove(trial)
        heap.free(trial)
        self.ram = omv_uma.align(used, _ALIGN) + _EXTRA
        for n in (_STATE, self.ram, _RESOLVER, _INTERPRETER):
            self._take(n)
        self.input_shape = self.output_shape = ((1, 8, 8, 1),)

    def _take(self, n):
        piece = omv_board.heap.alloc(n)
        self._pieces.append(piece)
        return piece

    def __del__(self):
        if self._done:
            return
        self._done = True
        block = self._file
        omv_board.heap.drop(self._pieces, block and (lambda: omv_board.uma.free(block)))

    def predict(self, inputs, callback=None):
        omv_uma.faults.point("predict")
        if not isinstance(inputs, list):
            raise ValueError("Unsupported input type. Expected a list")
        return [[0.0]]


def live():
    """Bytes that models hold, garbage not among them."""
    gc.collect()
    persistent = sum([pool.persist for pool in omv_board.uma.pools])
    return omv_board.heap.used + persistent
