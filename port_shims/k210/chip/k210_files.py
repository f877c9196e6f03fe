# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The files of the board, /flash/x and /sd/x: where their bytes come from, and open() for them."""

try:
    import builtins
except ImportError:
    builtins = None

from k210_flash import source_read, source_size

_ENOENT, _EIO = 2, 5
current = ["/flash/"]  # the folder of names that begin with none
_names = {}
missed = {}  # full names of files that were to be read and were not there: True, they were later
made = []  # folders on the card that were made, with or without files in them


def format(files):
    """Only these files: {name: source}."""
    _names.clear()
    made[:] = []
    for name in files:
        put(name, files[name])


def full_name(name):
    """Names without a folder are in the current one, /flash on a fresh board."""
    return name if name.startswith("/") else current[0] + name


def put(name, source):
    _names[full_name(name)] = source


def source(name):
    """The source of a file, or None."""
    return _names.get(full_name(name))


def needs(name):
    """OSError, as the firmware's C code gives it, where there is no such file."""
    if source(name) is None:
        raise OSError(_EIO if full_name(name).startswith("/flash/") else _ENOENT)


def files():
    """{full name: source}, to look at and to change."""
    return _names


def is_folder(name):
    """Whether a full name is one of a folder on the card, /sd left out."""
    return name in made or any(n.startswith(name + "/") for n in _names)


def read(name, offset, n):
    found = source(name)
    return b"" if found is None else source_read(found, offset, n)


def size(name):
    return source_size(source(name))


# A file that the firmware wrote and of which only the beginning matters here: it takes none of the
# script's heap.
class Hollow:
    def __init__(self, head, size):
        self._head = bytes(head)
        self.size = max(size, len(head))

    def read(self, offset, n):
        n = max(0, min(n, self.size - offset))
        start = self._head[offset : offset + n]
        return start + bytes(n - len(start))


# Contract.  A file of the board opened for reading in binary mode.  Reads its source on demand.
class File:
    def __init__(self, name):
        self._source = source(name)
        self._at = 0

    def read(self, n=-1):
        if n is None or n < 0:
            n = source_size(self._source) - self._at
        data = source_read(self._source, self._at, n)
        self._at += len(data)
        return data

    def readinto(self, buffer):
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset, whence=0):
        base = (0, self._at, source_size(self._source))[whence]
        self._at = base + offset
        return self._at

    def tell(self):
        return self._at

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


def _install():
    """open() shows the board's files besides those of the host."""
    host_open = builtins.open

    def board_open(name, mode="r", *args, **kwargs):
        if isinstance(name, str) and "b" in mode and "r" in mode and source(name) is not None:
            return File(name)
        return host_open(name, mode, *args, **kwargs)

    builtins.open = board_open


if builtins and hasattr(builtins, "open"):
    try:
        _install()
    except AttributeError:
        pass
    del builtins  # a script could find it here
