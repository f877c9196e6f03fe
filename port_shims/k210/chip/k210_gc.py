# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The GC heap: the VM's own on MicroPython, a counted one on CPython, and how lost models are
noticed."""

import gc
from array import array

try:
    from uctypes import addressof
except ImportError:  # CPython, which collects by itself
    pass

from k210_host import host_open
from k210_model.gc_heap import BLOCK, blocks

NATIVE = not hasattr(gc, "callbacks")
_ABOUT = 512  # bytes by which the largest piece is more
_WORD = 8  # bytes of an item of a list


# Contract. `pool` is the usable size of the configured GC heap. On MicroPython the VM's own heap
# holds the pixels and nothing is counted here. On CPython take(n) counts the pixels that
# image.Image holds (a bound: Python's own objects are not counted) and refuses what the configured
# heap would refuse; give(n) returns them.
class GcHeap:
    def __init__(self):
        self.restart(0, 0)

    def restart(self, pool, idle):
        self.pool = pool
        self.used = idle
        self.taken = 0  # bytes in blocks, since power-on
        self.lingers = None  # or the Lingering of this run

    def take(self, n):
        """A zeroed bytearray of n bytes, or MemoryError."""
        self.taken += blocks(n)
        if not NATIVE:
            nbytes = blocks(n)
            if nbytes > self.pool - self.used:
                gc.collect()
            if nbytes > self.pool - self.used:
                raise MemoryError("memory allocation failed, allocating %d bytes" % n)
            self.used += nbytes
        block = bytearray(n)
        if self.lingers:
            self.lingers.add(block)
        return block

    def give(self, n):
        self.used -= blocks(n)

    def largest(self):
        """Bytes of the largest block: the counted heap lies in one piece, the VM's is found by
        trying."""
        gc.collect()
        return self._tried(gc.mem_free()) if NATIVE else self.mem_free() & ~(BLOCK - 1)

    def largest_now(self):
        """Of the VM's heap, with its garbage: what the last allocation found."""
        low, high, was = 0, gc.mem_free() // _WORD, gc.isenabled()
        gc.disable()
        while high - low > _ABOUT // _WORD:
            n = (low + high) // 2
            try:
                ([None] * n).clear()  # which gives its bytes back at once
                low = n
            except MemoryError:
                high = n
        if was:
            gc.enable()
        return low * _WORD

    def _tried(self, high):
        low = 0
        while high - low > _ABOUT:
            n = (low + high) // 2
            try:
                bytearray(n)
                low = n
            except MemoryError:
                high = n
            gc.collect()
        return low

    def mem_alloc(self):
        return self.used

    def mem_free(self):
        return self.pool - self.used


heap = GcHeap()


class _Pixels:
    """CPython: the owner of one block of pixels, which gives it back when the last image of it is
    gone."""

    def __init__(self, n):
        self.data = heap.take(n)

    def __del__(self):
        heap.give(len(self.data))


def _vm_pixels(n):
    """MicroPython: the block itself; who listens has put another take() into the heap."""
    block = heap.take(n)
    latest.add(addressof(block))
    return block


# Contract. Of the largest blocks of pixels the last two are held, or, with `first`, the one that
# was made first: a word that a call left on the board's C stack may keep one that the program has
# lost, and which one no stand-in can know.
class Lingering:
    def __init__(self, first):
        self._first = first
        self._size = 0
        self._held = [None, None]

    def add(self, block):
        """A block of pixels was made."""
        if len(block) > self._size:
            self._size = len(block)
            self._held[:] = None, block
        elif len(block) == self._size and not self._first:
            self._held[0], self._held[1] = self._held[1], block


# The blocks of some kind that were made last, so many at most. Their addresses are one more than
# they are, so that the interpreter does not see that they are in use; while they are held it does.
class _Latest:
    def __init__(self, most):
        self._places = array("l", [0] * most)  # "q" would make an object of what is read
        self._next = 0

    def add(self, address):
        self._places[self._next] = address + 1
        self._next = (self._next + 1) % len(self._places)

    def hold(self):
        """A collection leaves them, as the board does not collect here."""
        self._move(-1)

    def let_go(self):
        self._move(1)

    def forget(self):
        """All were collected that nothing uses."""
        for i in range(len(self._places)):
            self._places[i] = 0

    def _move(self, by):
        for i in range(len(self._places)):
            if self._places[i]:
                self._places[i] += by


latest = _Latest(256)  #: pixels
tokens = _Latest(16)  #: of kpu_nets: what the program lost is freed when the board collects


# The three ways in which a board notices that the program lost a kpu_net. watch(model) returns a
# token for the kpu_net to hold; lost() lists the models whose token is gone. The firmware does
# this with a finaliser.
class _ByFinaliser:
    """CPython: the token's finaliser marks the model, and the next full collection frees it, as on
    the device."""

    def __init__(self):
        self._gone = []
        self._found = []
        self.on_collect = None
        gc.callbacks.append(self._collected)

    def _collected(self, phase, info):
        if phase == "stop" and info["generation"] == 2:
            self._found.extend(self._gone)
            self._gone[:] = []
            if self.on_collect:
                self.on_collect()

    def watch(self, model):
        return _Token(model, self._gone)

    def lost(self):
        found = self._found
        self._found = []
        return found


class _Token:
    def __init__(self, model, gone):
        self._model = model
        self._gone = gone

    def __del__(self):
        self._gone.append(self._model)


class _ByFile:
    """MicroPython on a computer: the token is an open file, whose finaliser closes it. The system
    hands out the lowest free number, so a file opened now gets the number of a token that was
    collected."""

    def __init__(self):
        self._models = {}
        self._gone = []
        self._seen = 0

    def watch(self, model):
        token = host_open("/dev/null", "rb")
        tokens.add(id(token))
        if token.fileno() in self._models:
            self._gone.append(self._models[token.fileno()])
        self._models[token.fileno()] = model
        return token

    def lost(self):
        if self._models and gc.mem_alloc() != self._seen:
            probes = []
            try:
                self._probe(probes, max(self._models))
            except MemoryError:
                pass
            for probe in probes:
                probe.close()
            self._seen = gc.mem_alloc()
        if not self._gone:
            return ()
        gone = self._gone
        self._gone = []
        return gone

    def _probe(self, probes, last):
        number = 0
        while number < last:
            probes.append(host_open("/dev/null", "rb"))
            number = probes[-1].fileno()
            if number in self._models:
                self._gone.append(self._models.pop(number))


class _Never:
    """An interpreter without finalisers: only collect(keep) of the board can tell."""

    def watch(self, model):
        return None

    def lost(self):
        return ()


def _has_files():
    try:
        with host_open("/dev/null", "rb") as f:
            return f.fileno() >= 0
    except (OSError, AttributeError, NameError):
        return False


if NATIVE:
    Pixels = _vm_pixels
    finaliser = _ByFile() if _has_files() else _Never()
else:
    Pixels = _Pixels
    finaliser = _ByFinaliser()
    gc.mem_alloc = heap.mem_alloc
    gc.mem_free = heap.mem_free
