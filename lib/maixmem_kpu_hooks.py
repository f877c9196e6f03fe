# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What maixmem_kpu does before a model runs: load() and the first load of a model, the set-up
of a model, and room for the buffers of camera and display. A one-time part.

The functions of the firmware's names get (`handler`, arguments, named ones) and return what the
firmware's would, or `handler`: then the firmware's is called.
"""

import gc
import time

from maixmem import KModelError, NoRoom, const, message, resident, run_once
from maixmem_k210 import _thread, utils
from maixmem_k210_chip import chunk
from maixmem_kpu import _kpu, _m, _ready, _Task
from maixmem_models import ModelReleasedError

_RESERVE = const(65536)  # left to display and finders beside our models where that can be had
_TASK = const(2224)  # that a thread takes beside its stack
_DEFAULT = const(5120)  # the stack of a thread where none is set
_OURS = const(4096)  # ... that our calls take beside the firmware's
_WHOLE = const(524280)  # the largest: the firmware takes numbers modulo 512 KiB
_DISPLAY = const(153600)  # the buffer of a display of 320x240, the largest


# --- loads ---


def load(handler, args, how):
    """A net of a flash address or a path. NoRoom where it cannot fit even alone; the rest as
    KPU.load. Of a net: kpu.classifier.load()."""
    source = args[0] if args else None
    if source.__class__ is _Task:
        found = handler.bare(_ready(source), *args[1:])
        return (pin(source, found[0]),) + tuple(found[1:])
    if isinstance(source, bool) or not isinstance(source, (int, str)) or not source:
        return handler
    return measure(handler, source, {})


def load_flash(handler, args, how):
    """KPU.load_flash."""
    return measure(handler, args[0], {"stream": args[1:]}) if args else handler


def measure(handler, source, how):
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
    register(t)
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
    register(t)
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


def register(t):
    """Puts a task among those of the manager; a lost one of the same source goes."""
    old = _m.models.get(t.name)
    if old is not None and old is not t:
        if old.pin:
            t.name = str(t.name) + "*"
        else:
            _m.release(t.name)
    _m.models[t.name] = t


# --- what is said to a model ---


def init_yolo2(handler, args, how):
    """KPU.init_yolo2; again with other values: the model is loaded anew, the firmware would leak
    the first ones. Where it is none of YOLO's, run_yolo2() refuses it."""
    t = args[0] if args else None
    resident("k210_mend")
    _ready(t)
    key = "region" if fewer(t, args[1:], how) else "init_yolo2"
    before = t.asked.get(key)
    if before and before[1:] == (args[1:], how):
        return True
    anchors = how.get("anchor_number", args[3] if args[3:] else 0)
    if key == "init_yolo2" and _thread and type(anchors) is int:
        t.stack = resident("k210_boxes").stack_of(t, anchors)
    if before and not t.pin:
        del t.asked[key]
        _m.release(t.name)
        try:
            return send(handler, key, args, how)
        except BaseException:
            t.asked[key] = before
            raise
    return send(handler, key, args, how)


def fewer(t, args, how):
    """Whether a V3 model's output has fewer values than YOLO's: 6 for each anchor. The firmware
    reads on behind them. (Before its first run V4's output cannot be queried: that hangs.)"""
    anchors = how.get("anchor_number", args[2] if args[2:] else None)
    try:
        if isinstance(t.source, str):
            with open(t.source, "rb") as file:
                version = file.read(1)
        else:
            version = b""
            if not t.how and _m.port.free_bytes() and _m.port.largest > 1024:
                version = utils.flash_read(t.source, 1)
        return version[0] == 3 and _kpu.get_output(t.handle, 0).size() < 4 * 6 * anchors
    except Exception:  # not to be known
        return False


def error(t, img=None):
    """That of forward() of what is no image, on which the firmware may hang; of run_yolo2() on a
    net that is not ready for it."""
    if img is not None:
        return ValueError(message("image", t.name, type(img)))
    if "region" in t.asked:
        return ValueError(
            message("kpu_yolo2", t.name, "its output has fewer than 6 values an anchor")
        )
    return ValueError(message("kpu_yolo2", t.name, "init_yolo2() was not called"))


def set_layers(handler, args, how):
    """KPU.set_layers."""
    return send(handler, "set_layers", args, how)


def set_outputs(handler, args, how):
    """KPU.set_outputs; each output has its own."""
    return send(handler, args[1] if args[1:] else None, args, how)


def send(handler, key, args, how):
    """Calls the firmware's; its arguments are sent again whenever the model is loaded again."""
    t = args[0] if args else None
    done = handler.bare(_ready(t), *args[1:], **how)
    if done is not False:
        if not t.asked:
            t.asked = {}
        t.asked[key] = handler.bare, args[1:], how
    return done


def netinfo(handler, args, how):
    """KPU.netinfo."""
    return handler.bare(_ready(args[0] if args else None), *args[1:])


def fmap(handler, args, how):
    """KPU.fmap and fmap_free of what is none of ours."""
    return handler


fmap_free = fmap


def classifier(handler, args, how):
    """It learns what no load brings back: its model stays until deinit()."""
    t = args[0] if args else None
    return pin(t, handler.bare(_ready(t), *args[1:], **how))


def pin(t, made):
    """The classifier of a task, which stays from now on."""
    t.pin = True
    return resident("k210_net").Classifier(t, made)


# --- buffers, and stacks of threads ---


def stack(asked):
    """The stack of a thread where there may be no room for it, `asked` is what was set: models go
    for it, the one used least recently first. NoRoom where that does not do."""
    least = min(asked or _DEFAULT, _WHOLE)
    n = min(least + _OURS, _WHOLE)
    gc.collect()
    while not fits(n):
        held = [x for x in _m.loaded() if not x.pin]
        if not held:
            break
        oldest = min(held, key=lambda x: x.used)
        _m.release(oldest.name)
        oldest.order = 0
        gc.collect()
    else:
        return n
    if _m.port.exact and not fits(least):  # else it is not known: as the firmware does
        free = _m.port.largest
        raise NoRoom(message("stack", least, least + _TASK + 32, free), "stack", least, free)
    return least


def fits(nbytes):
    """Whether malloc has a stack of so many bytes and what a thread takes beside it."""
    p = _m.port
    free = p.free_bytes()
    pieces = (chunk(nbytes), chunk(_TASK))
    if not p.exact:
        return free > sum(pieces)
    return not run_once("k210_fit", "missing", p.heap, pieces)


def reset(handler, args, how):
    """Before sensor.reset()."""
    _m.sensor = (2 if how.get("dual_buff") else 1, None)
    return handler


def set_framesize(handler, args, how):
    """Before sensor.set_framesize(): `camera` is how many buffers it has, and their frame size."""
    number, size = getattr(_m, "sensor", (1, None))
    if args and args[0] != size:
        import sensor

        _m.sensor = number, args[0]
        w = 640 if args[0] == getattr(sensor, "VGA", None) else 320
        room(w * w * 15 // 4 * number + 64)
        if _m.loaded() and (w == 640 or args[0] == sensor.QVGA):
            try:
                if run_once("camera", "check_camera", w, w * 3 // 4, number):
                    clear()  # enough, but in pieces
            except (MemoryError, NotImplementedError):
                pass  # as the firmware does
    return handler


def init(handler, args, how):
    """Before lcd.init()."""
    room(_DISPLAY)
    return handler


def room(nbytes):
    """Before a buffer of so many bytes is taken: models that fit beside it afterwards go, so that
    it lies below them; else what was requested is loaded first, as the firmware does."""
    tasks = [x for x in _m.models.values() if x.cost and not x.pin]
    if not tasks:
        return
    gc.collect()
    free = _m.port.free_bytes() - nbytes - _RESERVE
    for x in tasks:
        if x.handle is not None:
            free += x.cost.need["heap"]
    if max([x.cost.peak["heap"] for x in tasks]) <= free:
        return clear()
    for x in tasks:
        if x.handle is None and not x.order:
            try:
                start(x)
            except MemoryError:
                pass  # at its first use it is told
    if _m.port.free_bytes() < nbytes:
        clear()


def clear():
    """Frees all models that may be evicted, the last one first. Their next load is no turn."""
    for x in reversed(_m.loaded()):
        if not x.pin:
            _m.release(x.name)
            x.order = 0
    gc.collect()
