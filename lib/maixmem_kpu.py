# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware's KPU with room asked before each load: `import maixmem_kpu as kpu`, the rest of a
script stays.

It has every name of KPU, and each takes what KPU's takes. A model is loaded at its first use and
stays while there is room; the one used least recently goes for another and comes back at its next
use. What can never fit is refused by load() with NoRoom, a MemoryError. Names with _ are ours.
"""

import gc as _gc
import time as _time
from array import array as _array

import maixmem as _lib
import maixmem_k210_kpu as _port
import maixmem_models as _models

_kpu = _port.kpu  # the firmware's
_VALUES = 16384  # bytes of a result that are copied out when its model goes
_SPARE = _port.SPARE
_RESERVE = 65536  # left to display and finders beside our models where that can be had


# A ModelManager that copies results out of a model before it goes. Its models come back by
# themselves, so it looks ahead by sums: one that goes in vain costs a load, a look through the
# whole heap would cost as much in every turn. The reserve is given up last.
class _Manager(_models.ModelManager):
    def _short(self, m, freed=()):
        p = self.port
        idle = _idle()
        room = p.free_bytes() - self.margin
        if idle and p.exact:
            for x in freed:
                room += x.cost.need["heap"]
            if room < m.cost.need["heap"]:
                if len(freed) < len(idle):
                    return True  # one more has to go
            elif freed:
                return None
            elif m.order and m.cost.peak["heap"] + _SPARE > p.behind:
                _lib.resident("k210_room")  # from now on a turn reckons without reading its file
        short = _models.ModelManager._short(self, m, freed)
        if short and self.margin and len(freed) == len(idle):
            self.margin = 0
            short = _models.ModelManager._short(self, m, freed)
        return short

    def _unload(self, m):
        for made in m.results.values():
            made._keep()
        _models.ModelManager._unload(self, m)


# What load() returns: the net of the manager, and what was asked of it, to be asked again when the
# model comes back. 200 bytes. Its name is its source: a model that is loaded again takes over.
class _Task(_port.Net):
    dead = False  # after deinit()
    results = {}  # type: dict  # {output: what was given for it}
    asked = None  # {call: arguments}: init_yolo2, set_outputs, set_layers
    judged = True  # what a load takes is known; else it is tried as the firmware would

    def __str__(self):
        return str(_ready(self))

    __repr__ = __str__

    def __getattr__(self, name):
        if name in ("model_addr", "model_size", "model_path", "net_arg"):
            return getattr(_ready(self), name)
        raise AttributeError("'kpu_net' object has no attribute '" + name + "'")


# A kpu_fmap. Its values outlive the model, at most 4096 of them; others are refused then, where
# the firmware's would point into freed memory. The same output is the same one again, as it has
# the same place in the model.
class _Fmap:
    def __init__(self, made):
        self._made = made

    def _keep(self):
        made = self._made
        if made.__class__ is not _array:
            self._made = None
            try:
                if made.size() <= _VALUES:
                    self._made = _copy(made)
            except (AttributeError, MemoryError):
                pass

    def _get(self):
        if self._made is None:
            raise _models.ModelReleasedError(_lib.message("kpu_fmap"))
        return self._made

    def __getitem__(self, i):
        found = self._get()[i]
        return tuple(found) if found.__class__ is _array else found

    def __getattr__(self, name):
        return getattr(self._get(), name)

    def __str__(self):
        return str(self._made)

    __repr__ = __str__


def _copy(made):
    """The values of a kpu_fmap: 4 bytes each where they are floats, which take 24 as objects."""
    if made[0].__class__ is not float:
        return made[:]
    values = _array("f", bytes(made.size()))
    for i in range(len(values)):
        values[i] = made[i]
    return values


_m = _Manager(keep=5)
_ms = getattr(_time, "ticks_ms", int)
_said = []  # type: list[str]  # what is said once


def _say(key, *args):
    if key not in _said:
        _said.append(key)
        print(_lib.message(key, *args))


# --- tasks ---


def _ready(t):
    """The firmware's kpu_net of a task, loaded if it is not."""
    if t.__class__ is not _Task:
        raise TypeError("[MAIXPY]kpu: kpu_net type error")
    if not t.ready:
        _load(t)
    _m._tick += 1
    t.used = _m._tick
    return t.handle


def _load(t):
    """Loads a task."""
    if t.dead:
        raise _models.ModelReleasedError(_lib.message("kpu_deinit", t.name))
    _own(t)
    again = t.order
    began = _ms()
    if not t.judged:
        _try(t)
    else:
        for x in _m.loaded():
            if not x.judged and not x.pin:
                _m.release(x.name)  # nobody knows what that gives
        try:
            _m.margin = _RESERVE
            _m._switch(t)
        except _lib.NoRoom as e:
            raise _lib.NoRoom(_words(t, e), e.region, e.need, e.free)
        except _lib.KModelError as e:
            raise _lib.KModelError(_words(t, e))
    _m.state = "loaded"
    if again:
        _say("kpu_turns", t.name, _ms() - began)


def _own(t):
    """Puts a task among those of the manager; a lost one of the same source goes."""
    old = _m.models.get(t.name)
    if old is not None and old is not t:
        if old.pin:
            t.name = str(t.name) + "'"
        else:
            _m.release(t.name)
    _m.models[t.name] = t


def _words(t, e):
    """An error of the manager in the words of somebody who calls kpu.load()."""
    text = str(e)
    text = text[text.find("): ") + 3 :]
    end = text.find(" (resident")
    return "kpu.load({}): {}".format(t.name, text if end < 0 else text[:end])


def _try(t):
    """A load that cannot be judged: as the firmware would, with all others out of its way."""
    _clear()
    t.handle = _kpu.load(t.source) if not t.how else _kpu.load_flash(t.source, *t.how["stream"])
    t.ready = True
    _m._loads += 1
    t.order = _m._loads
    if t.asked:
        _replay(t)


def _replay(t):
    _lib.resident("kpu_calls").replay(t)


def _new(source, how):
    """The task of a source: judged, and loaded later where that is as good."""
    t = _Task(hex(source) if isinstance(source, int) else source, source)
    if how:
        t.how = how
    try:
        t.cost = _m.port.inspect(source, **t.how)
        if t.cost.warning:
            print(_lib.message("warning", t.name, t.cost.warning))
    except OSError:
        return _kpu.load(source)  # its own error
    except _lib.KModelError:
        raise
    except (MemoryError, NotImplementedError, ValueError) as e:
        t.judged = False
        _say("kpu_unjudged", t.name, e)
    _own(t)
    _m.margin = 0
    if not t.judged or t.cost.refuse or _models.ModelManager._short(_m, t, _idle()):
        _load(t)
    return t


def _idle():
    return [x for x in _m.models.values() if x.ready and not x.pin]


def _clear():
    """Frees all models that may go, the last one first."""
    for x in reversed(_m.loaded()):
        if not x.pin and not x.loading:
            _m.release(x.name)
    _gc.collect()


def _before(nbytes):
    """Before a buffer of so many bytes is taken: models that fit beside it afterwards go, so that
    it lies below them; else what was asked for is loaded first, as the firmware does."""
    tasks = [x for x in _m.models.values() if x.cost and not x.dead and not x.pin]
    if not tasks:
        return
    _gc.collect()
    free = _m.port.free_bytes() - nbytes - _RESERVE
    for x in tasks:
        if x.handle is not None:
            free += x.cost.need["heap"]
    if max([x.cost.peak["heap"] for x in tasks]) <= free:
        return _clear()
    for x in tasks:
        if x.handle is None and not x.order:
            try:
                _load(x)
            except MemoryError:
                pass  # at its first use it is said
    if _m.port.free_bytes() < nbytes:
        _clear()


# --- the names of the firmware ---


def load(source):
    """A net of a flash address or a path. NoRoom where it cannot fit even alone; the rest as
    KPU.load."""
    if isinstance(source, bool) or not isinstance(source, (int, str)) or not source:
        return _kpu.load(source)  # its own error
    return _new(source, None)


def deinit(t):
    """True; the net is over."""
    if t.__class__ is not _Task:
        return _kpu.deinit(t)
    if t.handle is not None:
        _m.release(t.name)
    if _m.models.get(t.name) is t:
        del _m.models[t.name]
    t.dead = True
    t.pin = False
    return True


def forward(t, img, *args):
    """KPU.forward; allocates what that allocates."""
    handle = _ready(t)
    if not isinstance(img, list):
        t.check_image(img)
    return _result(t, args[0] if args else 0, _kpu.forward(handle, img, *args))


def _result(t, i, made):
    """What a call gave for output i, as the object that stays what it is when the model goes."""
    if made is None:
        return None
    found = t.results.get(i)
    if found is None:
        found = _Fmap(made)
        if not t.results:
            t.results = {}
        t.results[i] = found
    found._made = made
    return found


def init_yolo2(t, *args, **how):
    """KPU.init_yolo2; again with other values: the model is loaded anew, the firmware would leak
    the first ones."""
    handle = _ready(t)
    if t.asked and "init_yolo2" in t.asked:
        if t.asked["init_yolo2"] == (args, how):
            return True
        if not t.pin:
            before = t.asked.pop("init_yolo2")
            _m.release(t.name)
            try:
                return init_yolo2(t, *args, **how)
            except BaseException:
                t.asked["init_yolo2"] = before
                raise
    done = _kpu.init_yolo2(handle, *args, **how)
    _asked(t, "init_yolo2", (args, how))
    return done


def _asked(t, key, what):
    if t.asked is None:
        t.asked = {}
        t.setup = _replay
        _lib.resident("kpu_calls")  # a load is no time to look for room for it
    t.asked[key] = what


def run_yolo2(t, img):
    """KPU.run_yolo2; allocates what that allocates."""
    handle = _ready(t)
    if not t.asked or "init_yolo2" not in t.asked:
        raise ValueError(_lib.message("run_yolo2", t.name))
    t.check_image(img)
    return _kpu.run_yolo2(handle, img)


# A call that programs seldom make: comes in with the first of them, and stays.
class _Later:
    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **how):
        return getattr(_lib.resident("kpu_calls"), self._name)(*args, **how)

    def load(self, *args):
        """kpu.classifier.load()"""
        return _lib.resident("kpu_calls").load_classifier(*args)


for _n in dir(_kpu):
    if _n[:1] != "_" and _n not in globals():
        globals()[_n] = getattr(_kpu, _n)  # those without a model: memtest, face_encode
for _n in "load_flash get_output set_outputs set_layers netinfo fmap fmap_free classifier".split():
    if hasattr(_kpu, _n):
        globals()[_n] = _Later(_n)
