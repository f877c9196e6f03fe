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
import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Iterator

from maixmem_cli import cli
from maixmem_cli.answer import as_html
from maixmem_cli.emulator import board as boards
from maixmem_cli.emulator import connect, cores, prepared, sd_image
from maixmem_cli.emulator.board import EVENT, Board
from maixmem_cli.emulator.readers import knowledge
from maixmem_cli.emulator.readers.tracer import Tracer
from maixmem_cli.emulator.session import Options, Outcome, Session
from maixmem_cli.emulator.watched import ASSERT
from maixmem_cli.firmware.builds import choose
from maixmem_cli.flash import image
from maixmem_cli.flash.kfpkg import PackageError, read_package
from maixmem_cli.heap import heaps
from maixmem_cli.heap.qstrs import Qstrs
from maixmem_cli.kmodel import example
from maixmem_cli.library import bytecode
from maixmem_cli.plan import addresses, advice, tried
from maixmem_cli.plan.flash_items import ItemError, Layout
from maixmem_cli.profiler import ledger, maps, post_mortem
from maixmem_cli.profiler.profile import Profile
from maixmem_cli.record import record
from maixmem_cli.record.record import Record
from maixmem_cli.runs import image_record, recorded, trials
from maixmem_cli.serial.repl import BoardError
from maixmem_cli.text import toml
from maixmem_k210_chip import FLASH_SIZE

Answer = tuple[str, Any]
_PICTURES = 50  # for which a changed script has to run, as in `maixmem cure`
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


# --- a board at a cable, in the page's hands ---


class PagePort:
    """What RawRepl wants of a serial port. Waits where the browser can hold Python's stack."""

    in_waiting = 1 << 16

    def __init__(self) -> None:
        from pyodide.ffi import can_run_sync

        if not can_run_sync():
            raise OSError(
                "this browser cannot wait for a board (no JSPI). Next: Chrome or Edge 137 or newer"
            )
        self._came = b""

    def read(self, most: int) -> bytes:
        """What has come, after at most 50 ms. OSError: the cable is gone."""
        import page
        from pyodide.ffi import run_sync

        if not self._came:
            found = run_sync(page.heard(_POLL))
            if isinstance(found, str):
                raise OSError(found)
            self._came = found.to_bytes()
        data, self._came = self._came[:most], self._came[most:]
        return data

    def write(self, data: bytes) -> None:
        import page

        page.type(_for_page(data))

    def close(self) -> None: ...


_POLL = 50  # ms
connect.given["page:"] = PagePort
bytecode.built = Path("/cache/maixmem/built")


def content(name: str) -> Answer:
    """The bytes of a file."""
    return _answer(None, Path(name).read_bytes())


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


def speak(language: str) -> Answer:
    """What commands say from now on is in this language, where they know it."""
    os.environ["LANG"] = {"zh": "zh_CN.UTF-8"}.get(language, "en_US.UTF-8")
    return _answer(None)


# --- the flash and the card of the page's board ---


def places(firmware: str, models: list[str], script: str) -> Answer:
    """An address for each model that has none (FILE, not FILE@ADDRESS): the one that the script
    names for it, else a free one; and what the command says of the whole: {file: address},
    findings. `unsure`: models of which the script does not say who is at which address."""
    found: dict[str, int] = {}
    try:
        layout = Layout.of([firmware] if firmware else [], FLASH_SIZE)
    except ItemError as e:
        return _answer({"places": found, "findings": [["unusable", str(e)]], "unsure": []})
    fixed = [m for m in models if "@" in m or m.endswith(".kfpkg")]
    for item in fixed:
        layout.add(item)
    free = {m: Path(m).stat().st_size for m in models if m not in fixed}
    taken = [r.start for r in layout.map.regions]
    wanted = addresses.placed(script, free, taken)
    for name, nbytes in sorted(free.items(), key=lambda row: row[0] not in wanted.at):
        # where models begin in MaixPy's own examples, else anywhere
        room = layout.map.gap_for(nbytes, 1 << 20, 0x300000) or layout.map.gap_for(nbytes)
        at = wanted.at.get(name, room)
        if at is not None:
            found[name] = at
            layout.add(f"{name}@{at:#x}")
    told = {"places": found, "findings": layout.verdicts(), "unsure": wanted.unsure}
    return _answer(told)


def project(firmware: str, files: list[tuple[int, str]]) -> Answer:
    """A project of the files that were dropped: models that take turns, a camera, a display."""
    models = [(at, name) for at, name in files if at]
    if not models:
        return _answer({"text": ""})
    top = {"firmware": firmware or "full", "lcd": True}
    tables: list[tuple[str, dict[str, Any]]] = [("[camera]", {"size": "QVGA"})]
    for at, name in models:
        row = {"name": Path(name).stem, "file": name, "address": at, "resident": False}
        tables.append(("[[model]]", row))
    title = "What the program puts into memory: maixmem fit says whether it fits."
    return _answer({"text": toml.write(title, top, tables)})


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
    except BoardError as e:
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

    def __init__(self, flash: bytes) -> None:
        self.asked: list[list[object]] = []
        self._parts = {boards._FLASH: memoryview(flash)}
        self._new = 0

    def look(self, ram: bytes, state: bytes, events: bytes) -> None:
        """Another moment."""
        found = ((boards._RAM, ram), (self._STATE, state), (boards._EVENT, events))
        self._parts.update((part, memoryview(data)) for part, data in found)
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
        return self._parts.get(at >> 24, memoryview(b""))[first : first + size]

    def write(self, at: int, data: cores.Bytes) -> None:
        raise cores.CoreFailed("it runs elsewhere")

    def close(self) -> None: ...


@dataclass(frozen=True)
class _Port:
    """What a report asks of the port of a board that runs elsewhere."""

    asserted: bool


class Watched:
    """One run of a script on the page's board."""

    def __init__(
        self, firmware: str, script: str, known: knowledge.Knowledge, options: Options
    ) -> None:
        self.core = Still(bytes(image.build(Path(firmware), list(options.files))))
        self.session = Session(Path(firmware), Path(script), options)
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

    def profile(self, outcome: Outcome, *, asserted: bool) -> Profile:
        """What was traced, for the record of the run."""
        session = self.session
        session.port = _Port(asserted)  # type: ignore[assignment]
        found = Profile(session, outcome)
        if outcome.kind in record.HANGING:
            found.ending = post_mortem.ending(session, outcome)
        session.tracer.where()
        found.collect()
        found.finish()
        return found


_watched: Watched | None = None
_finder = heaps.Finder()
_proofs: Iterator[tried.Tried] = iter(())  # what next_change() goes on with


def learn(firmware: str) -> Answer:
    """Learns the firmware, so that a run can be watched; the names of what was not found."""
    return _answer(knowledge.learn(image.build(Path(firmware)), firmware).missing)


def watch(
    firmware: str, script: str, files: list[tuple[int, str]], ram: bytes, state: bytes
) -> Answer:
    """A script is about to run on a board at its prompt, with these files in flash: what to ask
    of the board before."""
    global _watched
    known = knowledge.learn(image.build(Path(firmware)), firmware)
    options = Options(files=tuple((at, Path(name)) for at, name in files if at), camera="pattern")
    _watched = Watched(firmware, script, known, options)
    _watched.look(ram, state, b"")
    try:
        _watched.books = ledger.Ledger(*_watched.heaps())
        _watched.session.tracer.start(_watched.session.finder, gc=False, marks=True)
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


def ended(
    kind: str, error: str, output: str, language: str, ram: bytes, state: bytes, events: bytes
) -> Answer:
    """The answer to why a run ended so (a word of record.py), as HTML; the line of the script;
    `more`: what the command says of a hang; `may_help`: whether a change of the script may."""
    if not _watched or not _watched.books:
        return _answer({"html": "", "line": 0, "more": [], "may_help": False})
    _watched.look(ram, state, events)
    found = _watched.profile(
        Outcome(kind, error, over=False), asserted=bool(ASSERT.search(output.encode()))
    )
    run = _with_gc(image_record.of_profile(found, output), _watched)
    made = advice.of_run(run, language, output)
    html = as_html.fragment(made) if made else ""
    line = made.facts.get("line", 0) if made else 0
    may = bool(made) and advice.may_help(made)
    return _answer({"html": html, "line": line, "more": found.ending, "may_help": may})


def try_changes(
    firmware: str, script: str, files: list[tuple[int, str]], camera: str, language: str
) -> Answer:
    """A script is run on a board of Python's own, to try changes of it with next_change(); `over`:
    it ran as it is."""
    global _proofs
    path, image = Path(script), Path(firmware)
    options = Options(
        files=tuple((at, Path(name)) for at, name in files if at),
        camera=camera,
        frames=_PICTURES,
        seconds=trials.SECONDS,
        begin=trials.BEGIN,
    )
    place = recorded.Place(choose(firmware), image, options)
    bench = tried.Bench(trials.Trials(place), options.files)
    before = recorded.once(path, place)
    made = advice.of_run(before, language)
    if made is None:
        return _answer({"over": True, "html": "", "script": None})
    source = path.read_text(encoding="utf-8")
    _proofs = advice.proofs(made, before, path, source, bench)
    return _answer({"over": False})


def next_change() -> Answer:
    """Tries the next change, in the order of `maixmem sim`. It is `over` with one that runs, or
    the last: the answer as HTML, with the change as a diff; `script`: with it, or None."""
    found = next(_proofs)
    if found is None:
        return _answer({"over": False})
    edit, told = found
    script = edit and edit.source
    return _answer({"over": True, "html": as_html.fragment(told), "script": script})


def _with_gc(run: Record, watched: Watched) -> Record:
    """With the GC heap as it is: its allocations were not followed."""
    refused = run.end.refused
    if not refused or refused.heap != record.GC:
        return run
    gc = watched.heaps()[1]
    level = record.Level(gc.total, gc.free, gc.largest)
    return replace(run, end=replace(run.end, refused=replace(refused, level=level)))


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
