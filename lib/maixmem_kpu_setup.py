# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What maixmem_kpu does for the calls that set a model up: they are sent again whenever it comes
back. A one-time part.

The functions get (`handler`, arguments, named ones), as those of maixmem_kpu_load.
"""

from maixmem import message, resident
from maixmem_k210 import _thread, utils
from maixmem_kpu import _kpu, _m, _ready


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
