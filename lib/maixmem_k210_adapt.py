# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What stands in for calls that the firmware of this K210 lacks: comes in where one is missed. A
one-time part."""

from maixmem import message, resident

_CORE = ("load", "deinit", "forward", "init_yolo2", "run_yolo2")


def adapt(port_class):
    """Maix.utils of CanMV, or maixmem_k210_older, which has the same calls; others go into the
    class."""
    try:
        from maix import utils

        utils.heap_free, utils.flash_read, utils.gc_heap_size
        return utils
    except (ImportError, AttributeError):
        found = resident("k210_older")
        found.adapt(port_class)
        return found


def kpu_module():
    """The module KPU; with calls that say so in place of those that it lacks and that every model
    needs. CanMV's class."""
    try:
        import KPU
    except ImportError:
        from maix import KPU

        return KPU
    return _Completed(KPU)


class _Completed:
    def __init__(self, module):
        for name in dir(module):
            if name[:2] != "__":
                setattr(self, name, getattr(module, name))
        for name in _CORE:
            if not hasattr(self, name):
                setattr(self, name, _missing("KPU." + name))


def _missing(name):
    def call(*args):
        raise NotImplementedError(message("missing", name))

    return call
