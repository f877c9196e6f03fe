# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Files of the host, for the stand-in alone: models, the table of names, modules of the
library."""

import k210_fence

_opener = [open]  # a simulated script has another


def host_open(name, mode="rb"):
    return _opener[0](name, mode)


def is_file(name):
    try:
        host_open(name).close()
    except OSError:
        return False
    return True


def lines(module, name):
    """The lines of a text file that lies beside a module, and the file closed afterwards."""
    folder = module.__file__.replace("\\", "/").rsplit("/", 1)[0]
    with host_open(folder + "/" + name, "r") as f:
        for line in f:
            yield line


def leave(reads, folders):
    """From now on this process reads these files of the host and modules in these folders, and no
    others; it writes none.

    Gives the import of own modules and, on MicroPython, what mounts a disk for them."""
    _opener[0], load, mount = k210_fence.close(open, tuple(reads), tuple(folders))
    return load, mount
