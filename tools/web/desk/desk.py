# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the page asks of Python: the commands as they are, and the page's own board read with the
command's modules. Runs in Pyodide, in the folder where the user's files are.

Every function that the page calls answers (JSON, bytes or None).
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, Callable

from maixmem_cli import cli
from maixmem_cli.emulator import board as boards
from maixmem_cli.emulator import cores, prepared, sd_image
from maixmem_cli.emulator.board import EVENT, Board
from maixmem_cli.emulator.readers import knowledge
from maixmem_cli.emulator.readers.tracer import Tracer
from maixmem_cli.emulator.session import Options, Outcome, Session
from maixmem_cli.errors import table
from maixmem_cli.firmware.builds import choose
from maixmem_cli.flash import image
from maixmem_cli.flash.kfpkg import PackageError, read_package
from maixmem_cli.heap import heaps
from maixmem_cli.heap.qstrs import Qstrs
from maixmem_cli.kmodel import example
from maixmem_cli.plan.flash_items import ItemError, Layout
from maixmem_cli.profiler import ledger, maps, post_mortem
from maixmem_k210_chip import FLASH_SIZE

Answer = tuple[str, Any]
_BESIDE = 850 << 10  # a QVGA camera, what the first works with, half of what the second does


def _answer(data: object, more: bytes | bytearray | None = None) -> Answer:
    return json.dumps(data), more


# --- boards of Python's own ---


class PageCore:
    """An instance of the module that the browser runs, for cores.new()."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def call(self, name: str, *args: int) -> int:
        try:
            return self._made.call(name, *args)
        except Exception as e:
            raise cores.CoreFailed(str(e)) from e

    def read(self, at: int, size: int) -> bytes:
        return self._made.read(at, size).to_bytes()

    def write(self, at: int, data: cores.Bytes) -> None:
        self._made.write(at, _for_page(data))

    def close(self) -> None:
        self._made = None


def _for_page(data: cores.Bytes) -> Any:
    from pyodide.ffi import to_js

    return to_js(data)


def _start() -> None:
    with contextlib.suppress(ImportError):  # else this is a test, on a desk
        import page

        cores.given = lambda: PageCore(page.new_core())


_start()


# --- the commands ---


class _Told(io.StringIO):
    """What a command says, shown as it comes."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def write(self, text: str) -> int:
        self._show(text)
        return super().write(text)


def _say(text: str) -> None:
    with contextlib.suppress(ImportError):
        import page

        page.say(text)


def command(words: list[str], wanted: str = "") -> Answer:
    """`maixmem WORDS`: its exit status, stdout and stderr, and the text of the file that it was
    to write."""
    out, err = io.StringIO(), _Told(_say)
    status: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main(words, prog_name="maixmem")
        except SystemExit as e:
            status = e.code
    written = Path(wanted).read_text() if wanted and Path(wanted).is_file() else ""
    told = {"out": out.getvalue(), "err": err.getvalue(), "file": written}
    return _answer({"status": status or 0, **told})


# --- the flash and the card of the page's board ---


def places(firmware: str, models: list[str]) -> Answer:
    """An address for each model that has none (FILE, not FILE@ADDRESS), and what the command
    says of the whole: {file: address}, findings."""
    found: dict[str, int] = {}
    try:
        layout = Layout.of([firmware] if firmware else [], FLASH_SIZE)
    except ItemError as e:
        return _answer({"places": found, "findings": [["unusable", str(e)]]})
    for item in sorted(models, key=lambda m: "@" not in m):
        if "@" in item or item.endswith(".kfpkg"):
            layout.add(item)
        else:
            nbytes = Path(item).stat().st_size
            # where models begin in MaixPy's own examples, else anywhere
            at = layout.map.gap_for(nbytes, 1 << 20, 0x300000) or layout.map.gap_for(nbytes)
            if at is not None:
                found[item] = at
                layout.add(f"{item}@{at:#x}")
    return _answer({"places": found, "findings": layout.verdicts()})


def holds_firmware(name: str) -> Answer:
    """Whether a package brings a firmware."""
    try:
        return _answer(any(m.address == 0 for m in read_package(name)))
    except PackageError:
        return _answer(False)


def example_models(firmware: str) -> Answer:
    """Writes classes.kmodel and faces.kmodel, ours: they load and find nothing. Each fits beside
    a camera on this firmware; of the second, the file still fits, and not what it works with:
    that hangs a board. The bytes of one, they are alike."""
    heap = choose(firmware).measured().heap if firmware else None
    data = example.data(((heap or 2 << 20) - _BESIDE) // 2)
    for name in ("classes.kmodel", "faces.kmodel"):
        Path(name).write_bytes(data)
    return _answer(["classes.kmodel", "faces.kmodel"], data)


def chip(
    firmware: str, files: list[tuple[int, str]], modules: list[str], library: bool, card: list[str]
) -> Answer:
    """The flash for a board with these files at addresses, modules on /flash, the library; and
    the card, if there is one."""
    try:
        there = dict(prepared.files_of_library()) if library else {}
        there.update({Path(m).name: Path(m) for m in modules})
        placed = [(at, Path(name)) for at, name in files]
        sd = _card(card, there) if card else None
        if there and not card:
            with prepared.booted(Path(firmware), placed, there) as made:
                flash = bytes(made.flash)
        else:
            flash = bytes(image.build(Path(firmware), placed))
    except (image.ImageError, sd_image.CardError, boards.BoardStopped, OSError) as e:
        return _answer({"error": str(e)})
    except prepared.BoardError as e:
        return _answer({"error": str(e)})
    return _answer({"flash": len(flash)}, flash + bytes(sd or b""))


def _card(names: list[str], modules: dict[str, Path]) -> bytes:
    with tempfile.TemporaryDirectory() as temp:
        for name in names:
            shutil.copy(name, Path(temp) / Path(name).name)
        return bytes(sd_image.build(Path(temp), modules))


# --- the page's board, looked at ---


class Still:
    """A core that does not run: the page's board at one moment. What is requested
    of it is kept, to be done there."""

    _STATE = 200

    def __init__(self) -> None:
        self.asked: list[list[object]] = []
        self._parts: dict[int, memoryview] = {}
        self._new = 0

    def look(self, ram: bytes, state: bytes, events: bytes) -> None:
        """Another moment."""
        found = ((boards._RAM, ram), (self._STATE, state), (boards._EVENT, events))
        self._parts = {part: memoryview(data) for part, data in found}
        self._new = len(events) // EVENT.size

    def call(self, name: str, *args: int) -> int:
        if name == "k_place":
            return args[0] << 24
        if name == "k_size":
            return len(self._parts.get(args[0], b""))
        if name == "k_state":
            return self._STATE << 24
        if name == "k_took_events":
            new, self._new = self._new, 0
            return new
        if name in ("k_trace", "k_hook", "k_untrace"):
            self.asked.append([name, *args])
            return 1
        return 0

    def read(self, at: int, size: int) -> memoryview:
        first = at & 0xFFFFFF
        return self._parts[at >> 24][first : first + size]

    def write(self, at: int, data: cores.Bytes) -> None:
        raise cores.CoreFailed("it runs elsewhere")

    def close(self) -> None: ...


class Watched:
    """One run of a script on the page's board."""

    def __init__(self, firmware: str, script: str, known: knowledge.Knowledge) -> None:
        self.core = Still()
        self.session = Session(Path(firmware), Path(script), Options())
        self.session.known = known
        self.books: ledger.Ledger | None = None

    def look(self, ram: bytes, state: bytes, events: bytes) -> None:
        """Takes in what came since the last look."""
        self.core.look(ram, state, events)
        if not hasattr(self.session, "board"):
            self.session.board = Board(b"", core=self.core)
            self.folder = tempfile.TemporaryDirectory()
            self.session.tracer = Tracer(
                self.session.board, self.session.known, Path(self.folder.name)
            )
        self.session.board.where()  # takes the events

    def heaps(self) -> tuple[heaps.SystemHeap, heaps.GcHeap]:
        """Both, as they are. NotFound."""
        ram = self.session.board.ram
        return self.session.finder.system(ram), self.session.finder.gc(ram)


_watched: Watched | None = None
_finder = heaps.Finder()


def learn(firmware: str) -> Answer:
    """Learns the firmware, so that a run can be watched; the names of what was not found."""
    return _answer(knowledge.learn(image.build(Path(firmware)), firmware).missing)


def watch(firmware: str, script: str, ram: bytes, state: bytes) -> Answer:
    """A script is about to run on a board at its prompt: what to ask of the board before."""
    global _watched
    known = knowledge.learn(image.build(Path(firmware)), firmware)
    _watched = Watched(firmware, script, known)
    _watched.look(ram, state, b"")
    try:
        _watched.books = ledger.Ledger(*_watched.heaps())
        _watched.session.tracer.start(_watched.session.finder, gc=False)
    except heaps.NotFound as e:
        return _answer({"error": str(e), "calls": []})
    return _answer({"calls": [["k_untrace"], *_watched.core.asked]})


def look(ram: bytes) -> Answer:
    """Both heaps, chunk by chunk."""
    global _finder
    try:
        return _answer(maps.as_json(_finder.system(ram), _finder.gc(ram)))
    except heaps.NotFound as e:
        _finder = heaps.Finder()
        return _answer({"error": str(e)})


def hang(kind: str, ram: bytes, state: bytes, events: bytes) -> Answer:
    """Why the board hangs, or is stuck, in the words of the command."""
    if not _watched:
        return _answer([])
    _watched.look(ram, state, events)
    return _answer(post_mortem.ending(_watched.session, Outcome(kind, over=False)))


def where(ram: bytes, state: bytes, events: bytes) -> Answer:
    """Where the script is, and both heaps as text."""
    if not _watched:
        return _answer([])
    _watched.look(ram, state, events)
    session = _watched.session
    return _answer([*post_mortem.where(session), "", *post_mortem.memory_table(session)])


def owners(ram: bytes, state: bytes, events: bytes) -> Answer:
    """{address: the line that allocated it} of the system heap's chunks."""
    if not _watched or not _watched.books:
        return _answer({})
    _watched.look(ram, state, events)
    session = _watched.session
    system, gc = _watched.heaps()
    books = ledger.Ledger(system, gc)
    books.chunks.clear()
    books.feed(list(session.tracer.events()))
    stacks = session.tracer.stacks(Qstrs(session.board.ram))
    named = {a: stacks.get(site, ()) for a, (_, site, _) in books.chunks.items()}
    return _answer({a: post_mortem.at_line(s[0], session) for a, s in named.items() if s})


def meaning(text: str) -> Answer:
    """What the last line of a traceback means, and what to do."""
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    means, steps = table.answer(last) or ("", [])
    return _answer({"means": means, "steps": steps})
