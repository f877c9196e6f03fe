# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A K210 board in software as an object: run, talked to over its serial line, looked into, copied.

Nothing runs but in run(): its RAM is what it is between two calls.
"""

from __future__ import annotations

import itertools
import struct
import zlib
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

from k210_model.heap import RAM_START

from maixmem_cli.emulator import cores
from maixmem_cli.emulator.compiler import version

RAM_SIZE = 8 << 20
IDLE, HANGS, OUTPUT, TRACED, RESET, NO_FIRMWARE = 1, 2, 4, 8, 16, 32  #: what run() answers
ROUNDS = 2000  #: of 1,000 instructions a core: some 10 ms of this machine
EVENT = struct.Struct("<QIIQQQ")  #: what a traced board tells, trace.h
PACKED = b"3"  #: how a snapshot is packed
# k_place's numbers
_RAM, _FLASH, _CARD, _FILM, _IN, _OUT, _EVENT, _SAID, _PIXELS, _SEEN, _FIRST_STATE = range(11)
_MEMORIES = (_RAM, _FLASH, _CARD)  # with the state, from _FIRST_STATE on: all that a board is
# What k_state tells, in this order, and after it for each hart.
_STATE = (
    "instructions microseconds idle_microseconds frames asks pixels resets typed hangs limited "
    "width height lost cycles"
).split()
_HART = "mepc mcause mbadaddr pc".split()
_HART_SIZE = len(_HART) + 32
_LCD_W = 480


class BoardStopped(OSError):
    """Nothing more comes from this board; the text says why."""


@dataclass(frozen=True)
class Snapshot:
    """All that a board is at one moment, whichever core ran it; its camera's pictures are not."""

    parts: tuple[bytes | bytearray, ...]
    unread: bytes | bytearray = b""

    def pack(self) -> bytes:
        """As few bytes as a file needs: 1 to 3 MB."""
        whole = (*self.parts, self.unread)
        head = struct.pack(f"<{1 + len(whole)}Q", len(whole), *map(len, whole))
        return PACKED + version().encode() + zlib.compress(b"".join((head, *whole)), 1)

    @staticmethod
    def unpack(data: bytes) -> Snapshot:
        """The snapshot that was packed. ValueError: it is of a board of another version."""
        mark = PACKED + version().encode()
        if not data.startswith(mark):
            raise ValueError("a snapshot of another board")
        try:
            whole = memoryview(zlib.decompress(data[len(mark) :]))
        except zlib.error as e:
            raise ValueError(f"a damaged snapshot: {e}") from e
        (count,) = struct.unpack_from("<Q", whole)
        sizes = struct.unpack_from(f"<{count}Q", whole, 8)
        ends = list(itertools.accumulate(sizes, initial=8 * (1 + count)))
        *parts, unread = (bytes(whole[a:b]) for a, b in zip(ends, ends[1:]))
        return Snapshot(tuple(parts), unread)


# Owns its core. `unread`: what it said and nobody took; `events`: takes what is traced.
class Board:
    """One board. Use it as a context manager; leaving ends it.

    board.snapshot() is all that it is; board.restore(snapshot) puts it back there, and
    Board(snapshot) is another board that goes on from there: a fork costs some 40 ms.
    """

    events: BinaryIO | None = None

    def __init__(
        self,
        flash: bytes | bytearray | Snapshot,
        *,
        sd: bytes | None = None,
        camera: bytes | None = None,
        core: cores.Core | None = None,
    ) -> None:
        """`flash`: the chip's bytes, for a board that is switched on; or a snapshot.

        `sd` are the card's bytes, `camera` the pictures that the camera sees (pictures.film).
        NoBoardHere says what this machine lacks.
        """
        kept = flash if isinstance(flash, Snapshot) else None
        sd = kept.parts[_MEMORIES.index(_CARD)] if kept else sd
        self.core = core or cores.new()
        self.unread = bytearray()
        self._words = ""
        self._places: dict[int, int] = {}
        self._call("k_new", len(sd or b""), len(camera or b""))
        for part, data in ((_FLASH, None if kept else flash), (_CARD, sd), (_FILM, camera)):
            if data:
                self.core.write(self._place(part), data)  # type: ignore[arg-type]
        if kept:
            self.restore(kept)
        else:
            self._call("k_start")

    def _call(self, name: str, *args: int) -> int:
        try:
            return self.core.call(name, *args)
        except cores.CoreFailed as e:
            raise BoardStopped(f"the board in software failed: {e}") from e

    def _place(self, part: int) -> int:
        if part not in self._places:
            self._places[part] = self._call("k_place", part)
        return self._places[part]

    def _part(self, part: int) -> cores.Bytes:
        return self.core.read(self._place(part), self._call("k_size", part))

    @property
    def ram(self) -> cores.Bytes:
        """The 8 MiB of RAM; a view that changes while the board runs, or a copy."""
        return self._part(_RAM)

    @property
    def flash(self) -> cores.Bytes:
        """The 16 MiB of the flash chip, likewise."""
        return self._part(_FLASH)

    def write_ram(self, address: int, data: bytes) -> None:
        """Puts bytes into the RAM from outside; no machine code."""
        self.core.write(self._place(_RAM) + address - RAM_START, data)

    def write_flash(self, at: int, data: bytes) -> None:
        """Puts bytes on the chip from outside, as a programmer does."""
        self.core.write(self._place(_FLASH) + at, data)

    def run(self, rounds: int = ROUNDS) -> int:
        """Runs both cores, until there is something to be seen; why it came back: IDLE and so on.

        BoardStopped when there is no firmware, or the C failed."""
        why = self._call("k_run", rounds)
        said = self._call("k_took_out")
        if said:
            self.unread += self.core.read(self._place(_OUT), said)
        if why & NO_FIRMWARE:
            raise BoardStopped(
                "no firmware at 0x000000 of the flash: the boot ROM would find nothing"
            )
        self._take_events()
        return why

    def _take_events(self) -> None:
        number = self._call("k_took_events") if self.events is not None else 0
        if self.events is not None and number:
            place = self._place(_EVENT)
            self.events.write(self.core.read(place, number * EVENT.size))

    def type(self, data: bytes) -> None:
        """Sends bytes to the serial line; the board runs while there is no room for them."""
        while data:
            piece = data[: self._call("k_size", _IN)]
            self.core.write(self._place(_IN), piece)
            data = data[self._call("k_type", len(piece)) :]
            if data:
                self.run(ROUNDS // 10)

    def state(self) -> dict[str, Any]:
        """Instructions, its clock, frames, whether it hangs, the registers of both harts."""
        count = len(_STATE) + 2 * _HART_SIZE
        found = self.core.read(self._call("k_state"), 8 * count)
        numbers = struct.unpack(f"<{count}Q", found)
        state: dict[str, Any] = dict(zip(_STATE, numbers))
        harts = [numbers[i : i + _HART_SIZE] for i in range(len(_STATE), count, _HART_SIZE)]
        state["harts"] = [{**dict(zip(_HART, h)), "x": [0, *h[len(_HART) + 1 :]]} for h in harts]
        return state

    def picture(self) -> bytes:
        """The display: width and height in 16 bits each, then the pixels, RGB565."""
        state, pixels = self.state(), self._part(_PIXELS)
        w, h = state["width"], state["height"]
        rows = [pixels[2 * _LCD_W * y :][: 2 * w] for y in range(h)]
        return struct.pack("<HH", w, h) + b"".join(rows)

    def limit(self, frames: int, seconds: float) -> None:
        """Types Ctrl-C after so many pictures and so much time of its clock; 0: never."""
        self._call("k_limit", frames, int(1e6 * seconds))

    def trace(self, top: int, table: int, table_bytes: int) -> None:
        """Traces from now on: the word of the top chunk, the GC's table or 0 and 0."""
        self._call("k_trace", top, table, table_bytes)

    def hook(self, kind: int, address: int) -> None:
        """Tells of the function there."""
        if not self._call("k_hook", address, kind) & 1:
            raise ValueError(f"no code at {address:#x}")

    def live(self, state: int, books: int, threads: int) -> None:
        """Looks at what is in use, from now on: the interpreter's state, the GC's books in it; the
        word that points to the list of threads, or 0."""
        self._call("k_live", state, books, threads)

    @property
    def seen(self) -> cores.Bytes:
        """What of RAM the fullest look followed, at its place; the 32 registers are in front."""
        return self.core.read(self._call("k_place", _SEEN), self._call("k_size", _SEEN))

    def guard(self, base: int, top: int) -> None:
        """Watches the heads of the chunks, from the first one; the word of the top chunk."""
        self._call("k_guard", base, top)

    def where(self) -> None:
        """Adds an event that says where the board is."""
        self._call("k_where")
        self._take_events()

    def untrace(self) -> None:
        self._take_events()
        self._call("k_untrace")

    def snapshot(self) -> Snapshot:
        """All of it, to be restored here or in another board (Board(snapshot))."""
        parts = tuple(bytes(self._part(p)) for p in self._all_parts())
        return Snapshot(parts, bytes(self.unread))

    def _all_parts(self) -> tuple[int, ...]:
        return (*_MEMORIES, *range(_FIRST_STATE, self._call("k_parts")))

    def restore(self, snapshot: Snapshot) -> None:
        """Puts everything back to that moment; ValueError when its card is another size."""
        for part, data in zip(self._all_parts(), snapshot.parts):
            if len(data) != self._call("k_size", part):
                raise ValueError("the snapshot is of a board that is made otherwise")
            if data:
                self.core.write(self._place(part), data)
        self._call("k_forget")
        self.unread[:] = snapshot.unread

    def said(self) -> str:
        """What the board in software reported up to now: devices that are not modelled."""
        number = self._call("k_took_said")
        self._words += bytes(self.core.read(self._place(_SAID), number)).decode()
        return self._words

    def stop(self) -> None:
        """Ends the board."""
        self.core.close()

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
