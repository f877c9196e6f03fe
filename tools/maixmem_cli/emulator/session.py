# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A script on a firmware: the board is set up, the script runs, what ends it is found out."""

from __future__ import annotations

import contextlib
import re
import signal
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from maixmem_cli.emulator import pictures, prepared, sd_image
from maixmem_cli.emulator.ports import Hangs
from maixmem_cli.emulator.readers.knowledge import Knowledge, learn
from maixmem_cli.emulator.readers.tracer import RAW_FILE, Tracer
from maixmem_cli.emulator.watched import Moment, NotEnding, Reset, Stuck, Watched
from maixmem_cli.flash import image
from maixmem_cli.heap.heaps import Finder, NotFound
from maixmem_cli.heap.qstrs import exit_value
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.text import reading

DONE, RAISED, LIMIT, HANGS, STUCK, RESETS = "done", "raised", "limit", "hangs", "stuck", "resets"
INTERRUPTED = "interrupted"  # by Ctrl-C of our user
NO_START = "no_start"  # the board does not boot again: a GC heap that is too small
HANGING = (HANGS, STUCK, NO_START)  #: ends that only a reset, or a new flash, helps
_FOR_EVER = 30.0  # seconds of the board's clock; asking an ESP32 that is not there takes 21.4
_RESETS = 3
CONFIG = "config.json"  #: on /flash, what `board` reads a board's pins from
_FOREVER = 1e9
_IMPORTS = re.compile(r"(?:^|;)[ \t]*(?:import|from)\s+([^;#\n]+)", re.MULTILINE)


@dataclass(frozen=True)
class Options:
    """What is on the board, and when the script is stopped. `seconds` are of the board's clock;
    `begin`: (pictures, seconds), no more of them for the first so many pictures.

    With `gc_heap` the board is set to a GC heap of so many bytes first, and restarted. `config` is
    the text of /flash/config.json: a board's pins."""

    files: tuple[tuple[int, Path], ...] = ()
    gc_heap: int | None = None
    sd: Path | None = None
    camera: str | None = None
    frames: int | None = None
    seconds: float | None = None
    begin: tuple[int, float] = (0, 0.0)
    save_lcd: Path | None = None
    config: str | None = None


@dataclass(frozen=True)
class Outcome:
    """How a script ended: one of the words above, its traceback if it raised, the status it gave
    sys.exit(). `limited`: the traceback of the Ctrl-C that ended a run of limited length.

    Not `over`: it goes on, or the board hangs; there is no prompt."""

    kind: str
    error: str = ""
    status: int = 0
    over: bool = True
    limited: str = ""


def imported(source: str) -> set[str]:
    """The modules that a script's lines import, by their text."""
    names = (re.split(r"\s*,\s*|\s+as\s+\S+|\s+import\s.*", m) for m in _IMPORTS.findall(source))
    return {n.split(".")[0].strip() for group in names for n in group if n.strip()}


# Owns the board and its files; leaving the context ends both. `known` is what was learned of the
# firmware.
class Session:
    """One board with a script on it."""

    def __init__(self, firmware: Path, script: Path | None, options: Options) -> None:
        self.script = script or Path("no script")
        self.source = reading.script(script) if script else ""
        self.options = options
        self.firmware = firmware
        self._stack = contextlib.ExitStack()
        self._begun = False
        self.known = Knowledge()
        self.finder = Finder()

    def __enter__(self) -> Session:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *ignored: object) -> None:
        self._stack.close()

    def _start(self) -> None:
        options = self.options
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self.known = learn(image.build(self.firmware), self.firmware.name)
        self.finder = Finder(self.known.places)
        # with a card in, the firmware looks for modules there and not on /flash
        modules = self._modules()
        card = sd_image.build(options.sd, modules) if options.sd else None
        camera = pictures.film(options.camera) if options.camera else None
        if options.save_lcd:
            options.save_lcd.mkdir(parents=True, exist_ok=True)
        self.board = self._stack.enter_context(
            prepared.booted(self.firmware, options.files, modules, sd=card, camera=camera)
        )
        self.port = Watched(self.board, options.save_lcd)
        self.repl = RawRepl(self.firmware.name, self.port)
        if self.options.gc_heap is not None:
            self.repl.check(f"from Maix import utils\nutils.gc_heap_size({self.options.gc_heap})")
            self.repl.hard_reset()
            self.port.known_resets()
        self.tracer = Tracer(self.board, self.known, self.folder)
        self._stack.callback(self.tracer.close)

    def _modules(self) -> dict[str, Path]:
        """{file on /flash: file here} of what the script imports: modules beside it, and the
        library."""
        found: dict[str, Path] = {}
        todo = [self.source]
        library = False
        while todo:
            for name in imported(todo.pop()):
                library |= name.split("_")[0] == "maixmem"
                for path in (self.script.parent / f"{name}{end}" for end in (".py", ".mpy")):
                    if path.is_file() and path.name not in found and path != self.script:
                        found[path.name] = path
                        if path.suffix == ".py":
                            todo.append(path.read_text(encoding="utf-8", errors="replace"))
        if self.options.config is not None:
            found[CONFIG] = self.folder / CONFIG
            found[CONFIG].write_text(self.options.config)
        return {**(prepared.files_of_library() if library else {}), **found}

    def trace(self, *, gc: bool) -> None:
        """Follows allocations from now on."""
        self.tracer.start(self.finder, gc=gc)

    def run(self, on_text: Callable[[str], None]) -> Outcome:
        """Runs the script to its end, or to the limits of the options. After a hard reset it runs
        again, as main.py does."""
        with self._ctrl_c():
            return self._run(on_text)

    @contextlib.contextmanager
    def _ctrl_c(self) -> Iterator[None]:
        """Our user's Ctrl-C goes to the script."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or before == signal.SIG_IGN:
            yield
            return
        signal.signal(signal.SIGINT, self.port.stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _begins(self) -> None:
        """The limits count from here: the clock of an idle board runs faster than code is
        typed."""
        if not self._begun:
            o = self.options
            self.port.limit(o.frames or 0, o.seconds or 0, o.begin)
        self._begun = True

    def go_on(
        self,
        before: Moment,
        frames: int,
        seconds: float,
        tracer: Tracer | None = None,
        changed: tuple[int, bytes] | None = None,
    ) -> tuple[Outcome, int]:
        """How a script would have ended with these limits, and after how many pictures: it goes on
        from before its end (Watched.keep), with other bytes at an address if `changed`, followed
        by that tracer alone. The board is left as it was."""
        now, events = self.board.snapshot(), self.board.events
        self.board.restore(before.board)
        if changed:
            self.board.write_ram(*changed)
        self.board.events = None
        if tracer:
            tracer.start(self.finder, gc=True, live=True)
        try:
            self.port.limit_in_all(frames, seconds)
            self.port.watch()
            _, error = self.repl.rest(_FOREVER)
            return self._ended(error), self.board.state()["frames"]
        except BoardError as e:
            again = isinstance(e.__cause__, Reset)
            ended = Outcome(RESETS) if again else self._broken(e.__cause__, e)
            return ended, self.board.state()["frames"]
        finally:
            self.port.unwatch()
            if tracer:
                tracer.stop()
            self.board.restore(now)
            self.board.events = events

    def _run(self, on_text: Callable[[str], None]) -> Outcome:
        for _ in range(_RESETS):
            self.port.watch()
            try:
                shown = _Shown(on_text)
                out, error = self.repl.run(
                    self.source, _FOREVER, shown.take, on_start=self._begins
                )
                shown.all(out)
                return self._ended(error)
            except BoardError as e:
                cause = e.__cause__
                if not isinstance(cause, Reset):
                    return self._broken(cause, e)
            finally:
                self.port.unwatch()
            on_text("\n(the board restarts: the script runs again)\n")
            try:
                self.repl.boots(60)
                self.tracer.again()
            except (BoardError, NotFound):
                return Outcome(NO_START, over=False)
        return Outcome(RESETS)

    def _ended(self, error: str) -> Outcome:
        with contextlib.suppress(OSError):
            self.port.look()
        self.port.limit(0, 0)  # no Ctrl-C for what comes after the script
        named = error.replace(f'"{RAW_FILE}"', f'"{self.script}"')
        if self.port.stopped:
            return Outcome(INTERRUPTED, named)
        if self.port.limited and "KeyboardInterrupt" in error:
            return Outcome(LIMIT, limited=named)
        return Outcome(RAISED, named) if error else self._exit()

    def _exit(self) -> Outcome:
        """The firmware is silent about sys.exit(): what ended the script is read from its RAM."""
        kind, value = self.tracer.raised()
        if not kind or kind != self.known.exit:
            return Outcome(DONE)
        number, text = exit_value(self.board.ram, value, self.known.text)
        return Outcome(DONE, text, number)

    def _broken(self, cause: BaseException | None, error: BoardError) -> Outcome:
        for kind, word in ((Hangs, HANGS), (Stuck, STUCK), (NotEnding, LIMIT)):
            if isinstance(cause, kind):
                return Outcome(self._not_ending() if word == LIMIT else word, over=False)
        raise error

    def _not_ending(self) -> str:
        """The sentence about a script that goes on after Ctrl-C: a firmware that does not take it
        waits for ever, if not for a device that the board in software lacks."""
        if self.port.stopped:
            return INTERRUPTED
        self.port.limit(0, 0)  # no more of them: a second one takes the first back
        if not self.tracer.interrupted():
            self.board.type(b"\x03")
            self.board.run()
        end = self.board.state()["microseconds"] + _FOR_EVER * 1e6
        while self.tracer.interrupted() and not self.board.said():
            if self.board.state()["microseconds"] > end:
                return STUCK
            self.board.run()
        return LIMIT


class _Shown:
    """Gives what the script prints on as it comes, without what the raw REPL says after its
    end."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._raw = ""
        self._given = 0

    def take(self, text: str) -> None:
        """The next piece of what the board says."""
        self._raw += text
        self.all(self._raw.partition("\x04")[0].replace("\r\n", "\n").rstrip("\r"))

    def all(self, text: str) -> None:
        """The whole output up to now."""
        if len(text) > self._given:
            self._on_text(text[self._given :])
            self._given = len(text)
