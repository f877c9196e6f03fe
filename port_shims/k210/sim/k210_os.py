# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The module os and the open() of a simulated script: /flash and /sd of the board, and nothing of
the host."""

from collections import namedtuple
from random import getrandbits

import k210_board as board
import k210_files as files
from k210_flash import source_read, source_size
from k210_garbage import Meter, blocks, books
from k210_gc import finaliser
from k210_image import buffer_of
from k210_stack import FLASH
from k210_threads import turns
from k210_written import CHUNK, Written, outside

try:
    from io import IOBase
except ImportError:
    IOBase = object

_ENOENT, _EIO, _EACCES, _EEXIST = 2, 5, 13, 17
_ENODEV, _ENOTDIR, _EISDIR, _EINVAL, _EMFILE = 19, 20, 21, 22, 24
_MOST_OPEN = 2  # files of the flash
_KEPT = 128  # bytes of a file that is open, here
# what a file that is open is, as bits
_FLASH, _TEXT, _READS, _WRITES, _APPENDS, _MAKES = 1, 2, 4, 8, 16, 32
_BYTES = (str, bytes, bytearray)
_left_by_write = Meter(2 * _MAKES)
_TOP = 512  # names, of 8 + 3 letters, in the top folder of a card
_NO_BUFFER = "object with buffer protocol required"
_PIECE = 64  # bytes that readline() looks through at a time
_FILE, _DIR = 0x8000, 0x4000
_FIRMWARE = ("0.6.2", "v0.6.2-84-g8fcd84a58 on 2022-08-26", "Sipeed_M1 with kendryte-k210")
_STATVFS = (131072, 131072, 21, 21, 21, 0, 0, 0, 0, 128)
_FIELDS = ("sysname", "nodename", "release", "version", "machine")


def _shown(names):
    """As the firmware prints it: a tuple with names that has none itself."""
    pairs = ["%s=%r" % pair for pair in zip(_FIELDS, names)]
    return "(" + ", ".join(pairs) + ")"


_Uname = type("tuple", (namedtuple("tuple", _FIELDS),), {"__repr__": _shown, "__str__": _shown})


def _in(folder, name):
    """What of a full name comes below a folder, or an empty text."""
    return name[len(folder) :].lstrip("/") if name.startswith(folder.rstrip("/") + "/") else ""


def _look(name):
    """A search in the file system of the flash: it goes through its pages."""
    if name.startswith("/flash/"):
        board.flash_read(name)


def _bytes(data):
    """What is written, as bytes."""
    if isinstance(data, str):
        return data.encode()
    try:
        return bytes(memoryview(buffer_of(data)))
    except TypeError:
        raise TypeError(_NO_BUFFER)


# One of the few places that the flash has for files that are open: the program gives it back by
# close(), else when the interpreter collects the file.
class _Open:
    def finalise(self):
        """It is given back."""


def _opens(name):
    """OSError where a file cannot be opened to be changed."""
    if name.startswith("/flash/") and _is_full():
        raise OSError(_EMFILE)


def _is_full():
    """Whether the flash has no place for one more open file."""
    board.sweep()
    return len([h for h in board.state.handles if isinstance(h, _Open)]) >= _MOST_OPEN


def _kinds(name, mode):
    """What a file of that mode is, as bits."""
    found = _FLASH if name.startswith("/flash/") else 0
    found |= 0 if "b" in mode else _TEXT
    found |= _WRITES if "r" not in mode or "+" in mode else 0
    for m in mode:
        found |= _MAKES if m in "wax" else 0
    found |= _APPENDS if "a" in mode else 0
    return found if found & _MAKES and "+" not in mode else found | _READS


def _anew(name, source=None):
    """A file that may be written, in the place of what was there. What it takes here lies outside
    the script's heap."""
    found = files.source(name)
    if source is None and isinstance(found, Written):
        found.empty()
        return found
    with outside():
        found = Written(source)
        files.put(name, found)
    return found


def _enters(name):
    """OSError where the top folder of the card, of FAT16, has no place for one more name."""
    taken = _entries(name) if _entries(name) else -_TOP
    for names in (files.files(), files.made):
        for other in names:
            taken += _entries(other)
    if taken > _TOP:
        raise OSError(_EACCES)


def _entries(name):
    """Places that a name takes in the top folder of a card: more than one where it is long, or of
    both cases."""
    if not name.startswith("/sd/") or name.rfind("/") != 3:
        return 0
    name = name[4:]
    body, _, end = name.rpartition(".") if "." in name else (name, "", "")
    one_case = body in (body.lower(), body.upper()) and end in (end.lower(), end.upper())
    short = len(body) <= 8 and len(end) <= 3 and one_case and "." not in body
    return 1 if short else 1 + -(-len(name) // 13)


# Contract. A file of the board, a stream that print() and json.dump() write to. Reads its source
# on demand; without "b" in the mode it gives and takes str. A file that may be written is in
# memory from then on (k210_written): nothing reaches the host. Errors are those of the board.
#
# It is small, because a script may keep many: three of its own attributes, one more on the flash.
class SimFile(IOBase, files.File):
    _place = (None, None)  # of the flash

    def __init__(self, name, mode="rb"):
        self._is = _kinds(name, mode)
        if self._is & _FLASH and (_is_full() or ("a" in mode and files.source(name) is None)):
            raise OSError(_ENOENT)
        if "x" in mode and name.startswith("/sd/") and files.source(name) is not None:
            raise OSError(_EEXIST)
        self._source = files.source(name)
        if self._source is None and self._is & _MAKES:
            _enters(name)
        if "w" in mode or "x" in mode or (self._source is None and self._is & _APPENDS):
            self._source = _anew(name)
        if self._source is None:
            raise OSError(_ENOENT)
        if self._is & _WRITES and not isinstance(self._source, Written):
            self._source = _anew(name, self._source)
        self._at = 0
        if self._is & _FLASH:
            self._takes_place()

    def _takes_place(self):
        opened = _Open()
        self._place = opened, finaliser.watch(opened)
        if self._place[1]:  # else nobody learns that it was collected
            board.state.handles.append(opened)

    def _size(self):
        if self._source is None:  # it was closed
            raise OSError(_EIO if self._is & _FLASH else _EINVAL)
        return source_size(self._source)

    def _left(self):
        left = max(0, self._size() - self._at)
        if not self._is & (_READS | _FLASH):
            raise OSError(_EACCES)
        return left if self._is & _READS else 0

    def _given(self, data):
        self._at += len(data)
        return str(data, "utf-8") if self._is & _TEXT else data

    def read(self, n=-1):
        left = self._left()
        if n is None or n < 0:
            n = left
        if self._is & _TEXT:  # n characters
            text = str(source_read(self._source, self._at, left), "utf-8")[:n]
            self._at += len(text.encode())
            return text
        return self._given(source_read(self._source, self._at, min(n, left)))

    def readinto(self, buffer):
        data = source_read(self._source, self._at, min(len(buffer), self._left()))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def readline(self, limit=-1):
        left = self._left()
        line = b""
        while len(line) < left and not line.endswith(b"\n"):
            piece = source_read(self._source, self._at + len(line), min(_PIECE, left - len(line)))
            line += piece[: piece.find(b"\n") + 1] or piece
        return self._given(line if limit is None or limit < 0 else line[:limit])

    def readlines(self):
        return [line for line in self]

    def write(self, data):
        own = _left_by_write.own(self._is)
        inside = isinstance(data, _BYTES) and self._at % CHUNK + len(data) <= CHUNK
        if inside and own is not None:
            n = self._write(_bytes(data))
            books.add(own + blocks(n))
            return n
        before = books.real()
        n = self._write(_bytes(data))
        own = books.left(before)
        if inside:
            _left_by_write.measured(self._is, own - blocks(n))
        return n

    def _write(self, data):
        if self._is & _FLASH:
            turns.takes(FLASH)
        self._size()
        if not self._is & _WRITES:
            raise OSError(_EIO if self._is & _FLASH else _EACCES)
        if self._is & _APPENDS:
            self._at = self._source.size
        self._source.write(self._at, data)
        self._at += len(data)
        return len(data)

    def seek(self, offset, whence=0):
        size = self._size()
        at = (0, self._at, size)[whence] + offset
        if at < 0:
            raise OSError(_EINVAL)
        self._at = at if self._is & (_FLASH | _WRITES) else min(at, size)
        return self._at

    def flush(self):
        pass

    def close(self):
        self._source = None
        opened, token = self._place
        if opened in board.state.handles:
            board.state.handles.remove(opened)
        if hasattr(token, "close"):
            token.close()
        if opened:
            del self._place

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line


# The module os of the board. The errors are those that were measured on the firmware (v0.6.2_84):
# no such device for what is neither /flash nor a card, and no folders on /flash. A card's folder
# comes first where there is one.
class BoardOs:
    def __init__(self, card):
        self._tops = ("/flash", "/sd") if card else ("/flash",)
        self.at_home()

    def at_home(self):
        """The folder that the start of the board goes to."""
        files.current[0] = self._tops[-1] + "/"

    def uname(self):
        return _Uname("MaixPy", "MaixPy", *_FIRMWARE)

    def place(self, name):
        """The full name of something on the board; OSError when it is on no device."""
        parts = [p for p in files.full_name(name).split("/") if p not in ("", ".")]
        name = "/" + "/".join(parts)
        if name != "/" and "/" + parts[0] not in self._tops:
            raise OSError(_ENODEV)
        return name

    def is_folder(self, name):
        if name == "/" or name in self._tops:
            return True
        return name.startswith("/sd/") and files.is_folder(name)

    def _missing(self, name):
        if not self.is_folder(name):
            raise OSError(_ENOENT)
        return name

    def _folder(self, name):
        """A folder to look into or to go to: whatever is below /flash is /flash itself, which has
        no folders."""
        name = self.place(name)
        return "/flash" if name.startswith("/flash/") else self._missing(name)

    def listdir(self, name=""):
        return [entry[0] for entry in self._entries(name)]

    def ilistdir(self, name=""):
        return iter(self._entries(name))

    def _entries(self, name):
        folder = self._folder(name)
        _look(folder + "/")
        if folder == "/":
            return [(top[1:], _DIR, 0) for top in self._tops]
        found = {}
        for n in sorted(files.files()) + files.made:
            below = _in(folder, n)
            first = below if folder == "/flash" else below.split("/")[0]
            if first:
                whole = folder + "/" + first
                is_file = files.source(whole) is not None
                found[first] = (_FILE, 0, files.size(whole)) if is_file else (_DIR, 0, 0)
        return [(n,) + found[n] for n in sorted(found)]

    def stat(self, name):
        name = self.place(name)
        _look(name)
        if files.source(name) is not None:
            return (_FILE, 0, 0, 0, 0, 0, files.size(name), 0, 0, 0)
        self._missing(name)
        return (_DIR, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    def getcwd(self):
        if not files.current[0]:
            raise OSError(_ENODEV)
        return files.current[0].rstrip("/") or "/"

    def chdir(self, name):
        try:
            files.current[0] = self._folder(name).rstrip("/") + "/"
        except OSError as e:
            if e.args[0] == _ENODEV:  # then the firmware is nowhere
                files.current[0] = ""
            raise

    def mkdir(self, name):
        name = self.place(name)
        if name.startswith("/flash"):
            raise NotImplementedError("SPIFFS not support")
        if self.is_folder(name) or files.source(name) is not None:
            raise OSError(_EEXIST)
        self._missing(name[: name.rfind("/")])
        files.made.append(name)

    def rmdir(self, name):
        name = self.place(name)
        if name.startswith("/flash/"):
            raise OSError(_EIO)
        if files.source(name) is not None:
            raise OSError(_ENOTDIR)
        if self.listdir(name):
            raise OSError(_EACCES)
        files.made.remove(name)

    def remove(self, name):
        name = self.place(name)
        _look(name)
        if files.source(name) is None:
            if name.startswith("/flash/"):
                print("[MaixPy]:SPIFFS Error Code -10002")
            raise OSError(_EISDIR if self.is_folder(name) else _ENOENT)
        _opens(name)
        files.files().pop(name)

    def rename(self, old, new):
        old, new = self.place(old), self.place(new)
        _look(old)
        if files.source(old) is None:
            raise OSError(_ENOENT)
        if files.source(new) is not None:
            raise OSError(_EEXIST)
        self._holds(new)
        _opens(old)
        files.put(new, files.files().pop(old))

    def _holds(self, name, error=_EINVAL):
        """OSError when a file of this name can have no place: its folder is not there, or it is a
        folder, which is that error."""
        if name == "/" or name in self._tops:
            raise OSError(_EINVAL)
        if self.is_folder(name):
            raise OSError(error)
        if not name.startswith("/flash/"):
            self._missing(name[: name.rfind("/")])

    def open(self, file, mode="r", *args, **kwargs):
        name = self.place(file)
        self._holds(name, _ENOENT if "r" in mode else _EACCES)
        _look(name)
        before = books.real()
        if "r" in mode and files.source(name) is None:
            files.missed[name] = False
        opened = SimFile(name, mode)
        if "r" in mode and name in files.missed:
            files.missed[name] = True
        books.left(before, _KEPT)
        return opened

    def sync(self):
        pass

    def statvfs(self, name):
        self.place(name)
        return _STATVFS

    def urandom(self, n):
        return bytes([getrandbits(8) for _ in range(n)])
