# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210 board behind the shim modules: power, system heap, flash, files, faults.

import k210_board as board
board.reset("full", flash={0x300000: "model.kmodel"}, files={"/flash/b.kmodel": data})
board.faults.fail(3, OSError(5))      # the third fallible step of the board fails once
board.heap.live(), board.kpu_live(), board.nets(), board.read_flash(0, 5)
"""

import gc
import struct
import sys

import k210_config
import k210_fence
import k210_files
import k210_gc
from faults import Faults
from k210_flash import Flash
from k210_model import boot, builds
from k210_model.boot import SPIFFS_READ
from k210_model.crash import DeviceCrash, HardReset, RunEnded
from k210_model.gc_heap import pool_size
from k210_model.heap import Heap
from k210_ram import Ram, Uctypes
from maixmem_k210_chip import IMAGE_OVERHEAD

__all__ = (
    "FIRMWARES",
    "DeviceCrash",
    "HardReset",
    "RunEnded",
    "alive",
    "bytes_in",
    "collect",
    "crash",
    "end",
    "faults",
    "flash",
    "flash_read",
    "frame",
    "frame_bytes",
    "gc_configure",
    "gc_configured",
    "greets",
    "heap",
    "kpu_live",
    "lcd_take",
    "mount_file",
    "nets",
    "open_file",
    "other_bytes",
    "own_main",
    "point",
    "power_on",
    "ram",
    "read_flash",
    "reset",
    "soft_reset",
    "spi_read",
    "state",
    "sweep",
    "tidy",
    "uctypes",
)

FIRMWARES = builds.BUILDS
CONFIG = "/flash/freq.conf"
_CONFIG = "<IIBBHI"
#: what stands for the main.py that the firmware writes where there is none
GREETING = b"# the firmware's own main.py: it shows a picture on the display\n"
_CPU_HZ = 400000000


# Contract. What the board remembers while it is on. `nets`: models that hold memory, oldest first;
# `handles`: models whose kpu_net the program can still have; `blocks`: {owner: [address]} of the
# camera and the display; `dead`: the DeviceCrash that ended it; `gc_active`: bytes of the GC heap
# in use; `frame`: a bytearray for pixels that the board has outside its GC heap, set by who does
# not want them on the script's; `pins` {function: pin} of the FPIOA; `levels` {pin: level};
# `serial` {port: bytes that wait}; `card`: an SD card is in; `nic`: a network chip was made;
# `threads`: a thread was begun; `detail`: what a JPEG is made of is full of it, else it is black;
# `frames`: snapshots since power-on, `frames_end` how many are taken at most; `on_step` is called
# at every step of the board, `on_end` when end() ends the run, `tidies` by tidy(). Lives as long
# as the program, reset() refills it.
class _State:
    def __init__(self):
        self.firmware = None
        self.build = ""
        self.nets = []
        self.handles = []
        self.blocks = {}
        self.sensor = self.display = None
        self.camera = True
        self.printed = False
        self.dead = None
        self.gc_active = 0
        self.frame = None
        self.pins = {}
        self.levels = {}
        self.stack = 0
        self.slots = 0  # of image functions that failed: k210_work
        self.serial = {}
        self.card = False
        self.frames = 0
        self.frames_end = None
        self.on_step = None
        self.on_end = self.tidies = None
        self.nic = self.threads = self.detail = False


heap = Heap(print)
ram = Ram(heap)
_window = k210_fence.window()  # by the interpreter's own uctypes, which the next line hides
uctypes = sys.modules["uctypes"] = Uctypes(ram)
flash = Flash()
faults = Faults()
state = _State()
_flash = flash


# -- power


def reset(firmware="minimum", gc_heap=None, flash=None, files=None, camera=True, card=False):
    """Power on a board: firmware by name, GC heap bytes in freq.conf, flash {address: source},
    files {name: source}.

    A source is bytes, the path of a host file, or an object with .size and .read(offset, n)."""
    state.firmware = builds.build(firmware)
    state.build = firmware
    state.camera = camera
    state.card = card
    state.serial = {}
    _flash.erase()
    _flash.install(state.firmware.image)
    for address in sorted(flash or {}):
        _flash.burn(address, flash[address])
    k210_files.format(files or {})
    gc_configure(builds.GC_DEFAULT if gc_heap is None else gc_heap)
    faults.clear()
    power_on()


def power_on():
    """A hard reset: flash, files and freq.conf stay, memory is as after boot."""
    state.dead = None
    state.nets[:] = []
    state.handles[:] = []
    state.blocks = {}
    state.sensor = state.display = None
    state.printed = False
    state.pins = {}
    state.levels = {}
    state.stack = state.frames = 0
    state.nic = state.threads = False
    k210_config.forget()
    _boot(state.firmware, gc_configured())
    heap.mark()


def _boot(build, size):
    if not flash.start():
        crash(
            "it does not start: something was burned over the firmware, which ends at 0x%x"
            % (build.image + IMAGE_OVERHEAD),
            "burn the firmware again, and models at 0x300000 or higher",
        )
    heap.gc_block, state.gc_active = _lives(boot.boot, heap, build, size)
    idle = builds.SCRIPT_IDLE if boot.greets(state.gc_active) else builds.PLAIN_IDLE
    k210_gc.heap.restart(pool_size(heap.gc_block, state.gc_active), idle)
    _main_py("boot")


def _main_py(who):
    """The interpreter starts, and the firmware's main.py runs if the GC heap lets it."""
    _lives(boot.repl, heap, who)
    if greets():
        free_blocks("lcd")
        of_display = k210_config.of_display()
        size = [of_display.get(name, n) for name, n in (("width", 320), ("height", 240))]
        state.blocks["lcd"] = [_lives(boot.greet, heap, *size)]


def greets():
    """True when the firmware's own main.py runs at the start."""
    return boot.greets(state.gc_active) and not own_main()


def own_main():
    """True when the board has a main.py of the user's, which runs at the start instead of the
    firmware's."""
    source = k210_files.source("/sd/main.py" if state.card else "/flash/main.py")
    return source is not None and source is not GREETING


def lcd_take(w, h):
    """The buffer of a display; a failure is not noticed by the firmware."""
    state.blocks["lcd"] = [heap.malloc(2 * w * h)]


def flash_read(who):
    """A look into the file system of the flash."""
    spi_read(SPIFFS_READ, who)


def frame_bytes(n):
    """n bytes for pixels that the board has outside its GC heap, from those that were set aside
    for it, if any."""
    return bytes_in(state.frame, n)


def bytes_in(block, n):
    """The first n bytes of a block, where they lie."""
    return _window(block, n)


def other_bytes(n):
    """As frame_bytes(), for what is no camera's: the last of them, which only a frame of SVGA
    reaches."""
    return _window(state.frame, n, max(0, len(state.frame or ()) - n))


def soft_reset():
    """Ctrl-D: finalisers free the models, the camera is let go, the GC heap starts anew, main.py
    runs."""
    alive()
    for model in list(state.handles):
        _finalise(model)
    free_blocks("sensor")
    state.sensor = None
    live = heap.live()
    _main_py("soft reset")
    heap.mark(live)


# -- steps of the board


def crash(cause, cure):
    """The board hangs: this call and every later one raise DeviceCrash."""
    state.dead = DeviceCrash(cause, cure)
    raise state.dead


def _lives(step, *args):
    """A step of the model; where that is a crash, the board is dead from then on."""
    try:
        return step(*args)
    except DeviceCrash as e:
        state.dead = e
        raise


def alive():
    """Raise again when the board hangs; free what the interpreter collected since the last
    call."""
    if state.dead:
        raise state.dead
    sweep()
    if state.on_step:
        state.on_step()


def frame():
    """One snapshot of the camera; the run ends instead when it has had all its frames."""
    if state.frames_end is not None and state.frames >= state.frames_end:
        end()
    state.frames += 1


def end():
    """The run has had its frames or its time: this call and every later one raise RunEnded."""
    state.dead = RunEnded()
    if state.on_end:
        state.on_end()
    raise state.dead


def point(name):
    """One fallible step of the board."""
    alive()
    faults.point(name)


def spi_read(n, who):
    """The SPI driver's buffer for reading n bytes from flash. It is not checked: a failure hangs
    the board."""
    _lives(boot.spi_read, heap, n, who)


def scratch(sizes):
    """Blocks that one call takes and gives back; False when one did not fit."""
    return boot.scratch(heap, sizes)


def file_read(name):
    """Reading a file: the flash driver takes its buffer for a page, the SD card one of its own."""
    if k210_files.full_name(name).startswith("/sd/"):
        scratch((2048,))
    else:
        spi_read(SPIFFS_READ, "reading " + name)


def print_floats():
    """The first print of floats by the C library keeps two small blocks for good (a bound: it
    depends on the values)."""
    if not state.printed:
        live = heap.live()
        boot.take(heap, (520, 32))
        heap.mark(live)
        state.printed = True


def free_blocks(owner):
    for block in state.blocks.pop(owner, ()):
        heap.free(block)


# -- freq.conf


def _config():
    data = k210_files.read(CONFIG, 0, 16)
    if len(data) < 16:
        gc_configure(builds.GC_DEFAULT)
        data = k210_files.read(CONFIG, 0, 16)
    return data


def gc_pool():
    """Usable bytes of the GC heap that the board runs with."""
    return k210_gc.heap.pool


def gc_largest():
    """Bytes of the largest block that the GC heap can give."""
    return k210_gc.heap.largest()


def gc_configured():
    """GC heap bytes in freq.conf, which is written with the default when it is missing."""
    return struct.unpack(_CONFIG, _config())[-1] or builds.GC_DEFAULT


def gc_configure(n):
    """Store the GC heap size, cut to 32 bits as the firmware does."""
    k210_files.put(CONFIG, struct.pack(_CONFIG, _CPU_HZ, _CPU_HZ, 1, 0, 0, n & 0xFFFFFFFF))


# -- models


def nets():
    """The models that hold memory, oldest first; `net in nets()` works for a kpu_net."""
    sweep()
    return list(state.nets)


def kpu_live():
    """Bytes of the system heap that models hold."""
    return sum([model.live() for model in nets()])


def sweep():
    """Free the models whose kpu_net the interpreter collected, as the firmware's finaliser
    does."""
    for model in k210_gc.finaliser.lost():
        _finalise(model)


def _finalise(model):
    if model in state.handles:
        state.handles.remove(model)
        model.finalise()


def tidy():
    """What is made next is kept, and is to lie as low in the interpreter's heap as on the board:
    behind what the program left, and not behind what the stand-in did."""
    if state.tidies:
        state.tidies()


def collect(keep=None):
    """gc.collect() of the board. An interpreter without finalisers is told which nets to keep, and
    frees the others."""
    gc.collect()
    sweep()
    if keep is not None:
        for model in list(state.handles):
            if not [net for net in keep if net == model]:
                _finalise(model)


k210_gc.finaliser.on_collect = sweep


# -- flash and files


def read_flash(address, n):
    """Flash contents for a test: no limits, costs the board nothing."""
    return _flash.read(address, n)


def open_file(name):
    """A file of the board, opened for reading; open() does the same where the interpreter lets it
    be replaced."""
    return k210_files.File(name)


def mount_file(name, source):
    """Show a file of the host as `name` (/flash/x or /sd/x) on the board."""
    k210_files.put(name, source)


reset()
