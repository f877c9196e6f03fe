# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a board's memory looked like when a script ended, and why it hangs."""

from __future__ import annotations

from itertools import groupby

from maixmem_report import kib

from maixmem_cli.emulator.readers.functions import Functions
from maixmem_cli.emulator.readers.tracer import (
    DAMAGED,
    MALLOC,
    RAW_FILE,
    REALLOC,
    Event,
    Place,
)
from maixmem_cli.emulator.session import (
    HANGING,
    INTERRUPTED,
    NO_START,
    RESETS,
    STUCK,
    Outcome,
    Session,
)
from maixmem_cli.flash import image
from maixmem_cli.heap import heaps
from maixmem_cli.heap.qstrs import Qstrs

_HOLES = 5
# mcause of the RISC-V privileged architecture
_FAULTS = {1: "jumped to", 2: "ran no instruction at", 5: "read at", 7: "wrote to"}
_NULL = 1 << 20  # no device and no RAM is below
_FRAME = 2048  # bytes, guard.c

_NO_START = (
    "the board does not start again after the reset: a real one would not either. The GC heap "
    "that the script stored is too small to boot with"
)
_WAITS = "It waits for input, an interrupt or a device that is not there."
_ASSERTED = (
    "A check of the driver failed, the line above in brackets: it was given a number that it "
    "cannot take"
)


def memory_table(session: Session) -> list[str]:
    """Both heaps as text, or why they cannot be read."""
    ram = session.board.ram
    lines = [f"{'':12}{'used':>11}{'free':>11}{'largest':>11}"]
    try:
        gc = session.finder.gc(ram)
        lines.append(f"{'GC heap':12}{kib(gc.used):>11}{kib(gc.free):>11}{kib(gc.largest):>11}")
    except heaps.NotFound as e:
        lines.append(f"GC heap: {e}")
    try:
        heap = session.finder.system(ram)
    except heaps.NotFound as e:
        return [*lines, f"system heap: {e}"]
    used = sum(c.size for c in heap.used)
    free = heap.end - heap.base - used + heap.heap_free
    lines.append(f"{'system heap':12}{kib(used):>11}{kib(free):>11}{kib(heap.largest):>11}")
    lines.append(f"heap_free() = {heap.heap_free}; {holes_text(heap)}")
    state = session.board.state()
    seconds = state["microseconds"] / 1e6
    return [*lines, f"{state['frames']} frames, {seconds:.1f} s of the board's clock"]


def holes_text(heap: heaps.SystemHeap) -> str:
    """The holes below the top, largest first."""
    sizes = sorted((c.size for c in heap.holes), reverse=True)
    if not sizes:
        return f"no holes, {heap.top_size} in the top chunk"
    shown = ", ".join(str(n) for n in sizes[:_HOLES]) + (", ..." if len(sizes) > _HOLES else "")
    return f"{len(sizes)} holes of {shown}; {heap.top_size} in the top chunk"


def at_line(place: Place, session: Session) -> str:
    """A place with the text of its line."""
    if place.file != RAW_FILE:
        return str(place)
    lines = session.source.splitlines()
    text = lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""
    return f"{session.script.name}:{place.line}: {text}"


def ending(session: Session, outcome: Outcome) -> list[str]:
    """The report of an end that is not the script's own. Needs the hooks."""
    if outcome.kind == NO_START:
        return [_NO_START]
    if outcome.kind in HANGING:
        return hang(session, outcome.kind)
    lines = [] if outcome.over else _goes_on(session)
    if outcome.kind == INTERRUPTED:
        lines.append(f"{session.script.name}: stopped by Ctrl-C")
    if outcome.kind == RESETS:
        lines.append("the script resets the board again and again")
    return lines


def hang(session: Session, kind: str) -> list[str]:
    """Which call, what it requested, what was free. What was not found is reported."""
    what = "hangs: only a reset helps"
    if kind == STUCK:
        waits = session.tracer.interrupted()
        what = "waits in the firmware for ever" if waits else "does nothing any more"
    lines = [f"the board {what}, as a real one would", *where(session), *_fault(session, kind)]
    lines += _refused(session, list(session.tracer.events()))
    if kind == STUCK:
        lines.append(_ASSERTED if session.port.asserted else _WAITS)
    return lines


def damage(session: Session) -> list[str]:
    """The first store that overwrote a chunk's size, or a stack that grew over one, with guard:
    what, by which line and instruction."""
    first = next(session.tracer.of(DAMAGED), None)
    if first is None:
        return []
    chip = image.build(session.firmware)
    code = bytes(chip[image.HEAD.size :][: image.HEAD.unpack_from(chip)[1]])
    lines = session.tracer.stacks(Qstrs(session.board.ram)).get(first.site, ())
    what = f"the size of the chunk at {first.a + 8:#x} became {first.asked:#x}"
    if 0 <= first.a - first.asked < _FRAME:  # no size but a stack's pointer
        what = f"a task's stack, the chunk at {first.a + 8:#x}, ran over its end"
    out = [f"the system heap was damaged: {what}"]
    same = [list(g) for _, g in groupby(lines)]  # a recursion is one line
    for i, group in enumerate(same):
        times = f", {len(group)} times in one another" if len(group) > 1 else ""
        out.append(f"{'   called by' if i else 'at'} {at_line(group[0], session)}{times}")
    return [*out, f"by the instruction at {Functions(code).describe(first.end)}"]


def silence(session: Session, seconds: float) -> list[str]:
    """A script that says nothing: where it is, and how to end it."""
    state = session.board.state()
    text = f"{state['microseconds'] / 1e6:.0f} s of the board's clock, {state['frames']} frames"
    first = f"{session.script.name} has printed nothing for {seconds:.0f} s and goes on ({text})"
    return [first, *where(session), "Next: Ctrl-C ends it; so does --seconds N"]


def _goes_on(session: Session) -> list[str]:
    """A script that Ctrl-C does not end."""
    why = "it catches it, or waits in the firmware for what does not come"
    if session.board.said():
        why += ". The board in software lacks devices that it used, named below"
    return [f"Ctrl-C does not end the script: {why}", *where(session)]


def where(session: Session) -> list[str]:
    """The line that is being run, and those that called it."""
    if session.known.bytecode is None:
        text = "not known, the function that runs bytecode was not found in this firmware"
        return [f"where: {text}"]
    place = session.tracer.here()
    if not place:
        return ["no line of Python is being run"]
    first = f"at {at_line(place[0], session)}"
    return [first, *(f"   called by {at_line(p, session)}" for p in place[1:])]


def _fault(session: Session, kind: str) -> list[str]:
    """The access that the firmware was killed for."""
    hart = session.board.state()["harts"][0]
    did = _FAULTS.get(hart["mcause"])
    if kind == STUCK or not did:
        return []
    at = hart["mbadaddr"]
    why = ", where nothing is" + (": a null pointer" if at < _NULL else "")
    return [f"the firmware {did} {at:#x}{why}"]


def _refused(session: Session, events: list[Event]) -> list[str]:
    refused = [e for e in events if e.kind in (MALLOC, REALLOC) and not e.a and e.asked]
    try:
        heap = session.finder.system(session.board.ram)
        free = f"heap_free() = {heap.heap_free}, {holes_text(heap)}"
        largest = f"the largest block was {heap.largest}"
    except heaps.NotFound as e:
        free, largest = str(e), "the largest block is not known"
    if not refused:
        if "malloc" in session.known.missing:
            return [f"malloc was not found in this firmware. Free now: {free}"]
        return [f"No allocation of the system heap was refused. Free now: {free}"]
    last = refused[-1]
    return [
        (
            f"malloc({last.asked}) of the system heap got nothing: {largest}, {last.asked} "
            "were asked for"
        ),
        f"free: {free}",
    ]
