# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The start of the firmware as a script finds it: modules, open(), import, the names and files
that are there."""

import gc
import sys

import k210_board as board
import k210_fence as fence
import k210_files as files
import k210_language as language
import k210_modules
import k210_system
import k210_threads
import k210_time
from k210_import import Disk, Importer, View
from k210_os import BoardOs
from k210_pins import Pin, fm

_MICROPYTHON = sys.implementation.name == "micropython"
# (pin, function) of the FPIOA after the firmware's main.py: GPIO7, GPIO0, and GPIOHS29 to 31 for
# card and display
_PINS = ((16, 63), (17, 56), (29, 53), (37, 54), (38, 55))
_PATH = ("", ".", "/flash")
_MOST = 18  # names there were at most by then: the table is as large
# what CPython needs of its builtins to run code at all
_ENGINE = ("__build_class__", "__name__", "__debug__")


# Contract. The board after power-on, ready for a script: `names` are its global names, run(text,
# name) executes text among them. `folders` of the host stand for what lies on the board's flash: a
# script's own modules and the library; `texts` are all that it may run, None when that is not
# known. `pipes`: numbers of two files, over which MaixPy's compiler is asked.
class Session:
    def __init__(self, card, folders, texts=None, pipes=()):
        self.disk = BoardOs(card)
        own = {"os": self.disk, "uio": self.disk, "builtins": self.disk}
        self.world = k210_modules.World(board.state.build, own, k210_modules.named(texts))
        self.view = View(folders)
        self.asks = language.Asks(pipes)
        self.importer = Importer(self.world, self.view, k210_modules.WAY_OUT, self.asks)
        self.names = {"__name__": "__main__"}
        self._first = None
        self._marks = {}
        self.ballast = self.figures = self.recorder = self.refused = None
        self._predefine()

    def _predefine(self):
        """The names that _boot.py and the firmware's main.py leave behind."""
        modules = self.world.modules
        for name in ("os", "sys", "time"):
            self.names[name] = modules[name]
        if board.own_main():
            return
        files.put("main.py", board.GREETING)
        for pin, function in _PINS:
            fm.fpioa.set_function(pin, function)
        for name in ("gc", "image", "lcd"):
            self.names[name] = modules[name]
        gpio = modules["Maix"].GPIO
        self.names.update(
            {
                "GPIO": gpio,
                "fm": modules["fpioa_manager"].fm,
                "lcd_en": gpio(gpio.GPIO0, gpio.OUT),
                "test_gpio": gpio(gpio.GPIO7, gpio.IN, gpio.PULL_UP),
                "test_pin": 16,
                "tf": None,
            }
        )
        more = range(_MOST - len(self.names))
        for i in more:
            self.names[i] = None
        for i in more:
            del self.names[i]

    def enclose(self, load, mount=None):
        """From now on the program has the board's files and modules only: load() imports its own,
        mount() a disk of them."""
        import builtins  # not in globals: a script finds its way to those

        self.importer.real = load
        if _MICROPYTHON:
            sys.path[:] = _PATH
            mount(Disk(self.view, self.asks), "/")
            self._forget_modules()
            builtins.__import__ = self.importer
            own = self.world.modules["builtins"]
            own.exec, own.compile = fence.looking(builtins.exec, builtins.compile)
            builtins.exec, builtins.compile = own.exec, own.compile
            for name, function in self._language().items():
                setattr(builtins, name, function)
                if name[0] != "_":
                    setattr(own, name, function)
            builtins.open = self.world.modules["uio"].open
        else:
            self.names["__builtins__"] = self.importer.builtins = self._restricted(builtins)
            self.world.modules["sys"].modules = self.importer.own
            self.world.modules["sys"].path = list(_PATH)

    def mark(self, seen):
        """Before enclose(): the marks in the script's lines tell `seen`. They are no names of the
        script's own."""
        for name in ("at", "round", "caught"):
            self._marks[language.model.MARK + name] = getattr(seen, name)

    def _forget_modules(self):
        for name in list(sys.modules):
            del sys.modules[name]

    def restart(self):
        """After a hard reset: of the script that ran only its files are left."""
        k210_time.passed.alarms[:] = []
        k210_threads.turns.forget()
        self.names.clear()
        self.names.update(self._first)
        self.importer.own.clear()
        if _MICROPYTHON:
            self._forget_modules()
            sys.path[:] = _PATH
        gc.collect()
        self.disk.at_home()
        self._predefine()

    def _restricted(self, builtins):
        """CPython: the builtins that the firmware has, and no others."""
        found = {name: getattr(builtins, name) for name in _ENGINE}
        module = self.world.modules["builtins"]
        for name in dir(module):
            if name[:2] != "__":
                found[name] = getattr(module, name)
        found.update(self._language())
        found["__import__"] = self.importer
        return found

    def _language(self):
        """{name: function} of what MicroPython 1.11 does otherwise, and of the marks in texts."""
        found = dict(language.BUILTINS)
        found.update(language.MARKS)
        found.update(self._marks)
        found[language.model.TEXT] = self.asks.text
        return found

    def boot(self, failed=k210_system.print_exception):
        """boot.py and main.py of the card or the flash, where there are such. failed(e) tells what
        ended one of them, which does not keep the board from the next."""
        self._first = self._first or dict(self.names)
        for name in ("boot.py", "main.py"):
            source = files.source(name)
            if source is not None and source is not board.GREETING:
                try:
                    self.run(self.asks.text(self.view.read(files.full_name(name))), name)
                except Exception as e:
                    failed(e)
                except SystemExit:
                    pass

    def run(self, text, name):
        fence.look_through((text,))
        exec(compile(text, name, "exec"), self.names)
