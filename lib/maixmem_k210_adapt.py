# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the firmware of this K210 can, asked when its ports come in: what it lacks is replaced. A one-time part."""

from maixmem import part, sentence

_UTILS = ("heap_free", "flash_read", "gc_heap_size")
_CORE = ("load", "deinit", "forward", "init_yolo2", "run_yolo2")


def adapt(port_class):
    """Maix.utils, or maixmem_k210_older, which has the same calls; what else the firmware lacks goes into the class."""
    try:
        import Maix
    except ImportError:
        import maix as Maix  # CanMV
    found = getattr(Maix, "utils", None)
    if [name for name in _UTILS if not hasattr(found, name)]:
        found = part("maixmem_k210_older")
        found.adapt(port_class)
    if not _copies():
        part("maixmem_k210_draw").adapt(port_class)
    return found


def _copies():
    """Whether images have what pools ask of them, and copy() takes an image (v0.6.2-72 and later)."""
    try:
        import image

        src, dst = image.Image(size=(8, 8)), image.Image(size=(8, 8))
        src.copy(copy_to_fb=dst)
        return hasattr(src, "to_grayscale") and hasattr(src, "pix_to_ai")
    except (ImportError, TypeError, AttributeError, OSError):
        return False


def kpu_module():
    """The module KPU; with calls that say so in place of those that it lacks and that every model needs. CanMV's class."""
    try:
        import KPU
    except ImportError:
        from maix import KPU

        return KPU
    if not [name for name in _CORE if not hasattr(KPU, name)]:
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
        raise NotImplementedError(sentence("missing", name))

    return call
