# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""import for a script on the board: modules of the firmware, files of the board, maixmem; nothing
else of the host."""

import sys

import k210_board as board
import k210_fence as fence
import k210_files as files
import k210_host as host
from k210_flash import source_read, source_size
from k210_pins import first_import_of_board

_MICROPYTHON = sys.implementation.name == "micropython"
_ENOENT, _EPERM = 2, 1
_FILE, _DIR = 0x8000, 0x4000
# modules of the firmware that a file of the same name goes before
_WEAK = "binascii collections errno heapq json math os random re struct zlib hashlib".split()
_NONE = "no module named '%s'"
_NO_BYTECODE = "the simulator runs no .mpy (%s); a firmware image does"

try:
    from io import IOBase
except ImportError:
    IOBase = object


def places(path):
    """What comes before a module's file in each folder of sys.path."""
    return ["" if f in ("", ".") else f.rstrip("/") + "/" for f in path if isinstance(f, str)]


# Contract. Where a script's own modules are: files of the board, then *.py and *.mpy of the
# folders of the host that stand for what lies on the board's flash too (that of the script, that
# of the library). find() gives (folder of the host or None, path), or None.
class View:
    def __init__(self, folders):
        self._folders = folders

    def find(self, path):
        path = path[2:] if path[:2] == "./" else path
        if files.source(path) is not None:
            return None, files.full_name(path)
        if path[:1] == "/" or ".." in path.split("/") or path.split(".")[-1] not in ("py", "mpy"):
            return None
        for folder in self._folders:
            if host.is_file(folder + "/" + path):
                return folder, path
        return None

    def ours(self, name):
        return name.startswith(self._folders[-1] + "/")

    def is_folder(self, path):
        path = path[2:] if path[:2] == "./" else path
        start = files.full_name(path).rstrip("/") + "/"
        if [name for name in files.files() if name.startswith(start)]:
            return True
        return path[:1] != "/" and self.find(path + "/__init__.py") is not None

    def has(self, module, path):
        """True when a script of this board can import a module of its own of this name, from a
        folder of `path`."""
        for folder in places(path):
            for end in (".py", ".mpy"):
                if self.find(folder + module + end):
                    return True
            if self.is_folder(folder + module):
                return True
        return False

    def read(self, path):
        folder, path = self.find(path)
        if folder is None:
            source = files.source(path)
            return source_read(source, 0, source_size(source))
        with host.host_open(folder + "/" + path) as f:
            return f.read()


# What the interpreter sees of the disk, mounted at "/": only what can be imported.
class Disk:
    def __init__(self, view, asks):
        self._view = view
        self._asks = asks

    def mount(self, readonly, mkfs):
        pass

    def umount(self):
        pass

    def chdir(self, path):
        raise OSError(_ENOENT)

    def getcwd(self):
        return "/"

    def stat(self, path):
        if self._view.find(path):
            return (_FILE,) + (0,) * 9
        if self._view.is_folder(path):
            return (_DIR,) + (0,) * 9
        raise OSError(_ENOENT)

    def open(self, path, mode):
        if "w" in mode or "a" in mode or "+" in mode:
            raise OSError(_EPERM)
        found = self._view.find(path)
        if not found:
            raise OSError(_ENOENT)
        if path[-4:] == ".mpy":  # it may hold machine code of this computer
            raise ImportError(_NO_BYTECODE % path)
        if found[0] is not None:
            return self._harmless(found[0] + "/" + found[1])
        fence.look_through((str(self._view.read(path), "utf-8"),))
        source = files.source(found[1])
        return self._asks.module(lambda: _Stream(source), source_size(source))

    def _harmless(self, name):
        """The stream of a module beside the script, or of the library, which is ours."""
        with host.host_open(name) as f:
            decorates = not self._view.ours(name) and fence.decorates(f)
        if decorates:
            with host.host_open(name, "r") as f:
                fence.look_through(f)
        if self._view.ours(name):
            return host.host_open(name)
        with host.host_open(name) as f:
            size = f.seek(0, 2)
        return self._asks.module(lambda: host.host_open(name), size)


class _Stream(IOBase):
    """A file of the board, for the interpreter's reader of source text."""

    def __init__(self, source):
        self._source = source
        self._at = 0

    def readinto(self, buffer):
        data = source_read(self._source, self._at, len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self):
        pass

    def ioctl(self, request, argument):
        return 0


# Contract. __import__ of a script. `modules` {name: module} are the firmware's; `nothing` the
# names that the firmware has and the stand-in has not; `own` {name: module} what CPython has
# loaded for the script; `real` imports what lies in files.
class Importer:
    def __init__(self, world, view, way_out, asks):
        self._world = world
        self._view = view
        self._way_out = way_out
        self._asks = asks
        self.real = None
        self.own = {}
        self.builtins = None
        self._greeted = False

    def __call__(self, name, globals=None, locals=None, fromlist=(), level=0):
        if level:
            return self.real(name, globals, locals, fromlist, level)
        top = name.split(".")[0]
        found = self._placed(name) or self._world.modules.get(name)
        if found is not None and not (name in _WEAK and self._has(name)):
            self._greet(name)
            self._look(found, name, fromlist)
            return found
        if top in self._world.nothing:
            raise ImportError(self._way_out % top)
        if top not in sys.modules and top not in self.own:
            self._look_for(top)
        if not self._has(top):
            raise ImportError(_NONE % top)
        if not _MICROPYTHON:
            return self._load(name, fromlist)
        return self.real(name, globals, locals, fromlist, level)

    def _path(self):
        """sys.path, as the script may have changed it."""
        return self._world.modules["sys"].path

    def _has(self, module):
        return self._view.has(module, self._path())

    def _look_for(self, module):
        """The search: the current folder comes first, and a card's driver has its own buffer."""
        if files.current[0] == "/sd/" and self._has(module):
            board.file_read("/sd/" + module)
        else:
            board.flash_read("import " + module)

    def _placed(self, name):
        """The module of a file that the script put under another's name, as the board has it."""
        module = (sys.modules if _MICROPYTHON else self.own).get(name)
        own = getattr(module, "__name__", name)
        return module if own != name and self._has(own) else None

    def _greet(self, name):
        """board is written in Python on the board: its first import runs it."""
        if name == "board" and not self._greeted:
            self._greeted = True
            first_import_of_board()

    def _look(self, module, name, wanted):
        """from MODULE import NAME: a name that is not there is an ImportError."""
        for known in wanted or ():
            if known == "*":
                continue
            try:
                getattr(module, known)
            except AttributeError as e:
                if "simulator" in str(e):
                    raise ImportError(str(e))
                raise ImportError("cannot import name %s" % known)

    def _load(self, name, fromlist):
        """CPython: the module, from its text, with the board's names for builtins."""
        parent = top = None
        done = ""
        for part in name.split("."):
            done = done + "." + part if done else part
            module = self.own.get(done) or self._run(done)
            if parent is not None:
                setattr(parent, part, module)
            parent = module
            top = top or module
        return parent if fromlist else top

    def _run(self, name):
        for folder in places(self._path()):
            for end in (".py", "/__init__.py"):
                path = folder + name.replace(".", "/") + end
                if self._view.find(path):
                    module = self.own[name] = type(sys)(name)
                    module.__file__ = path
                    module.__dict__["__builtins__"] = self.builtins
                    try:
                        text = str(self._view.read(path), "utf-8")
                        fence.look_through((text,))
                        text = text if self._view.ours(path) else self._asks.text(text)
                        exec(compile(text, path, "exec"), module.__dict__)
                    except BaseException:
                        del self.own[name]
                        raise
                    return module
        raise ImportError(_NONE % name)
