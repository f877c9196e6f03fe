# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a board's memory looked like when a script ended, and why it hangs."""

from __future__ import annotations

from maixmem_report import kib

from maixmem_cli.k210 import heaps
from maixmem_cli.k210.qstrs import Qstrs
from maixmem_cli.k210.session import RAW_FILE, STUCK, Session
from maixmem_cli.k210.tracer import MALLOC, REALLOC, Event, Place

_HOLES = 5


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


def hang(session: Session, kind: str) -> list[str]:
    """Which call, what it asked for, what was free. What was not found is said."""
    session.tracer.where()
    events = list(session.tracer.events())
    stacks = session.tracer.stacks(Qstrs(session.board.ram))
    what = "does nothing any more" if kind == STUCK else "hangs: only a reset helps"
    lines = [f"the board {what}, as a real one would"]
    place = next((stacks[e.site] for e in reversed(events) if stacks.get(e.site)), ())
    if place:
        lines.append(f"at {at_line(place[0], session)}")
        lines += [f"   called by {at_line(p, session)}" for p in place[1:]]
    elif session.known.bytecode is None:
        lines.append(
            "where: not known, the function that runs bytecode was not found in this firmware"
        )
    lines += _refused(session, events)
    if kind == STUCK:
        lines.append("It waits for input, an interrupt or a device that is not there.")
    return lines


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
        f"malloc({last.asked}) of the system heap got nothing: {largest}, {last.asked} were asked for",
        f"free: {free}",
        "Next: release a model or the camera first, a smaller gc_heap_size, or maixmem fit",
    ]
