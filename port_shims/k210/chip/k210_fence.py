# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The fence around a simulated script: what of the host it could still get at, if it looked into
the stand-in itself.

A script sees the globals of every function here (f.__globals__), so nothing that opens files or
imports modules may lie in globals: it is kept in closures, which ask before they do it. On
CPython, where closures and frames can be looked into as well, the interpreter's audit hook asks,
and cannot be taken away.
"""

import sys

_EPERM = 1
_MICROPYTHON = sys.implementation.name == "micropython"
#: what happens inside CPython itself while a script runs, or shows nothing of the host
_HARMLESS = (
    "import compile exec object.__getattr__ builtins.id builtins.input "
    "builtins.input/result sys._getframe "
    "sys._getframemodulename sys.excepthook sys.unraisablehook array.__new__ "
    "code.__new__ marshal.loads time.sleep "
    "cpython._PySys_ClearAuditHooks open"
).split()


_piece = bytearray(256)


def decorates(stream):
    """Whether there is an @ in a binary stream, or was in the one before. Takes none of the
    heap."""
    while stream.readinto(_piece):
        if b"@" in _piece:
            return True
    return False


def _look_at(line):
    """What of a decorator goes on in the next line."""
    if line[:1] != "@":
        return ""
    if line[-1:] == "\\":
        return line[:-1]
    module, _, name = "".join(line[1:].split()).partition(".")
    if module == "micropython" and name[:4] in (
        "nati",
        "vipe",
        "asm_",
    ):  # native, viper, asm_thumb
        raise SyntaxError("invalid micropython decorator")  # in the firmware's words
    return ""


def look_through(lines, look_at=_look_at):
    """SyntaxError when there is a decorator that makes machine code, however it is written. Takes
    next to nothing of the heap where there is no decorator."""
    begun = ""
    for line in lines:
        if not begun and "@" not in line:
            continue
        for part in (line.replace("\r", "\n") if "\r" in line else line).split("\n"):
            if begun or "@" in part:
                begun = look_at(begun + part.strip())


def looking(real_exec, real_compile):
    """(exec, compile) of MicroPython that look through their text first. Names that a text finds
    are those of its caller, as locals() gives them there."""
    look, plain, code = look_through, str, type(real_compile("0", "", "eval"))

    def looked(text):
        if type(text) is code:
            return text
        text = text if type(text) is plain else plain(text, "utf-8")
        look((text,))
        return text

    def exec(text, *names):
        return real_exec(looked(text), *(names or (locals(),)))

    def compile(text, *more):
        return real_compile(looked(text), *more)

    return exec, compile


def _asks(reads, folders):
    """may(name, mode): whether a file of the host may be opened."""
    kind, text = type, str

    def below(folder):
        for known in folders:
            if folder == known or folder.startswith(known + "/"):
                return True
        return False

    def may(name, mode):
        if kind(name) is not text or kind(mode) is not text:
            return False
        if mode not in ("r", "rb"):
            return False
        if name in reads:
            return True
        folder, _, last = name.rpartition("/")
        return last.endswith((".py", ".mpy")) and "/../" not in name and below(folder)

    return may


def _opener(real, may):
    error = OSError

    def fenced(name, mode="rb"):
        if not may(name, mode):
            raise error(_EPERM)
        return real(name, mode)

    return fenced


def _loader(real, path, modules):
    """import of a script's own modules: never one that the interpreter has inside."""
    kind, text, error, has = type, str, ImportError, hasattr

    def inside(name):
        kept = path[:]
        path[:] = []
        try:
            real(name)
            return True
        except error:
            return False
        finally:
            modules.pop(name, None)
            path[:] = kept

    def load(name, *more):
        if kind(name) is not text:
            raise error("no module")
        top = name.split(".")[0]
        if top and top not in modules and inside(top):
            raise error(
                "no module named '%s': the simulator's interpreter has one of its own" % name
            )
        found = real(name, *more)
        if more[3:] != (0,) and more[3:] and not has(found, "__file__"):
            raise error("no module named '%s'" % name)
        return found

    return load


def close(real_open, reads, folders):
    """(open, import, mount) behind the fence; mount is None on CPython."""
    import builtins  # none of these in globals

    may = _asks(reads, folders)
    if _MICROPYTHON:
        import vfs

        opener = _opener(vfs.VfsPosix().open, may)
        vfs.umount("/")
        return opener, _loader(builtins.__import__, sys.path, sys.modules), vfs.mount
    _watch(may)
    return real_open, builtins.__import__, None


def _watch(may):
    """CPython: an audit hook refuses all that is not harmless."""
    import json  # what is imported late
    import linecache
    import os
    import tokenize

    os.environ.clear()
    for name in ("mkfifo", "mknod", "putenv", "unsetenv"):  # these are not asked about
        for module in (os, sys.modules.get("posix")):
            if hasattr(module, name):
                delattr(module, name)
    harmless, refusal = tuple(_HARMLESS), PermissionError

    def hook(event, args):
        if event not in harmless or (event == "open" and not may(args[0], args[1])):
            raise refusal(_EPERM, "the simulator keeps a script from " + event)

    sys.addaudithook(hook)


def window():
    """bytes_of(frame, n, at): n bytes that lie in a bytearray from `at`; a bytearray of their own
    where it is too small."""
    kind, array, size = type, bytearray, len
    try:
        from uctypes import addressof, bytearray_at
    except ImportError:  # CPython: nothing is set aside
        return lambda frame, n, at=0: array(n)

    def bytes_of(frame, n, at=0):
        if kind(frame) is not array or not 0 <= n <= n + at <= size(frame):
            return array(n)
        return bytearray_at(addressof(frame) + at, n)

    return bytes_of
