# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""For the programs that run on both: the real librknnrt with a counting driver, or our stand-in of
the same version."""

import ctypes
import itertools
import json
import os
import sys

# name: (file of the bench, model of the stand-in, first runtime that takes it)
MODELS = {
    "two": ("rk3588_two_inputs_1.5.rknn", "multi_1.5", "1.4.0"),
    "segment": ("rk3588_segment.rknn", "segment", "1.5.2"),
}
# as small as "two", of a container that 1.4.0 and 1.5.0 refuse
NEWER = {"newer": ("rk3588_two_inputs.rknn", "multi", "1.5.2")}

# these were converted for several shapes
SHAPES = {
    "shapes": ("rk3588_shapes.rknn", "shapes", "1.5.2"),
    "shapes_two": ("rk3588_shapes_two.rknn", "shapes_two", "1.5.2"),
}
ALL = {**MODELS, **NEWER, **SHAPES}
_BUFFER = b"memfd:npu buffer"


def tell(*values):
    """One row of the result."""
    print("> " + json.dumps(values), flush=True)


# Contract. `library` for our port or for plain calls, live() bytes of buffers that exist,
# path(name) of a model, fail(k) makes the k-th allocation from now on, and all later ones unless
# it is not `forever`, fail (0: none).
class Real:
    """The vendor's library and the fake driver."""

    def __init__(self):
        self.lib = ctypes.CDLL("librknnrt.so")
        self._npu = ctypes.CDLL(os.environ["FAKENPU"])
        for name in ("fake_live", "fake_peak"):
            getattr(self._npu, name).restype = ctypes.c_longlong
        self._npu.fake_fail_at.argtypes = (ctypes.c_long, ctypes.c_int)

    def live(self):
        return self._npu.fake_live()

    # By the system: the driver's own answer reads these lists once for each buffer there ever was.
    def held(self):
        """Bytes of buffers that the driver has not, and a descriptor or a mapping keeps."""
        return sum({**_mapped(), **_opened()}.values()) - self.live()

    def reset(self):
        """From here on peak() is counted."""
        self._npu.fake_reset()

    def peak(self):
        return self._npu.fake_peak()

    def bad(self):
        """Calls of the driver that named a buffer which was not there."""
        return self._npu.fake_bad()

    def fail(self, k, forever=True):
        self._npu.fake_fail_at(k, int(forever))

    def path(self, name):
        return os.path.join(os.environ["BENCH"], "models", ALL[name][0])


def _mapped():
    """{inode: bytes} of the driver's buffers that are mapped."""
    found = {}
    with open("/proc/self/maps", "rb") as f:
        for line in f:
            if _BUFFER in line:
                place, _, _, _, inode = line.split(None, 5)[:5]
                start, end = place.split(b"-")
                found[int(inode)] = int(end, 16) - int(start, 16)
    return found


def _opened():
    """{inode: bytes} of those that are open; the driver has one open for each that is live."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            if _BUFFER in os.readlink(os.fsencode("/proc/self/fd/" + name)):
                now = os.fstat(int(name))
                found[now.st_ino] = now.st_size
        except OSError:
            pass  # that of the listing
    return found


class StandIn:
    """port_shims/rknn as the version it is told."""

    def __init__(self, version, folder):
        import librknnrt
        import rknn_model

        self.lib = librknnrt.shared_object("rk3588", 64 << 20, True, version)
        self._folder = folder
        for name, (_, model, _) in ALL.items():
            with open(self.path(name), "wb") as f:
                f.write(rknn_model.measured(model))

    def live(self):
        return self.lib.runtime.npu.live

    def held(self):
        return 0

    def bad(self):
        return 0

    def fail(self, k, forever=True):
        npu = self.lib.runtime.npu
        vars(npu).pop("_fits", None)
        if k:
            asked, fits = itertools.count(1), npu._fits
            works = (lambda n: n < k) if forever else (lambda n: n != k)
            npu._fits = lambda nbytes: works(next(asked)) and fits(nbytes)

    def path(self, name):
        return os.path.join(self._folder, name + ".rknn")


def board():
    """(board, version): arguments ROOT VERSION [FOLDER]; with FOLDER the stand-in, which puts its
    models there."""
    root, version = sys.argv[1:3]
    sys.path[:0] = [os.path.join(root, "lib"), os.path.join(root, "port_shims", "rknn")]
    return (StandIn(version, sys.argv[3]) if len(sys.argv) > 3 else Real()), version
