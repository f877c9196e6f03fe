# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210 board behind the shim modules: power, memory, flash, files, faults."""

import k210_firmware
from k210_faults import Faults
from k210_flash import Flash
from k210_heap import Heap

FIRMWARES = k210_firmware.FIRMWARES
SLOTS = 5


class DeviceCrash(BaseException):
    """The real board hangs here until it is reset: .cause says why, .cure what to do instead."""

    def __init__(self, cause, cure):
        super().__init__("%s. %s" % (cause, cure))
        self.cause = cause
        self.cure = cure


class HardReset(BaseException):
    """machine.reset(): the board was powered off and on, the program is gone."""


class _Board:
    def __init__(self):
        self.firmware = FIRMWARES["minimum"]
        self.stored_gc = k210_firmware.GC_DEFAULT
        self.active_gc = k210_firmware.GC_DEFAULT
        self.dead = None
        self.nets = []
        self.files = {}
        self.camera = True
        self.buffers = {}


heap = Heap()
flash = Flash()
faults = Faults()
state = _Board()


def reset(firmware="minimum", gc_heap=None, flash=None, files=None, camera=True):
    """Power-on of a board with this firmware, flash contents {address: bytes or path} and files {name: bytes or path}."""
    state.firmware = k210_firmware.firmware(firmware)
    state.stored_gc = k210_firmware.GC_DEFAULT if gc_heap is None else gc_heap
    state.files = dict(files or {})
    state.camera = camera
    _burn(flash or {})
    power_on()


def _burn(regions):
    flash.erase()
    flash.burn(0, k210_firmware_image(state.firmware))
    for address in sorted(regions):
        flash.burn(address, regions[address])


def k210_firmware_image(firmware):
    n = firmware.image
    return bytes((0, n & 0xFF, n >> 8 & 0xFF, n >> 16 & 0xFF, n >> 24))


def power_on():
    """What a hard reset does: flash, files and freq.conf stay, memory is new."""
    firmware = state.firmware
    state.dead = None
    state.nets[:] = []
    state.buffers = {}
    faults.clear()
    state.active_gc = state.stored_gc
    free = firmware.boot_free + k210_firmware.GC_DEFAULT - state.active_gc
    if free < 0:
        state.active_gc = k210_firmware.GC_FALLBACK
        free = firmware.boot_free + k210_firmware.GC_DEFAULT - state.active_gc
    heap.restart(firmware.gc_base - 16, k210_firmware.RAM_END)
    heap.end = k210_firmware.RAM_END - free
    heap.top = heap.end - firmware.slack
    heap.mark()


def soft_reset():
    """Ctrl-D: the finalisers run, models are freed, the GC heap starts anew; camera buffers stay."""
    alive()
    for net in list(state.nets):
        net.finalise()
    faults.clear()


def mount_file(name, host_path):
    """Show a file of the host as `name` (/flash/x or /sd/x) on the board."""
    state.files[name] = host_path


def crash(cause, cure):
    """The board hangs: this call and every later one raise DeviceCrash."""
    state.dead = DeviceCrash(cause, cure)
    raise state.dead


def alive():
    if state.dead:
        raise state.dead


def point(name):
    """One fallible step of the board."""
    if state.dead:
        raise state.dead
    faults.point(name)


def nets():
    """The live models, oldest first; `net in nets()` works for a kpu_net."""
    return list(state.nets)


def kpu_live():
    return sum(net.live() for net in state.nets)


def read_flash(address, n):
    return flash.read(address, n)


def file_size(source):
    """Length of a file's contents, given as bytes or as the path of a host file."""
    if isinstance(source, str):
        with open(source, "rb") as f:
            return f.seek(0, 2)
    return len(source)


def collect():
    """gc.collect() of the board: frees models whose kpu_net is lost, where the interpreter can tell."""
    import gc

    gc.collect()


reset()
