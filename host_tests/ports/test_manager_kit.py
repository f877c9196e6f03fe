# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The checks of a port find wrong ones: a right port for an invented board passes them all, and
each of the mistakes that an author can make fails in the check that is for it."""

from __future__ import annotations

import os
from pathlib import Path

import maixmem
import maixmem_port
import manager_kit as kit
import pytest
from faults import Faults

PAGE = 4096


class OutOfPages(Exception):
    """What the runtime raises where it has no memory."""


class Board:
    """256 KiB in pages, of which a load needs four more until it is done. A number that was freed
    is refused."""

    PAGES, WORKSPACE = 64, 4

    def __init__(self) -> None:
        self.faults = Faults()
        self.restart()

    def restart(self) -> None:
        self.loaded: dict[int, int] = {}
        self.other = self.last = 0
        self.faults.clear()

    def free(self) -> int:
        return self.PAGES - self.other - sum(self.loaded.values())

    def load(self, path: str) -> int:
        self.faults.point("load")
        pages = -(-os.stat(path).st_size // PAGE)
        if pages + self.WORKSPACE > self.free():
            raise OutOfPages("no pages")
        self.last += 1
        self.loaded[self.last] = pages
        return self.last

    def release(self, number: int) -> None:
        self.faults.point("release")
        del self.loaded[number]
        self.faults.point("released")


board = Board()


class Loaded:
    number: int | None = None

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


class Port(maixmem_port.Port):
    """The right one."""

    name = "pages"
    margin = 0
    uninterrupted = True

    def inspect(self, source):
        need = -(-os.stat(source).st_size // PAGE) * PAGE
        return maixmem.Cost({"npu": need}, {"npu": need + board.WORKSPACE * PAGE})

    def check_fit(self, cost, margin=0, freed=()):
        need, free = cost.peak["npu"] + margin, self.free_bytes() + self.given(freed)
        if need <= free:
            return None
        return maixmem.NoRoom(f"{need} bytes, {free} are free", "npu", need, free)

    def given(self, freed):
        return sum([x.nbytes for x in freed if x.number is not None])

    def room(self, region):
        return self.free_bytes()

    def free_bytes(self):
        return board.free() * PAGE

    def load(self, source):
        found = Loaded(self.inspect(source).need["npu"])
        try:
            found.number = board.load(source)
        except OutOfPages as e:
            raise maixmem.NoRoom(str(e), "npu", None, self.free_bytes()) from e
        return found

    def unload(self, handle):
        if handle.number in board.loaded:
            board.release(handle.number)
        handle.number = None


class Rig:
    share = "evict"
    faults = board.faults
    refusal = ("load", OutOfPages("no pages"))

    def __init__(self, folder: Path, port: type = Port) -> None:
        self.port = port
        self.models = [(str(folder / name), {}) for name in "abcd"]
        for n, (path, _) in enumerate(self.models, 1):
            Path(path).write_bytes(bytes(9000 + 6000 * n))

    def start(self):
        board.restart()
        return self.port()

    def fill(self, left: int) -> None:
        board.other = 0
        board.other = max(0, board.free() - left // PAGE)

    def live(self) -> int:
        return sum(board.loaded.values()) * PAGE


ERRORS = (OSError(5), MemoryError("no"), OutOfPages("no pages"), KeyboardInterrupt())


@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda check: check.__name__)
def test_the_right_port_passes(check, tmp_path: Path) -> None:
    check(Rig(tmp_path))


def test_the_right_port_passes_every_fault_point(tmp_path: Path) -> None:
    done = kit.sweep(Rig(tmp_path), ERRORS)
    assert len(done) == len(kit.SCENARIOS) and min(done.values()) >= 2 * len(ERRORS)


# --- wrong ones ---


class PeakWithoutWorkspace(Port):
    def inspect(self, source):
        need = super().inspect(source).need
        return maixmem.Cost(need, need)


class NeedNotRounded(Port):
    def inspect(self, source):
        return maixmem.Cost({"npu": os.stat(source).st_size}, super().inspect(source).peak)


class NeedIsPeak(Port):
    def inspect(self, source):
        peak = super().inspect(source).peak
        return maixmem.Cost(peak, peak)


class ErrorNotTranslated(Port):
    def load(self, source):
        found = Loaded(self.inspect(source).need["npu"])
        found.number = board.load(source)
        return found


class PlainMemoryError(Port):
    def load(self, source):
        try:
            return super().load(source)
        except maixmem.NoRoom as e:
            raise MemoryError(str(e)) from e


class AlwaysFits(Port):
    def check_fit(self, cost, margin=0, freed=()):
        return None


class KeepsSomeForItself(Port):
    def check_fit(self, cost, margin=0, freed=()):
        return super().check_fit(cost, margin + 8192, freed)


class NeverCountsWhatGoes(Port):
    def given(self, freed):
        return 0


class GuessesWhatGoes(Port):
    """The sizes of its handles are not known: whatever was free once may be free again."""

    def given(self, freed):
        return board.PAGES * PAGE - self.free_bytes() if freed else 0


class FreeBytesUnknown(Port):
    def check_fit(self, cost, margin=0, freed=()):
        need, free = cost.peak["npu"] + margin, board.free() * PAGE + self.given(freed)
        return None if need <= free else maixmem.NoRoom("no", "npu", need, free)

    def free_bytes(self):
        return 0


class FreeBytesMissing(FreeBytesUnknown):
    free_bytes = maixmem_port.Port.free_bytes

    def room(self, region):
        return board.free() * PAGE


class FreeBytesInKib(FreeBytesUnknown):
    def free_bytes(self):
        return board.free() * PAGE >> 10


class SecondReleaseRaises(Port):
    def unload(self, handle):
        board.release(handle.number)


@pytest.mark.parametrize(
    ("port", "check", "says"),
    [
        (PeakWithoutWorkspace, kit.check_the_last_check_is_safe, "load.. refuses: .*no pages"),
        (NeedNotRounded, kit.check_the_forecast_is_what_stays, "need 15000, .* board 16384"),
        (NeedIsPeak, kit.check_the_forecast_is_what_stays, "need 32768, .* board 16384"),
        (ErrorNotTranslated, kit.check_a_refusal_for_memory_frees_one_more, "raise NoRoom: OutOf"),
        (PlainMemoryError, kit.check_a_refusal_for_memory_frees_one_more, "raise NoRoom: Memory"),
        (AlwaysFits, kit.check_the_last_check_is_safe, "agrees with 1 bytes free"),
        (KeepsSomeForItself, kit.check_the_last_check_is_safe, "the peak of 32768 bytes is free"),
        (NeverCountsWhatGoes, kit.check_what_goes_makes_room, "32768 bytes, .* are free"),
        (GuessesWhatGoes, kit.check_nothing_is_freed_in_vain, "a was freed in vain"),
        (FreeBytesUnknown, kit.check_the_forecast_is_what_stays, "measured None"),
        (FreeBytesMissing, kit.check_they_take_turns, "this platform cannot"),
        (FreeBytesInKib, kit.check_the_forecast_is_what_stays, "16384, measured 16"),
        (SecondReleaseRaises, kit.sweep, "point .*KeyError"),
    ],
    ids=lambda x: x.__name__ if isinstance(x, type) else "",
)
def test_a_wrong_port_fails(port: type, check, says: str, tmp_path: Path) -> None:
    rig = Rig(tmp_path, port)
    more = (ERRORS,) if check is kit.sweep else ()
    with pytest.raises((AssertionError, maixmem.NoRoom, NotImplementedError), match=says):
        check(rig, *more)


def test_every_check_of_the_forecast_finds_something() -> None:
    marks = test_a_wrong_port_fails.pytestmark  # type: ignore[attr-defined]
    used = {row[1] for row in marks[0].args[1]}
    named = [c for c in kit.CHECKS if c.__module__ == kit.__name__]
    first = named.index(kit.check_the_forecast_is_what_stays)
    assert set(named[first : named.index(kit.check_many_switches)]) <= used
