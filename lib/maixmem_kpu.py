# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware's KPU with a check of room before each load: `import maixmem_kpu as kpu`, the rest
of a script stays.

It has every name of KPU, and each takes what KPU's takes. A model is loaded at its first use and
stays while there is room; the one used least recently goes for another and comes back at its next
use. What can never fit is refused by load() with NoRoom, a MemoryError. Names with _ are ours.

Resident: running a model, and a turn. What comes before a first run is in maixmem_kpu_load and
maixmem_kpu_setup.
"""

import maixmem as _lib
import maixmem_k210_kpu as _port

_kpu = _port.kpu  # the firmware's


# A ModelManager that evicts by sums: a model that is evicted in vain costs a load, a look through
# the whole heap would cost as much in every turn. 64 KiB stay free for display and finders, given
# up last. Results are copied out of a model before it is freed.
class _Manager(_port.maixmem_models.ModelManager):
    def _plan(self, m, e):
        p = self.port
        self.margin = 65536
        while True:
            oldest = None
            held = self.loaded()
            for x in held:
                if not x.pin and (oldest is None or x.used < oldest.used):
                    oldest = x
            if e and oldest is None:
                raise e
            free = p.free_bytes() - self.margin
            if oldest is None or (not e and len(held) < self.keep and m.cost.need["heap"] <= free):
                if m.order and m.cost.peak["heap"] + _port.SPARE > p.behind:
                    _lib.resident("k210_fit")  # from now on a turn judges without reading a file
                refusal = self._refusal(m)
                if not refusal:
                    return None
            if oldest is not None:
                return oldest
            if not self.margin:
                raise refusal
            self.margin = 0

    def _unload(self, m):
        from array import array

        for f in m.results.values():
            made = f.handle
            if hasattr(made, "size"):  # the firmware's
                f.ready = False  # and to a timer callback
                f.handle = None
                try:
                    n = made.size()
                    if n <= 16384:
                        if made[0].__class__ is float:  # 4 bytes each, not 40
                            f.handle = array("f", bytes(n))
                            for i in range(n // 4):
                                f.handle[i] = made[i]
                        else:
                            f.handle = made[:]
                except MemoryError:
                    f.handle = None
                f.ready = f.handle is not None
        _port.maixmem_models.ModelManager._unload(self, m)


# What load() returns: the net of the manager, and what was asked of it, to be asked again when the
# model comes back. Its name is its source: a model that is loaded again takes over. `order` is 0
# until its first load, and again where the next one is no turn.
# With `fmap` it is what forward() returns, a kpu_fmap, `handle`. Its values outlive the model, at
# most 4096 of them; others are refused then, where the firmware's would point into freed memory.
# The same output is the same one again, as it has the same place in the model.
class _Task(_port.Net):
    fmap = False
    __iter__ = None  # as the firmware's: TypeError
    stack = 0  # bytes of a thread's stack that run_yolo2() takes
    results = {}  # type: dict  # {output: its fmap}
    asked = results  # {what: (call, arguments, named ones)}

    def setup(self, net):  # type: ignore[override]
        for call, args, how in self.asked.values():
            call(self.handle, *args, **how)

    def __getattr__(self, name):
        return getattr(_ready(self, self.fmap), name)

    def __repr__(self):
        return str(_ready(self, self.fmap))

    def __getitem__(self, i):
        found = _ready(self, self.fmap)[i]
        return tuple(found) if hasattr(found, "append") else found  # a part of an array


# A call for which a part comes in and goes again; see _later().
class _Later:
    def __call__(self, *args, **how):
        made = self
        first = args[0] if args else None
        ours = first.__class__ is _Task
        buffer = not hasattr(_kpu, self.name)  # of camera or display
        try:
            if ours and first.fmap:
                args = (_ready(first, True),) + args[1:]
            elif buffer:
                made = _part("room", self.name, self, args, how)
            else:
                part = "load" if self.name.startswith("load") else "setup"
                made = _part(part, self.name, self, args, how)
        except (MemoryError, RuntimeError) as e:
            if not buffer and (
                ours or getattr(e, "region", e.__class__) not in ("gc", MemoryError)
            ):
                raise
        if made is self:
            made = self.bare(*args, **how)
            if hasattr(made, "net_arg"):  # a kpu_net: no GC heap to judge it
                t = _Task(first, first)
                t.name = t
                t.handle = made
                t.ready = True
                _m.models[t] = t
                return t
        return made


def _later(name, bare):
    """A call of the firmware's name, with what a part does for it; `bare`: the firmware's.
    maixmem_auto makes the last of them."""
    call = _Later()
    call.name = name
    call.bare = bare
    return call


# run_once() of maixmem_kpu_NAME. Where there is no room to read it from flash, models are freed
# first. RuntimeError where a timer callback asks in the middle of a load.
def _part(name, function, *args):
    if _m.busy:
        _m._find(name)  # raises it
    try:
        _m.port.refuse()
    except _lib.NoRoom:
        for x in _m.loaded():
            if x.ready and not x.pin:
                _m._unload(x)
                x.order = 0
    return _lib.run_once("kpu_" + name, function, *args)


def _ready(t, fmap=False):
    """The firmware's kpu_net of a task, loaded if it is not; or its kpu_fmap."""
    if t.__class__ is not _Task or t.fmap is not fmap:
        raise TypeError(_lib.message("kpu_net", t.__class__))
    if not t.ready:
        if t.order:
            try:
                _m._switch(t)
            except (MemoryError, ValueError) as e:
                try:
                    e = _part("load", "words", t, e)
                except (MemoryError, RuntimeError) as short:  # no memory for more
                    if e.__class__ is MemoryError:
                        e = short
                raise e
        else:
            _part("load", "start", t)
    _m._tick += 1
    t.used = _m._tick
    return t.handle


def _result(t, args, made):
    """What a call gave for an output, as the object that stays what it is when the model goes."""
    if made is None:
        return None
    i = args[0] if args else 0
    found = t.results.get(i)
    if found is None:
        found = _Task(i, None)
        found.fmap = True
        if not t.results:
            t.results = {}
        t.results[i] = found
    found.handle = made
    found.ready = True
    return found


# --- the names of the firmware ---


def deinit(t):
    """True; the net is over."""
    if t.__class__ is not _Task or t.fmap:
        return _kpu.deinit(t)
    if _m.busy:
        _m._find(t.name)  # raises it
    _m._unload(t)
    if _m.models.get(t.name) is t:
        del _m.models[t.name]
    t.source = None
    t.order = 0
    return True


def forward(t, img, *args):
    """KPU.forward; allocates what that allocates."""
    handle = _ready(t)
    if not (hasattr(img, "pix_to_ai") or img is None or isinstance(img, list)):
        raise _part("setup", "error", t, img)
    return _result(t, args, _kpu.forward(handle, img, *args))


def get_output(t, *args):
    """KPU.get_output."""
    return _result(t, args, _kpu.get_output(_ready(t), *args))


def run_yolo2(t, img):
    """KPU.run_yolo2; allocates what that allocates."""
    handle = _ready(t)
    t.check_image(img)
    if "init_yolo2" not in t.asked:
        raise _part("setup", "error", t)
    if t.stack:
        boxes = _lib.resident("k210_boxes")
        boxes.require(t, boxes.stack_use())
    return _kpu.run_yolo2(handle, img)


# What the table of ports would find: its part has 22 names, which stay in the interpreter.
if not (
    _lib._port
    or [
        x
        for x in ("heap_free", "flash_read", "gc_heap_size")
        if not hasattr(_port.maixmem_k210.utils, x)
    ]
):
    _lib.set_port(_port.Port())
_m = _Manager(keep=5)
globals().update(
    {  # some are about no model
        x: getattr(_kpu, x)
        if x in ("memtest", "face_encode", "face_compare")
        else _later(x, getattr(_kpu, x))
        for x in dir(_kpu)
        if not x.startswith("_") and x not in globals()
    }
)
if hasattr(_kpu, "classifier"):
    classifier.load = _later("load", _kpu.classifier.load)  # type: ignore[name-defined]  # noqa: F821
