# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What maixmem_kpu does for a load: load() itself and the first load of a model. A one-time part.

The functions of the firmware's names get (`handler`, arguments, named ones) and return what the
firmware's would, or `handler`: then the firmware's is called.
"""

import gc
import time

from maixmem import KModelError, NoRoom, message, run_once
from maixmem_kpu import _kpu, _m, _part, _ready, _Task
from maixmem_models import ModelReleasedError


def load(handler, args, how):
    """A net of a flash address or a path. NoRoom where it cannot fit even alone; the rest as
    KPU.load. Of a net: kpu.classifier.load()."""
    source = args[0] if args else None
    if source.__class__ is _Task:
        found = handler.bare(_ready(source), *args[1:])
        return (_part("setup", "pin", source, found[0]),) + tuple(found[1:])
    if isinstance(source, bool) or not isinstance(source, (int, str)) or not source:
        return handler
    return inspect(handler, source, {})


def load_flash(handler, args, how):
    """KPU.load_flash."""
    return inspect(handler, args[0], {"stream": args[1:]}) if args else handler


def inspect(handler, source, how):
    """The task of a source: judged, and loaded later where that is as good."""
    t = _Task(hex(source) if isinstance(source, int) else source, source)
    if how:
        t.how = how
    try:
        t.cost = _m.port.inspect(source, **how)
        if t.cost.warning:
            print(message("warning", t.name, t.cost.warning))
    except OSError:
        return handler  # its own error
    except KModelError as e:
        raise words(t, e)
    except (MemoryError, NotImplementedError, ValueError) as e:
        write("kpu_unjudged", t.name, "no GC heap" if getattr(e, "region", "") == "gc" else e)
    add(t)
    _m.margin = 0
    idle = [x.handle for x in _m.models.values() if x.ready and not x.pin]
    if not t.cost or t.cost.refuse or _m._refusal(t, idle):
        start(t)
    return t


def start(t):
    """Loads a task, the first time or after it went for a buffer."""
    if t.fmap:
        raise ModelReleasedError(message("kpu_fmap"))
    if t.source is None:
        raise ModelReleasedError(message("kpu_net_deinit", t.name))
    add(t)
    if not t.cost:
        return execute(t)
    there = len(_m.loaded())
    began = time.ticks_ms() if hasattr(time, "ticks_ms") else 0
    try:
        _m._switch(t)
    except (MemoryError, ValueError) as e:
        raise words(t, e)
    if len(_m.loaded()) <= there:
        write("models_turns", t.name, time.ticks_ms() - began if began else 0)


def execute(t):
    """A load that cannot be judged: as the firmware would, with all others out of its way. Each
    of its loads is one."""
    clear()
    t.handle = _kpu.load_flash(t.source, *t.how["stream"]) if t.how else _kpu.load(t.source)
    t.ready = True
    t.setup(t)


def words(t, e):
    """An error of the manager in the words of somebody who calls kpu.load(), steps too."""
    if not isinstance(e, (NoRoom, KModelError)):
        return e
    said = run_once("text", "of", e)
    what = getattr(said, "what", said).split(" (resident now: ")[0]
    began = "use({!r}): ".format(t.name)
    if what.startswith(began):
        what = what[len(began) :]
    said = ["kpu.load({}): {}".format(t.name, what)] + list(getattr(said, "steps", ()))
    text = run_once("text", "say", *[x.replace("release()", "kpu.deinit()") for x in said])
    new = (
        KModelError(text) if isinstance(e, KModelError) else NoRoom(text, e.region, e.need, e.free)
    )
    new.code = e.code
    return new


def write(key, *args):
    """Prints a sentence, once."""
    told = getattr(_m, "text", ())
    if key not in told:
        _m.text = told + (key,)
        print(message(key, *args))


def add(t):
    """Puts a task among those of the manager; a lost one of the same source goes."""
    old = _m.models.get(t.name)
    if old is not None and old is not t:
        if old.pin:
            t.name = str(t.name) + "*"
        else:
            _m.release(t.name)
    _m.models[t.name] = t


def clear():
    """Frees all models that may be evicted, the last one first. Their next load is no turn."""
    for x in reversed(_m.loaded()):
        if not x.pin:
            _m.release(x.name)
            x.order = 0
    gc.collect()
