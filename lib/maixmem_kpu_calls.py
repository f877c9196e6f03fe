# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The calls of maixmem_kpu that programs seldom make, and what is said again to a model that comes
back. Comes in with the first of them, and stays.
"""

from maixmem import resident
from maixmem_kpu import _asked, _Fmap, _kpu, _new, _ready, _result


def replay(t):
    """Says to a model again what was said to it before it went."""
    for key, what in t.asked.items():
        if key == "init_yolo2":
            _kpu.init_yolo2(t.handle, *what[0], **what[1])
        elif key == "set_layers":
            _kpu.set_layers(t.handle, what)
        else:
            _kpu.set_outputs(t.handle, *what)


def load_flash(address, *stream):
    """KPU.load_flash of the firmware; what it needs comes first."""
    return _new(address, {"stream": stream})


def get_output(t, *args):
    """KPU.get_output of the firmware; what it needs comes first."""
    return _result(t, args[0] if args else 0, _kpu.get_output(_ready(t), *args))


def set_outputs(t, *what):
    """KPU.set_outputs of the firmware; what it needs comes first."""
    done = _kpu.set_outputs(_ready(t), *what)
    if done:
        _asked(t, what[0], what)
    return done


def set_layers(t, n):
    """KPU.set_layers of the firmware; what it needs comes first."""
    done = _kpu.set_layers(_ready(t), n)
    if done:
        _asked(t, "set_layers", n)
    return done


def netinfo(t):
    """KPU.netinfo of the firmware; what it needs comes first."""
    return _kpu.netinfo(_ready(t))


def _bare(f):
    return f._get() if isinstance(f, _Fmap) else f


def fmap(f, *args):
    """KPU.fmap of the firmware; what it needs comes first."""
    return _kpu.fmap(_bare(f), *args)


def fmap_free(f):
    """KPU.fmap_free of the firmware; what it needs comes first."""
    return _kpu.fmap_free(_bare(f))


def classifier(t, *args, **how):
    """It learns what no load brings back: its model stays until deinit()."""
    made = _kpu.classifier(_ready(t), *args, **how)
    t.pin = True
    return resident("k210_net").Classifier(t, made)


def load_classifier(t, *args):
    """KPU.classifier.load of the firmware; what it needs comes first."""
    found = _kpu.classifier.load(_ready(t), *args)
    t.pin = True
    return (resident("k210_net").Classifier(t, found[0]),) + tuple(found[1:])
