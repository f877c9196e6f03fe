# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot as it was taken: who the board is, the table of blocks, memory and names; in a file.

The file is a series of records. Each begins with a line of words in ASCII; three kinds of them are
followed by so many bytes as their line gives, then a line feed. Records may come in any order,
`end` is the last. What a reader does not know it ignores, but for the version.

    maixmem-heap 1                          the version of this format
    board word=4 types=536877080 main=... modules=... asker=... empty=6 before=... after=...
    interpreter NAME MAJOR MINOR PLATFORM   as micropython 1 22 rp2
    program idle|running                    whether a program was under way
    garbage collected|kept                  whether it was collected before
    area POOL BYTES + bytes                 an area of the GC heap that begins at address POOL: its
                                            table, two bits a block as py/gc.c keeps them (0 free,
                                            1 head, 2 tail, 3 marked head; the first in the lowest)
    memory ADDRESS BYTES + bytes            a piece of memory, in whole words
    name NUMBER BYTES + bytes               the name of this number, in UTF-8
    chunk ADDRESS BYTES USED                of a K210's system heap: 1 used, 0 a hole, 2 the top
    end

Numbers are decimal. `types` is id(type), `main` id(globals()) of __main__, `modules`
id(sys.modules), `empty` id(""), `asker` the id() of the dict of names of who takes the snapshot
(0: none of its own). `before` and `after` are gc.mem_alloc() around the collection of garbage.

Of memory are needed: all live blocks but the contents of str, bytes, bytearray and array; the type
of each object, as many bytes as two words; the interpreter's state, 4 KiB before `main` (nothing
before a multiple of 64 KiB) and 6 KiB behind it; the stack in use. What is missing reads as 0, and
what only it leads to has no owner.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from maixmem_cli.heap import blocks, roots, threads
from maixmem_cli.heap.heaps import HEAD_BYTES, Chunk, SystemHeap
from maixmem_cli.heap.layout import REPRESENTATIONS, Layout
from maixmem_cli.heap.memory import Pages, Range, ranges_of
from maixmem_cli.heap.objects import Moment
from maixmem_cli.heap.table import Area

VERSION = 1
_MAGIC = "maixmem-heap"
_TOP = 2  # of a chunk: the top one
#: numbers of the record of this name
BOARD = ("word", "types", "main", "modules", "asker", "empty", "before", "after")


class SnapshotError(ValueError):
    """This is no snapshot, or one that cannot be read."""


class Known:
    """Names by their number, as far as they are known; missing ones are noted."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}
        self.missing: set[int] = set()
        self.missed = False

    def text(self, number: int) -> str:
        """The name of this number, or "?"."""
        text = self.texts.get(number)
        if text is None:
            self.missing.add(number)
            self.missed = True
            return "?"
        return text


@dataclass
class Taken:
    """What was read of a board, and its memory. `board` has the numbers of the record of that
    name. `idle`: no program was under way; `collected`: garbage was, before. `chunks`: (address,
    bytes, used) of a K210's system heap."""

    board: dict[str, int]
    interpreter: str
    version: tuple[int, int]
    platform: str
    areas: list[Area]
    memory: Pages
    names: Known = field(default_factory=Known)
    idle: bool = True
    collected: bool = True
    chunks: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def layout(self) -> Layout:
        return layout(self.board["word"], self.board["empty"], self.version, self.platform)

    @property
    def system(self) -> SystemHeap | None:
        """The system heap of a K210, where it was read."""
        if not self.chunks:
            return None
        (top, top_size), *_ = [(a - HEAD_BYTES, n) for a, n, used in self.chunks if used == _TOP]
        chunks = tuple(Chunk(a, n, used == 1) for a, n, used in self.chunks if used != _TOP)
        base = min([top, *(c.address - HEAD_BYTES for c in chunks)])
        return SystemHeap(0, base, top, top_size, chunks)

    def moment(self) -> Moment:
        """For the readers of objects. SnapshotError where the interpreter's state is not found."""
        board = self.board
        pools = {area.pool: area.end for area in self.areas}
        asker = board["asker"] or board["main"]
        found = roots.find(self.memory, board["main"], asker, pools)
        if not found:
            raise SnapshotError(
                f"the state of {self.interpreter} {self.version[0]}.{self.version[1]} is not "
                f"found near {board['main']:#x}: its layout is not known"
            )
        state, stack = found
        sizes = {a: n for area in self.areas for a, n in area.sizes.items()}
        others = self._threads(sizes, stack)
        stacks = [stack, *(t.stack for t in others)]
        self.memory.readable += [_whole(s, self.memory.page) for s in stacks]
        return Moment(
            memory=self.memory,
            layout=self.layout,
            sizes=sizes,
            types=board["types"],
            globals=board["main"],
            state=state,
            modules=board["modules"],
            asker=board["asker"],
            stacks=stacks,
            threads=[t.node for t in others],
            contents=False,
            idle=self.idle,
        )

    def _threads(self, sizes: dict[int, int], running: Range) -> list[threads.Thread]:
        """Those that the script has begun, as far as their stacks can be read."""
        memory, n = self.memory, threads.WORDS * self.layout.word
        spare = threads.SPARE if self.platform in _PYTHON else 0
        nodes = [a for a, size in sizes.items() if n <= size < n + self.layout.block]
        while True:
            for at in nodes:
                memory.need(at, n)
            found = list(threads.of_script(memory, nodes, running, spare))
            if not memory.fetch():
                return found


def _whole(piece: Range, page: int) -> Range:
    low, high = piece
    return low - low % page, high + -high % page


#: MicroPython of a platform whose sys.implementation has the version of the firmware
_PYTHON = {"MaixPy": (1, 11)}


def layout(word: int, empty: int, version: tuple[int, int], platform: str) -> Layout:
    """How an interpreter of this version lays its objects out."""
    return Layout(word, empty, _PYTHON.get(platform, version))


def check_layout(word: int, empty: int, what: str) -> None:
    """SnapshotError for an interpreter whose objects are not understood."""
    if word not in (4, 8) or empty not in REPRESENTATIONS:
        raise SnapshotError(
            f"{what}: words of {word} bytes with {empty:#x} for the empty text: this layout of "
            "objects (py/obj.h, MICROPY_OBJ_REPR) is not known, only A, B and C are"
        )


def chunks_of(system: SystemHeap) -> list[tuple[int, int, int]]:
    """As Taken has them."""
    out = [(c.address, c.size, int(c.used)) for c in system.chunks]
    return [*out, (system.top + HEAD_BYTES, system.top_size, _TOP)]


# --- the file ---
def packed(taken: Taken) -> bytes:
    """The contents of its file."""
    out = bytearray()

    def record(*words: object, data: bytes | None = None) -> None:
        line = [*map(str, words), *([] if data is None else [str(len(data))])]
        out.extend(" ".join(line).encode() + b"\n")
        if data is not None:
            out.extend(data + b"\n")

    record(_MAGIC, VERSION)
    record("board", *(f"{key}={taken.board[key]}" for key in BOARD))
    record("interpreter", taken.interpreter, *taken.version, taken.platform)
    record("program", "idle" if taken.idle else "running")
    record("garbage", "collected" if taken.collected else "kept")
    for area in taken.areas:
        record("area", area.pool, data=blocks.packed(area.states))
    pages, page = taken.memory.pages, taken.memory.page
    for low, high in ranges_of(pages, page):
        for first, end in _present(pages, range(low, high, page)):
            data = b"".join(pages[at] for at in range(first, end, page))
            record("memory", first, data=data)
    for number, text in sorted(taken.names.texts.items()):
        record("name", number, data=text.encode())
    for chunk in taken.chunks:
        record("chunk", *chunk)
    record("end")
    return bytes(out)


def _present(pages: dict[int, bytes], firsts: range) -> list[Range]:
    """The parts of a range that were read."""
    out: list[Range] = []
    for at in firsts:
        if at not in pages:
            continue
        if out and out[-1][1] == at:
            out[-1] = (out[-1][0], at + firsts.step)
        else:
            out.append((at, at + firsts.step))
    return out


def is_one(path: Path) -> bool:
    """Whether a file begins as a snapshot."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC.encode()


def load(path: Path) -> Taken:
    """A saved snapshot. SnapshotError, OSError."""
    return _Reader(path.read_bytes(), str(path)).taken()


class _Reader:
    """Goes through the records once."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data, self._name, self._at = data, name, 0

    def _line(self) -> list[str]:
        end = self._data.find(b"\n", self._at)
        if end < 0:
            raise self._broken("it ends in the middle")
        line, self._at = self._data[self._at : end], end + 1
        return line.decode(errors="replace").split()

    def _bytes(self, n: int) -> bytes:
        data = self._data[self._at : self._at + n]
        self._at += n + 1
        if len(data) < n:
            raise self._broken("it ends in the middle")
        return data

    def _broken(self, why: str) -> SnapshotError:
        return SnapshotError(
            f"{self._name}: no whole snapshot: {why}, at byte {self._at}. Next: take it again"
        )

    def taken(self) -> Taken:
        """All of it."""
        first = self._line()
        if first[:1] != [_MAGIC]:
            raise self._broken("it does not begin as one")
        if first[1:] != [str(VERSION)]:
            raise SnapshotError(
                f"{self._name}: version {' '.join(first[1:])} of the format, this reads "
                f"{VERSION}. Next: a newer maixmem"
            )
        try:
            return self._records()
        except (ValueError, KeyError, IndexError) as e:
            if isinstance(e, SnapshotError):
                raise
            raise self._broken(f"a record is wrong ({e})") from None

    def _records(self) -> Taken:
        board: dict[str, int] = {}
        who = ["?", "1", "0", "?"]
        tables: list[tuple[int, bytes]] = []
        memory: list[tuple[int, bytes]] = []
        chunks: list[tuple[int, int, int]] = []
        names, idle, collected = Known(), True, True
        while True:
            kind, *words = self._line() or [""]
            if kind == "end":
                break
            if kind == "board":
                board = {k: int(v) for k, _, v in (word.partition("=") for word in words)}
            elif kind == "interpreter":
                who = words
            elif kind == "program":
                idle = words == ["idle"]
            elif kind == "garbage":
                collected = words == ["collected"]
            elif kind == "area":
                tables.append((int(words[0]), self._bytes(int(words[1]))))
            elif kind == "memory":
                memory.append((int(words[0]), self._bytes(int(words[1]))))
            elif kind == "name":
                names.texts[int(words[0])] = self._bytes(int(words[1])).decode()
            elif kind == "chunk":
                chunks.append((int(words[0]), int(words[1]), int(words[2])))
        board = {key: board[key] for key in BOARD}
        word = board["word"]
        check_layout(word, board["empty"], self._name)
        pages = Pages(word, word, [])
        for address, data in memory:
            pages.put(address, data)
        areas = [
            Area(pool, blocks.states(table), blocks_of(word)) for pool, table in sorted(tables)
        ]
        version = int(who[1]), int(who[2])
        platform = " ".join(who[3:])
        return Taken(
            board, who[0], version, platform, areas, pages, names, idle, collected, chunks
        )


def blocks_of(word: int) -> int:
    """Bytes of a block where a word has so many."""
    return Layout(word).block
