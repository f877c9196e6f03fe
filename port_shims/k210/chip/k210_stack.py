# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytes of the stack that the firmware's functions take below a script's call, for threads: what
they left of the pattern of unused stack on v0.6.2_84 full (host_tests/kits/threads/stack.py),
rounded up."""

from k210_files import full_name

#: what any line may take: print(), formats, an error that is raised and caught
LEAST = 1152
_FILES, _SEARCH, _JPEG = 1792, 2048, 2816
FLASH = 6656  #: what writes to a file of the flash
_NOT_MEASURED = 26624  # with that much it is as in the main thread, whose stack is 32 KiB

_SMALL = "_thread array binascii builtins collections errno fpioa_manager gc hashlib heapq json"
_SMALL += " lcd math micropython random re struct sys time time.clock() Maix.FPIOA Maix.GPIO"
_SMALL += " Maix.utils"
_SMALL += " machine.I2C machine.PWM machine.Timer machine.UART uctypes uio image histogram kpu_net"
#: functions of a section, which take no more than any line
_SECTIONS = set(_SMALL.split())

_OF_IMAGE = "height width size format get_pixel set_pixel clear copy crop cut resize mean"
_OF_IMAGE += (
    " pix_to_ai difference gaussian binary draw_string draw_rectangle draw_line draw_circle"
)
_OF_IMAGE += " draw_cross to_grayscale to_bytes lens_corr get_statistics get_histogram"
_NAMES = dict.fromkeys(["Image." + name for name in _OF_IMAGE.split()], LEAST)
_NAMES.update(
    dict.fromkeys(["sensor.snapshot", "KPU.load", "KPU.deinit", "KPU.init_yolo2"], LEAST)
)
_OF_FILES = "uio.open os.listdir os.stat os.remove os.mkdir os.statvfs os.getcwd image.Image"
_NAMES.update(dict.fromkeys(_OF_FILES.split() + ["fpioa_manager.register"], _FILES))
_OF_SEARCH = "find_blobs find_circles find_lines find_rects"
_NAMES.update(dict.fromkeys(["Image." + name for name in _OF_SEARCH.split()], _SEARCH))
_NAMES.update({"Image.compress": _JPEG, "Image.save": _JPEG})


_WRITES = {"uio.open": FLASH, "os.remove": FLASH, "os.rename": FLASH, "Image.save": FLASH + _JPEG}


def writes_flash(name, args):
    """Whether one of _WRITES is called for a file of the flash that it changes."""
    if not args or (name == "uio.open" and (len(args) < 2 or "r" in args[1])):
        return False
    for value in args:
        if isinstance(value, str) and full_name(value).startswith("/flash/"):
            return True
    return False


def needs(name):
    """Of one, as "SECTION.FUNCTION" of the table of names; and where it writes to the flash, else
    0."""
    return _needs(name), _WRITES.get(name, 0)


def _needs(name):
    found = _NAMES.get(name)
    if found is None:
        found = LEAST if name[: name.rfind(".")] in _SECTIONS else _NOT_MEASURED
    return found
