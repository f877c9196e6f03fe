# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A MaixCAM or MaixCAM2 in memory: its Linux heap, its carve-out for hardware buffers, and the
files that tell of them.

import maixcam_board as board
board.reset(chip="maixcam2", debugfs=False)
from maix import nn, sys, image
"""

import os
import sys as _sys

_sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from faults import Faults

MIB = 1 << 20
ION = "/sys/kernel/debug/ion/cvi_carveout_heap_dump/"
CMM_INFO = "/proc/ax_proc/mem_cmm_info"
HEAP_PAD = 0x1000

# Sizes at the prompt: what one board of each kind reported.  Others are set with reset().
CHIPS = {
    "maixcam": {"heap": 151 * MIB, "heap_used": 60 * MIB, "cmm": 78643200, "cmm_used": 0},
    "maixcam2": {
        "heap": 2060726272,
        "heap_used": 339562496,
        "cmm": 2147483648,
        "cmm_used": 177512448,
    },
    "linux": {"heap": 4096 * MIB, "heap_used": 512 * MIB, "cmm": 0, "cmm_used": 0},
}
TPU = {"maixcam": "cv181x"}


class DeviceCrash(BaseException):
    """The process would have died of a signal here."""


# Contract.  A ledger of one kind of memory: `total` bytes, `boot` of them taken before the program
# began.  alloc() takes n bytes and returns a block number, or None when they are not there or the
# fault point says so; free() wants
# a number that is out.  Bytes are counted as asked for.  `peak` is the most ever in use, as the
# driver keeps it.
class Carveout:
    def __init__(self, name, total, boot):
        self.name = name
        self.total = total
        self.boot = boot
        self.peak = boot
        self.blocks = {}
        self._next = 1

    def used(self):
        return self.boot + self.live()

    def live(self):
        """Bytes taken by the program."""
        return sum([n for n, _ in self.blocks.values()])

    def alloc(self, n, what):
        if faults.point(self.name + " alloc " + what) is not None or self.used() + n > self.total:
            return None
        block = self._next
        self._next += 1
        self.blocks[block] = (n, what)
        self.peak = max(self.peak, self.used())
        return block

    def free(self, block):
        del self.blocks[block]

    def size(self, block):
        return self.blocks[block][0]


faults = Faults()
chip = tpu = heap = cmm = None
debugfs = procfs = True
configs = ""
axmodels = {}
shared = []


def reset(kind="maixcam", debugfs_open=True, proc_open=True, boot_configs="", **sizes):
    """Power-on.  Sizes (heap, heap_used, cmm, cmm_used: bytes) replace those of CHIPS."""
    global chip, tpu, heap, cmm, shared, debugfs, procfs, configs
    if kind not in CHIPS:
        raise ValueError("unknown board %r, choose one of %s" % (kind, ", ".join(sorted(CHIPS))))
    figures = dict(CHIPS[kind], **sizes)
    chip, tpu = kind, TPU.get(kind)
    heap = Carveout("heap", figures["heap"], figures["heap_used"])
    cmm = Carveout("cmm", figures["cmm"], figures["cmm_used"])
    debugfs, procfs, configs = debugfs_open, proc_open, boot_configs
    shared = []  # models of before, if any live on, keep their own list and ledgers
    axmodels.clear()
    faults.clear()


# --- the files of the running system ---


def read_text(path):
    """The text of one of the board's files; OSError where the board has none or will not open
    it."""
    if faults.point("read " + path) is not None:
        raise OSError(5, "Input/output error: " + path)
    if path == "/proc/meminfo" and procfs:
        return _meminfo()
    if path == "/boot/configs" and chip == "maixcam2":
        return configs
    if path == CMM_INFO and chip == "maixcam2" and debugfs:
        return _cmm_info()
    if path.startswith(ION) and chip == "maixcam" and debugfs:
        return _ION_FILES[path[len(ION) :]]()
    raise OSError(2, "No such file or directory: " + path)


def _meminfo():
    available = (heap.total - heap.used()) // 1024
    rows = (
        ("MemTotal", heap.total // 1024),
        ("MemFree", available // 2),
        ("MemAvailable", available),
        ("CmaTotal", 0),
    )
    return "".join(["%s: %12d kB\n" % row for row in rows])


def _summary():
    used = cmm.used()
    text = (
        "Summary:\n[0] carveout heap size:%d bytes, used:%d bytes\nusage rate:%d%%, memory usage "
        "peak %d bytes\n"
    )
    lines = [text % (cmm.total, used, used * 100 // cmm.total, cmm.peak)]
    return "".join(lines + ["%12d %s\n" % block for block in cmm.blocks.values()])


_ION_FILES = {
    "alloc_mem": lambda: "%d\n" % cmm.used(),
    "total_mem": lambda: "%d\n" % cmm.total,
    "summary": _summary,
}


def _cmm_info():
    total, used = cmm.total // 1024, (cmm.used() + 1023) // 1024
    text = (
        "---CMM_USE_INFO:\n total "
        "size=%dKB(%dMB),used=%s,remain=%s,partition_number=1,block_number=%d\n"
    )
    return text % (total, total >> 10, _kb(used), _kb(total - used), len(cmm.blocks))


def _kb(n):
    return "%dKB(%dMB + %dKB)" % (n, n >> 10, n & 1023)


def cmm_setting_accepted(mib, hw_mib):
    """(boot loader, driver script): what each of the two readers of maix_memory_cmm makes of a
    value."""
    return mib >= 0 and hw_mib - mib >= 128, mib > 0 and hw_mib - mib >= 256


reset()
