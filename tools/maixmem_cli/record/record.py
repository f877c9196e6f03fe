# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The record of one run of a script: what it did to both heaps, line by line, and how it ended.

A run on a firmware image or on the stand-in leaves one; fit, sim, profile and cure judge it, and
nothing else. Sizes are bytes; None is "not known", never 0. docs/record.md has each field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

VERSION = 2  #: of the JSON: it is raised when a field changes its meaning or goes
IMAGE, STAND_IN = "image", "stand-in"
GC, HEAP = "gc", "heap"  #: the two heaps: MicroPython's, and the system heap of the firmware
# how a run ended
DONE, LIMIT, RAISED, RESETS, INTERRUPTED = "done", "limit", "raised", "resets", "interrupted"
HANGS, STUCK, NO_START = "hangs", "stuck", "no_start"
HANGING = (HANGS, STUCK, NO_START)  #: only a reset, or a new flash, helps
# what a step did
LOAD, FREE, CAMERA, WINDOW, LCD, GC_HEAP = "load", "free", "camera", "window", "lcd", "gc_heap"
THREAD = "thread"  # on the stand-in: not run; of `nbytes` of stack, which may be too few
# what a program wanted that this run did not have
MODEL, CARD, SENSOR, MODULE, DEVICE = "model", "card", "sensor", "module", "device"
PLACE = "place"  # for one more open file of /flash: it answers as if that were not there


@dataclass(frozen=True)
class Place:
    """A line of Python. `text` is that line, where its file is known."""

    file: str
    line: int
    function: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Level:
    """One heap at one moment: `free` in all, `largest` in one piece. Of the GC heap what is
    garbage counts as free where `collected`. `heap_free`: what the firmware's call of that name
    says of the system heap, at the least up to then."""

    total: int
    free: int
    largest: int | None = None
    collected: bool = False
    heap_free: int | None = None


@dataclass(frozen=True)
class Model:
    """A model that was loaded: the file on the desk, where the board found it (`address` in flash
    or `path`), how (a method of maixmem_kmodel), and how many bytes of system heap it keeps."""

    file: str
    nbytes: int
    address: int | None = None
    path: str = ""
    method: str = "load_addr"
    keeps: int | None = None


@dataclass(frozen=True)
class Step:
    """One thing that the program did to the board, `at` its lines, the innermost first, after
    so many `pictures`. `failed`: it did not succeed. Which of the others exist follows from
    `kind`."""

    kind: str
    at: tuple[Place, ...] = ()
    pictures: int = 0
    failed: bool = False
    gc: Level | None = None  #: after it
    heap: Level | None = None
    model: Model | None = None  #: load, free
    size: tuple[int, int] | None = None  #: camera, window, lcd: width and height
    frame: str = ""  #: camera: the name in sensor
    dual_buff: bool = False  #: camera
    nbytes: int | None = None  #: what it took of the system heap; gc_heap: the size that was set


@dataclass(frozen=True)
class Line:
    """What one line took of one heap: at the fullest moment, at the end, in all, in how many
    allocations, the largest of them."""

    heap: str
    place: Place
    at_peak: int
    at_end: int
    in_all: int
    count: int
    largest: int = 0


@dataclass(frozen=True)
class Least:
    """The moment at which a heap had least left."""

    heap: str
    level: Level
    at: tuple[Place, ...] = ()
    pictures: int | None = None  #: taken before it


@dataclass(frozen=True)
class Growth:
    """A line that keeps more with every round of Record.rounds: `each` bytes a round. `dies`: the
    round in which the heap is full, by all of them together. `kind`: a leak of the program, of the
    firmware, a recursion."""

    heap: str
    place: Place
    each: int
    dies: int | None = None
    kind: str = "leak"


@dataclass(frozen=True)
class Refused:
    """The allocation that ended the run: `asked` bytes where the heap was like `level`."""

    heap: str
    asked: int | None = None
    level: Level | None = None
    at: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Missing:
    """What a program wanted that the run did not have: one of the words above, its name."""

    kind: str
    name: str = ""


@dataclass(frozen=True)
class Caught:
    """An error that came to a line of the program and ended nothing: of what the run did not have,
    or, without `missing`, for want of memory."""

    error: str
    at: tuple[Place, ...] = ()
    missing: Missing | None = None


@dataclass(frozen=True)
class End:
    """How it ended: one of the words above, with its lines and, of an exception, its traceback
    and its last line. `status` is the script's own."""

    kind: str
    at: tuple[Place, ...] = ()
    error: str = ""
    traceback: str = ""
    status: int = 0
    caught: bool = False  #: the script caught `error` itself and went on, or ended
    refused: Refused | None = None
    missing: Missing | None = None
    words: tuple[str, ...] = ()  #: what is said about a hang
    overflow: bool = False  #: the stack of a thread was written past its end

    @property
    def hangs(self) -> bool:
        return self.kind in HANGING


@dataclass(frozen=True)
class Work:
    """What was computed: models that ran before the first picture, and in each round from one
    picture to the next that came to its end."""

    before: int
    rounds: tuple[int, ...] = ()

    def as_much_as(self, other: Work) -> bool:
        """Whether models ran as often: before the pictures, and in the rounds."""
        return self.before + sum(self.rounds) >= other.before + sum(other.rounds) and (
            not other.rounds or not self.rounds or median(self.rounds) >= median(other.rounds)
        )


@dataclass(frozen=True)
class Board:
    """What the script ran on: `on` an image or the stand-in, its name and path, the build where
    that is known, the GC heap that it was set to, what was put there: {address or path: file}."""

    on: str
    name: str
    path: str = ""
    build: str = ""
    gc_heap: int = 0
    flash: dict[str, str] = field(default_factory=dict)
    card: dict[str, str] | None = None  #: None: no card was in
    camera: bool = True
    v4: bool | None = None  #: its firmware runs kmodel V4; None: not known


@dataclass(frozen=True)
class Record:
    """One run. `pictures`: that it took; `asked`: how many it was to take at most. `rounds`: of
    the loop that is judged, each of one picture or of more; None: not seen, and what grows is
    counted by pictures."""

    script: str
    board: Board
    end: End
    pictures: int = 0
    rounds: int | None = None
    asked: int | None = None
    seconds: float = 0.0
    begin: dict[str, Level] = field(default_factory=dict)  #: {heap: when the script began}
    steps: tuple[Step, ...] = ()
    left_out: int = 0  #: steps of later rounds that are not kept
    lines: tuple[Line, ...] = ()
    least: tuple[Least, ...] = ()
    growth: tuple[Growth, ...] = ()
    later: End | None = None  #: run on because something grew, it died so of that
    later_pictures: int = 0  #: that it had taken then
    settled: int | None = None  #: the picture from which on nothing grew more, where it was seen
    too_few: bool = False  #: rounds, to tell whether something grows
    close: bool = False  #: on the stand-in: with a little more GC heap, or less, it ends otherwise
    lingers: bool = False  #: on the stand-in: with a lost picture still there it ends otherwise
    packs: bool = False  #: it made a JPEG as of a black picture, on an image as of a pattern
    detail: End | None = None  #: on the stand-in, with those full of detail, it ends so, and dies
    cut: bool = False  #: run on because something grew, its time was over too soon to tell
    statements: int = 0  #: of the script that it did, where counted; a call of an image is 100
    caught: tuple[Caught, ...] = ()
    once: tuple[int, ...] = ()  #: lines of the script in no loop and no function
    reached: tuple[int, ...] | None = None  #: lines of it that ran; on an image, took of a heap
    work: Work | None = None  #: None: not seen (on the stand-in)
    imports: tuple[str, ...] = ()  #: modules of the library that it used
    unknown: tuple[str, ...] = ()  #: what could not be found out, in words
    version: int = VERSION

    @property
    def counted(self) -> int:
        """In what growth is counted: rounds, or pictures where those were not seen."""
        return self.pictures if self.rounds is None else self.rounds

    @property
    def each_round(self) -> float:
        """Pictures a round; 1 where that was not seen."""
        return self.pictures / self.rounds if self.rounds and self.pictures else 1.0

    @property
    def first_full(self) -> Growth | None:
        """What grows until a heap is full, the one of which that is first."""
        dying = [g for g in self.growth if g.dies is not None]
        return min(dying, key=lambda g: g.dies or 0, default=None)

    def least_of(self, heap: str) -> Least | None:
        """Where that heap had least left."""
        return next((x for x in self.least if x.heap == heap), None)

    @property
    def not_run(self) -> Step | None:
        """Where a thread was not run, or may have taken more than its stack, on the stand-in."""
        return next((x for x in self.steps if x.kind == THREAD), None)

    @property
    def lacked(self) -> Caught | None:
        """The first thing that the program wanted, did not get in this run, and went on
        without."""
        return next((c for c in self.caught if c.missing), None)

    @property
    def says_why(self) -> bool:
        """It ended, and printed an error that it had caught: that one counts."""
        return self.end.kind == DONE and self.end.caught

    @property
    def ran(self) -> bool:
        """It came to its end or to all its pictures, nothing was refused, no stack was too
        small."""
        return self.end.kind in (DONE, LIMIT) and not self.end.refused and not self.end.overflow

    @property
    def ends_well(self) -> bool:
        """It ran, and nothing grows that would end it later; what ends by itself may keep things
        up to its end."""
        return self.ran and not (self.growth and self.end.kind == LIMIT)

    def holders(self, heap: str, most: int = 3) -> list[tuple[Line, int]]:
        """The lines that have most of a heap, with their bytes: now, where the board hangs, else
        at the fullest moment."""
        has = [
            (n, n.at_end if self.end.hangs else n.at_peak) for n in self.lines if n.heap == heap
        ]
        return sorted((row for row in has if row[1]), key=lambda row: -row[1])[:most]

    def of(self, kind: str) -> Iterator[Step]:
        """The steps of one kind, in order."""
        return (s for s in self.steps if s.kind == kind)
