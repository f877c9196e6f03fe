# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Files of the host, for the stand-in alone: models, the table of names, modules of the library."""

_builtin_open = open  # a simulated script has another
_opener = [_builtin_open]


def host_open(name, mode="rb"):
    return _opener[0](name, mode)


def is_file(name):
    try:
        host_open(name).close()
    except OSError:
        return False
    return True


def lines(name):
    """The lines of a text file that lies beside this module, and the file closed afterwards."""
    with host_open(__file__.replace("\\", "/").rsplit("/", 1)[0] + "/" + name, "r") as f:
        for line in f:
            yield line


def leave():
    """MicroPython: takes the host's files away from the program; only host_open() still finds them."""
    import vfs

    _opener[0] = vfs.VfsPosix().open
    vfs.umount("/")
    return vfs.mount
