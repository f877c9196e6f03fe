# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The modules of the firmware under other names, and KPU where it lacks calls which every model
needs. A one-time part."""

from maixmem import message

_CORE = ("load", "deinit", "forward", "init_yolo2", "run_yolo2")


def utils():
    """Maix.utils of CanMV; None on MaixPy before v0.5.0, which has none: maixmem_k210_old."""
    try:
        from maix import utils as found

        return found
    except ImportError:
        return None


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
