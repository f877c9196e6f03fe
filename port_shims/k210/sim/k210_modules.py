# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The modules that a build of the firmware offers, made from the table of names, and import for a
script."""

import sys

import image
import k210_board as board
import k210_buses as buses
import k210_collections
import k210_config
import k210_fmap
import k210_garbage
import k210_host as host
import k210_image
import k210_json
import k210_math
import k210_media as media
import k210_network as network
import k210_pins as pins
import k210_statistics
import k210_struct
import k210_system as system
import k210_table as table
import k210_threads
import k210_time
import k210_timers as timers
import KPU
import lcd
import machine
import Maix
import sensor
from k210_args import Takes
from k210_gc import NATIVE
from k210_parts import Part
from k210_stack import LEAST, needs
from k210_threads import turns, watched

k210_fmap.garbage = k210_garbage

WAY_OUT = "the simulator does not have %s; a firmware image does: maixmem sim --firmware FILE"
# who implements what of a section, before the interpreter's own module of the same name
_CODE = {
    "KPU": KPU,
    "kpu_net": KPU.kpu_net,
    "kpu_fmap": KPU.kpu_fmap,
    "Maix.utils": Maix.utils,
    "Maix.freq": Maix.freq,
    "Maix.Audio": media.Audio,
    "Maix.FFT": media.FFT,
    "Maix.I2S": media.I2S,
    "Maix.config": k210_config,
    "Maix.FPIOA": pins.FPIOA,
    "Maix.MIC_ARRAY": media.MIC_ARRAY,
    "Maix.GPIO": pins.Pin,
    "Image": k210_image.Image,
    "histogram": k210_statistics.histogram,
    "_thread": k210_threads,
    "uctypes": board.uctypes,
    "board": pins,
    "collections": k210_collections,
    "fpioa_manager": pins,
    "gc": system.gc,
    "image": image,
    "json": k210_json,
    "lcd": lcd,
    "machine": machine,
    "machine.I2C": buses.I2C,
    "machine.PWM": timers.PWM,
    "machine.SPI": buses.SPI,
    "machine.Timer": timers.Timer,
    "machine.UART": buses.UART,
    "machine.WDT": timers.WDT,
    "nes": network,
    "network": network,
    "network.WIZNET5K": network.WIZNET5K,
    "math": k210_math,
    "micropython": system.micropython,
    "sensor": sensor,
    "socket": network,
    "socket.socket": network.socket,
    "struct": k210_struct,
    "sys": system.sys,
    "time": k210_time,
    "time.clock()": k210_time.clock,
    "video": media,
}
# what takes long to come: it stays away from a script that does not name it
_LATE = {"ulab": "k210_ulab"}
_MICROPYTHON = sys.implementation.name == "micropython"
_MISSING = object()
#: functions of time that a loop waits with, which leave nothing on the board
_CLOCK = ("ticks", "ticks_cpu", "ticks_diff", "ticks_ms", "ticks_us")


def named(texts):
    """Which of _LATE one of these texts, bytes, names; all when there are none."""
    found = set(_LATE if texts is None else ())
    for text in texts or ():
        found.update([name for name in _LATE if name.encode() in text])
    return found


def _new_module(name):
    """An empty module; MicroPython makes one only by an import."""
    if not _MICROPYTHON:
        return type(sys)(name)
    sys.modules.pop("k210_blank", None)
    module = __import__("k210_blank")
    sys.modules.pop("k210_blank", None)
    for known in dir(module):
        if known[:2] != "__":
            delattr(module, known)
    module.__name__ = name
    return module


def absent(name):
    """What using an absent name raises."""
    return AttributeError(WAY_OUT % name)


def _literal(text):
    return eval(text, {}) if text else None


def _quiet(entry, own, meters):
    """A function that does nothing; `own` is 1 for a method; `meters` as of _checked()."""
    gives = entry.gives
    is_self = gives == "self"
    error = gives[1:] if gives[:1] == "!" else ""
    result = None if is_self or error else _literal(gives)
    fresh = isinstance(result, list)

    def quiet(*args, **kwargs):
        board.alive()
        if error:
            raise OSError(_literal(error))
        if is_self:
            return args[0]
        return [] if fresh else result

    return _checked(entry, quiet, own, meters)


def _checked(entry, function, own, meters):
    """The function behind a look at its arguments, where the table says what it takes; `meters`:
    its own garbage is not shown."""
    look = _look(entry, own) if entry.takes else None
    if meters and NATIVE and (look or not isinstance(function, type)):
        return k210_garbage.metered(entry.name, function, look or _any)
    if not look:
        return function
    if entry.name in _CLOCK and NATIVE:
        return _bare(Takes(entry.takes), function)

    def checked(*args, **kwargs):
        look(args, kwargs)
        return function(*args, **kwargs)

    return checked


def _look(entry, own):
    """What refuses arguments as the firmware does."""
    takes = Takes(entry.takes)
    counted = 0 if entry.name == "__init__" else own

    def look(args, kwargs):
        takes.check(args, kwargs, own, counted)

    def pixels_look(args, kwargs):
        takes.count(args, kwargs, 1, 1)
        args[0]._plain()
        takes.kinds(args, kwargs, 1)

    return pixels_look if entry.pixels else look


def _any(args, kwargs):
    """Takes them all."""


def _bare(takes, function):
    """The same of two arguments at most, of any kind: it leaves the dict of its names alone, which
    is not shown."""
    wanted = takes.exact

    def bare(a=_MISSING, b=_MISSING, *more, **named):
        n = (a is not _MISSING) + (b is not _MISSING) + len(more)
        if n != wanted or named:
            takes.check((a, b)[:n] + more, named)
        k210_garbage.books.add(k210_garbage.NAMES)
        return function(a, b) if n else function()

    return bare


def _refuse(section, entries):
    """__getattr__ of a module or of an object's class."""
    name, kind, title = section.names[0], section.kind, section.title

    def missing(*args):
        wanted = args[-1]
        if wanted == "__all__" and kind == table.MODULE:  # an import of "*"
            return [known for known in entries if entries[known].kind != table.ABSENT]
        if wanted == "__del__" and name == "Image":
            return args[0]._free
        if wanted in entries and entries[wanted].kind == table.ABSENT:
            raise absent(name + "." + wanted)
        what = "module" if kind == table.MODULE else title
        raise AttributeError("'%s' object has no attribute '%s'" % (what, wanted))

    return missing


# Contract. The modules of one build, {name: module}, as `modules`; `code` {section: object with
# its functions} goes before the stand-in's own; of those in _LATE only the `named` are there,
# the others are in `nothing`. Made once, before a script starts, so that it costs the script's
# heap nothing.
class World:
    def __init__(self, build, code, named=tuple(_LATE)):
        self._named = named
        self.modules = {}
        self.nothing = set()
        self._code = dict(_CODE)
        self._code.update(code)
        self._nested = []
        for section in table.sections(host.lines(table, "k210_names.txt"), build):
            self._add(section)
        for module, name, made in self._nested:
            if hasattr(self.modules.get(module), name):
                setattr(self.modules[module], name, made)
        pins.fm.fpioa = self.modules["Maix"].FPIOA()
        media.Audio.made = self.modules["Maix"].Audio

    def _add(self, section):
        if section.kind == table.MODULE:
            self._module(section)
            return
        made = self._type(section)
        for name in section.names:
            module, dot, last = name.rpartition(".")
            if dot and last[-1] != ")":
                self._nested.append((module, last, made))

    def _module(self, section):
        entries = section.entries
        late = section.names[0] in _LATE
        if late and section.names[0] not in self._named:
            self.nothing.update(section.names)
            return
        module = _new_module(section.names[0])
        code = __import__(_LATE[module.__name__]) if late else self._code.get(section.names[0])
        for entry in entries.values():
            of_kpu = section.names[0] == "KPU" and entry.name in k210_garbage.OF_KPU
            value = self._value(entry, code, section, 0, code is image or of_kpu)
            if value is not _MISSING:
                setattr(module, entry.name, self._watched(section, entry, value))
        module.__getattr__ = _refuse(section, entries)
        for name in section.names:
            self.modules[name] = module

    def _watched(self, section, entry, value):
        """A function behind a look at the stack of its caller's thread, where there are threads
        and it takes more than any line may."""
        if not turns.all or not callable(value) or isinstance(value, type):
            return value
        name = "%s.%s" % (section.names[0], entry.name)
        return watched(name, value) if max(needs(name)) > LEAST else value

    def _value(self, entry, code, section, own, meters):
        """What the stand-in has for a name, or _MISSING."""
        if entry.kind == table.VALUE:
            return _literal(entry.gives)
        if entry.kind == table.ABSENT:
            return _MISSING
        found = _MISSING if code is None else _originals(section, code, entry.name)
        if found is not _MISSING:
            return _checked(entry, found, own, meters)
        if entry.kind == table.QUIET:
            return _quiet(entry, own, meters)
        found = _host(section.names, entry.name)
        return found if found is _MISSING else _checked(entry, found, own, meters)

    def _type(self, section):
        """The class of a section: that of the stand-in, filled up from the table."""
        code = self._code.get(section.names[0])
        static = section.kind == table.STATIC
        meters = section.names[0] in ("Image", "histogram")
        members = {}
        for entry in section.entries.values():
            value = self._value(entry, code, section, 0 if static else 1, meters)
            if value is not _MISSING:
                value = self._watched(section, entry, value)
                members[entry.name] = staticmethod(value) if static else value
        members["__getattr__"] = _refuse(section, section.entries)
        if section.names[0] == "Image":
            shown = _originals(section, code, "__repr__")
            if NATIVE:
                shown = k210_garbage.metered("__repr__", shown, _any)
            members["__repr__"] = shown
        if static:
            members["__init__"] = _no_instances(section.title)
            return type(section.title, (), members)
        if section.kind == table.TYPE:
            return type(section.title, (code or Part,), members)
        for name in _FILLED.setdefault(section.names[0], []):
            if name not in members and hasattr(code, name):
                delattr(code, name)
        for name in section.gone:
            if _originals(section, code, name) is not _MISSING and hasattr(code, name):
                delattr(code, name)
        _FILLED[section.names[0]] = list(members)
        for name, value in members.items():
            setattr(code, name, value)
        return code


_FILLED = {}  # {section: names that the last World put into a class of the stand-in}
_FOUND = {}  # {(section, name): what the class had before}


def _originals(section, code, name):
    """What the stand-in has for a name, before any World looked at its arguments."""
    key = (section.names[0], name)
    if key not in _FOUND:
        _FOUND[key] = getattr(code, name, _MISSING)
    return _FOUND[key]


def _no_instances(title):
    def refuse(*args, **kwargs):
        raise TypeError("cannot create '%s' instances" % title)

    return refuse


def _host(names, name):
    """What the interpreter itself has for a name of one of its modules."""
    for module in names:
        for known in (module, module[1:]):
            try:
                found = getattr(__import__(known), name, _MISSING)
            except ImportError:
                continue
            if found is not _MISSING:
                return found
    return _MISSING
