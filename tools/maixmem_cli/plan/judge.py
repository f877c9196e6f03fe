# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The verdict on a record: the program fits, does not, or the run cannot tell and why."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from maixmem_report import kib

from maixmem_cli.answer.tables import board_text
from maixmem_cli.plan import unreached
from maixmem_cli.plan.endless import begins_anew, is_endless
from maixmem_cli.plan.program.made import is_load
from maixmem_cli.profiler.growth import ENOUGH
from maixmem_cli.record import record
from maixmem_cli.record.record import GC, Growth, Level, Place, Record
from maixmem_cli.runs import ending
from maixmem_cli.runs.standin_record import WITHIN

FITS, NOT, CANNOT_TELL = "FITS", "DOES NOT FIT", "CANNOT TELL"
#: bytes by which a piece of the stand-in's GC heap may differ, and the part of a large request:
#: small objects lie in other pieces (150 KiB beside histograms, of which 8.3 lacked, were made on
#: the firmware)
_BETWEEN, _BETWEEN_PART = 2048, 16
STATUS = {FITS: 0, NOT: 1, CANNOT_TELL: 4}
_HANGS = 3
_PATTERN = "the emulated camera's pattern"
HEAPS = {"gc": "GC heap", "heap": "system heap"}
_WANTED = {
    record.MODEL: "a model{} that this run does not have",
    record.CARD: "a file or a card{} that this run does not have",
    record.PLACE: "a place for one more open file{}: /flash has two",
    record.SENSOR: "a camera{}",
    record.MODULE: "a module{} that is not there",
    record.DEVICE: "a device{} that is not in a board in software",
}


@dataclass(frozen=True)
class Verdict:
    """`kind`: one of the three; `lines`: of it, the first says it all; `status`: of a command."""

    kind: str
    status: int
    lines: tuple[str, ...]

    error: tuple[str, ...] = ()  #: the last line of the traceback that ended it, if one did

    @property
    def fits(self) -> bool:
        return self.kind == FITS


def judge(of: Record, source: str = "") -> Verdict:
    """The verdict on a run. `source`: the script's text, for what of it was not reached."""
    return replace(_judged(of, source), error=(of.end.error,) if of.end.error else ())


def with_flash(verdict: Verdict, harm: Sequence[str]) -> Verdict:
    """The verdict on a program whose models destroy, or lose, something in flash: the run itself
    may have gone well."""
    if not harm or verdict.kind == CANNOT_TELL:
        return verdict
    first, *more = harm
    lines = (f"{NOT}: {first}", *more, f"in memory, {verdict.lines[0]}", *verdict.lines[1:])
    return replace(verdict, kind=NOT, status=max(verdict.status, STATUS[NOT]), lines=lines)


def _judged(of: Record, source: str) -> Verdict:
    end = of.end
    if end.kind == record.STUCK or (end.hangs and end.missing):
        return _cannot_tell(_why_not_told(of))
    if end.hangs:
        return Verdict(NOT, _HANGS, tuple(_not(of)))
    if end.overflow:
        return Verdict(NOT, STATUS[NOT], tuple(_overran(of)))
    if (idle := _idle(of)) and (of.first_full or (end.refused and end.refused.heap == GC)):
        return _cannot_tell(_threads(of, idle))  # it may free what was kept
    if end.refused and (why := _close_to_room(of, end.refused)):
        return _cannot_tell(_refused_closely(of, end.refused, why))
    if end.refused and (end.kind == record.RAISED or end.caught):  # of a thread, the rest goes on
        return Verdict(NOT, STATUS[NOT], tuple(_not(of)))
    if end.kind == record.RAISED and ending.of_picture(end.error):
        return Verdict(NOT, STATUS[NOT], tuple(_not(of)))
    if end.kind not in (record.DONE, record.LIMIT) or of.says_why:
        return _cannot_tell(_why_not_told(of))
    if end.kind == record.LIMIT and not of.pictures and of.asked and _takes_pictures(source):
        return _cannot_tell(_why_not_told(of))
    if end.kind == record.LIMIT and of.first_full:
        return _growing(of, source, of.first_full)
    if open_still := [*_not_seen(of, source)]:
        return _cannot_tell(open_still)
    return Verdict(FITS, STATUS[FITS], tuple(_fits(of, source)))


def _growing(of: Record, source: str, first: Growth) -> Verdict:
    """Of a run in which something grew, up to where it was run on."""
    bounded = of.settled or of.cut or not is_endless(source, first.place.line)
    if of.later is None and bounded:
        return _cannot_tell(_grows(of, first, CANNOT_TELL))
    refused = of.later.refused if of.later else None
    if of.later and refused and begins_anew(source, first.place.line):
        if why := _close_to_room(of, refused):
            return _cannot_tell(_refused_closely(replace(of, end=of.later), refused, why))
    status = _HANGS if of.later and of.later.hangs else STATUS[NOT]
    return Verdict(NOT, status, tuple(_grows(of, first, NOT)))


def _not_seen(of: Record, source: str) -> Iterator[str]:
    """What a run that went well did not see, and may end another."""
    if of.lacked:
        yield from _lacked(of, of.lacked)
    elif of.end.kind == record.LIMIT and of.board.on == record.STAND_IN and of.unknown:
        yield f"{CANNOT_TELL}: {of.script}: nobody saw whether something grows"
        yield f"{of.unknown[0]}; on {_on(of)}"
        yield "Next: --firmware IMAGE runs it on the firmware itself"
    elif of.not_run:
        yield from _threads(of, of.not_run)
    elif close := _too_close(of):
        yield from close
    elif of.detail:
        yield from _of_detail(of, of.detail)
    elif want := unreached.too_much(of, source):
        yield from _may_want(of, source, want)


def _idle(of: Record) -> record.Step | None:
    """Where a thread was started that did not run, or had no more turns."""
    thread = of.not_run
    return thread if thread and not thread.nbytes else None


def _too_close(of: Record) -> tuple[str, ...]:
    """The lines where less was left than the stand-in's figures may be wrong by."""
    least = of.least_of(GC) if of.board.on == record.STAND_IN else None
    if least is None or not (of.close or of.lingers or least.level.free < WITHIN):
        return ()
    left = f"{kib(least.level.free)} of the GC heap were left, {_at(of, least)}"
    if of.lingers:
        return (f"{CANNOT_TELL}: too close: {left}", *_may_stay(of))
    less = (f"with {kib(WITHIN)} less it does not run",) if of.close else ()
    return (f"{CANNOT_TELL}: too close: {left}", *less, *_is_within(of))


def _may_stay(of: Record) -> Iterator[str]:
    yield "with one picture still in it that the program has lost it does not run"
    yield f"a word on the firmware's stack may keep one; seen on {_on(of)}"
    yield "Next: --firmware IMAGE runs it on the firmware itself"


def _of_detail(of: Record, end: record.End) -> Iterator[str]:
    yield f"{CANNOT_TELL}: {where(end.at, of.script)}: it depends on what the camera sees"
    asked = end.refused and end.refused.asked
    what = f"requests {kib(asked)} and dies" if asked else "dies"
    here = of.board.on == record.STAND_IN
    there, others = ("there", "black ones") if here else ("on the stand-in", _PATTERN)
    yield f"with JPEGs of pictures full of detail it {what} {there}; with those of {others} not"
    image = "--firmware IMAGE " if here else ""
    yield f"seen on {_on(of)}. Next: {image}--camera PICTURE makes them of yours"


def _of_pattern(of: Record) -> Iterator[str]:
    """A run on an image that has JPEGs of no camera."""
    if of.packs and of.board.on != record.STAND_IN:
        yield f"its JPEGs are as large as of {_PATTERN}. Next: --camera PICTURE"


def _is_within(of: Record) -> Iterator[str]:
    yield f"the stand-in's figures are within {kib(WITHIN)} of a board's; seen on {_on(of)}"
    yield "Next: --firmware IMAGE runs it on the firmware itself"


def _close_to_room(of: Record, refused: record.Refused) -> str:
    """Why the stand-in may refuse what a board has room for."""
    if of.close:
        return f"with {kib(WITHIN)} more it runs"
    asked, level = refused.asked or 0, refused.level
    if of.board.on != record.STAND_IN or not level or level.largest is None or asked <= WITHIN:
        return ""
    lacks = asked - level.largest
    little = max(_BETWEEN, asked // _BETWEEN_PART)
    if refused.heap == GC and level.free >= asked and 0 < lacks <= little:
        return f"there is enough, in pieces, and the largest lacks {lacks} bytes"
    return ""


def _refused_closely(of: Record, refused: record.Refused, why: str) -> Iterator[str]:
    asked = f"requested {kib(refused.asked)} of the GC heap" if refused.asked else of.end.error
    yield f"{CANNOT_TELL}: too close: {where(of.end.at, of.script)}: {asked}{_free(refused.level)}"
    yield why
    yield from _is_within(of)


def _at(of: Record, least: record.Least) -> str:
    return where(least.at, of.script) if least.at else "before its first line"


def _may_want(of: Record, source: str, want: unreached.Want) -> Iterator[str]:
    """A line that did not run, and what it takes if it does."""
    at = Place(of.script, want.line, text=source.splitlines()[want.line - 1].strip())
    least = of.least_of(want.heap)
    heap = HEAPS[want.heap]
    each, of_it = "", "that is with what its branch keeps before"
    if want.more:
        each, of_it = " each time, which its list keeps", "nothing in its loop takes it out"
    wants = f"may take up to {kib(want.nbytes)} of the {heap}{each}"
    wants = wants if want.nbytes else "adds to a list each time"
    yield f"{CANNOT_TELL}: {where((at,), of.script)} did not run, and {wants}"
    if least:
        left = f"at the least {kib(least.level.free)} were left, {_at(of, least)}"
        yield f"{of_it}; {left}"
    yield f"another picture or input may come to it; seen on {_on(of)}"


def may_end(of: Record, verdict: Verdict) -> bool:
    """Whether what grows may stop by itself: a longer run is the next step, and no change."""
    return (
        verdict.kind == CANNOT_TELL and of.first_full is not None and of.end.kind == record.LIMIT
    )


def _cannot_tell(lines: Iterable[str]) -> Verdict:
    return Verdict(CANNOT_TELL, STATUS[CANNOT_TELL], tuple(lines))


def where(at: tuple[Place, ...], script: str) -> str:
    """The innermost line of the script itself, with its text."""
    own = [p for p in at if p.file == script] or [*at]
    text = own[0].text.rstrip(":") if own else ""
    return f"{own[0]}: {text}" if text else str(own[0]) if own else "no line"


def _on(of: Record) -> str:
    text = board_text(of.board)
    return text if of.board.on == record.STAND_IN else f"{text}, the firmware itself"


def _length(of: Record) -> str:
    if not of.pictures:
        return f"no picture, {of.seconds:.0f} s of the board's clock"
    return _pictures(of.pictures)


def _pictures(number: int) -> str:
    return f"{number} picture{'s' if number > 1 else ''}"


def _each(of: Record) -> str:
    """What growth is counted by."""
    return "picture" if of.rounds is None else "round"


def _fits(of: Record, source: str) -> Iterator[str]:
    end = "ran to its end" if of.end.kind == record.DONE else "ran"
    yield f"{FITS}: it {end} on {_on(of)}, {_length(of)}"
    for least in of.least:
        at = _at(of, least)
        yield f"{HEAPS[least.heap]}: at the least {kib(least.level.free)} left, {at}"
    for g in of.growth:
        kept = f"kept {kib(g.each)} more each {_each(of)} up to the end"
        yield f"{where((g.place,), of.script)} {kept}"
    yield from too_few(of)
    yield from _of_pattern(of)
    if of.packs:
        on = "" if of.board.on == record.STAND_IN else " on the stand-in"
        yield f"with JPEGs as large as of pictures full of detail it ran as well{on}"
    for caught in of.caught:
        yield f"caught by the script: {where(caught.at, of.script)}: {caught.error}"
    for line, text in _not_reached(of, source):
        yield f"not reached, so nothing is said of it: {of.script}:{line}: {text}"


def too_few(of: Record) -> Iterator[str]:
    """A sentence where a run that nothing ended was too short to see what grows."""
    if of.too_few and of.end.kind == record.LIMIT:
        few = of.rounds is None or of.rounds < ENOUGH
        enough = f"{ENOUGH} are enough" if few else "what is kept now and then needs more"
        yield f"too few rounds to tell whether something grows: {enough}"


def _not(of: Record) -> Iterator[str]:
    end = of.end
    at = end.at or (end.refused.at if end.refused else ())
    what = "the board hangs at " if end.hangs else ""
    after = f" after {_pictures(of.pictures)}" if of.pictures else ""
    yield f"{NOT}: {what}{where(at, of.script)}{after}"
    if end.error:
        yield end.error
    if end.refused:
        refused = end.refused
        asked = kib(refused.asked) if refused.asked is not None else "an unknown size"
        yield f"requested {asked} of {HEAPS[refused.heap]}{_free(refused.level)}"
        yield from _holders(of, refused.heap)
        yield from _of_pattern(of)
    else:
        yield from end.words
    yield f"on {_on(of)}"


def _overran(of: Record) -> Iterator[str]:
    """Nothing has come of it in this run."""
    yield f"{NOT}: {where(of.end.at, of.script)} takes more than a thread's stack"
    yield "it was written past its end, over what lies there: another run may hang"
    yield f"on {_on(of)}"


def _free(level: Level | None) -> str:
    if level is None:
        return ""
    piece = "" if level.largest is None else f", at most {kib(level.largest)} in one piece"
    return f", free were {kib(level.free)}{piece}"


def _holders(of: Record, heap: str) -> Iterator[str]:
    """Who has the rest."""
    for n, nbytes in of.holders(heap):
        yield f"  {kib(nbytes)} have {n.place}: {n.place.text}"


def _grows(of: Record, first: Growth, kind: str) -> Iterator[str]:
    seen = of.later_pictures if of.rounds is None and of.later else 0
    when = "by" if of.board.on == record.STAND_IN and not seen else "in"  # no pieces are counted
    dies = f"{when} {_each(of)} {seen or first.dies}"
    if_so = "if that goes on, " if kind == CANNOT_TELL else ""
    yield (
        f"{kind}: {where((first.place,), of.script)} keeps {kib(first.each)} more each "
        f"{_each(of)}; {if_so}the {HEAPS[first.heap]} is full {dies}"
    )
    if kind == CANNOT_TELL and of.settled:
        frames = max(of.asked or 0, of.settled + ENOUGH)
        yield (
            f"on the stand-in it grows no more from {_each(of)} {of.settled} on: that was not "
            f"reached here. Next: --frames {frames}"
        )
    elif kind == CANNOT_TELL and of.cut:
        yield "a longer run, which was to show that, took too much time here"
        yield "Next: once more when the computer has nothing else to do, or --firmware IMAGE"
    elif kind == CANNOT_TELL:
        yield "its loop may end before: that was not reached. Next: more --frames"
    elif of.later:
        how = "hangs" if of.later.hangs else "ends it"
        at = where(of.later.at, of.script)
        yield f"run on, it {how} after {_pictures(of.later_pictures)}: {at}"
    for g in of.growth:
        if g is not first:
            yield f"{where((g.place,), of.script)} keeps {kib(g.each)} more each {_each(of)}"
    yield from _of_pattern(of)
    rounds = "" if of.rounds is None else f"{of.rounds} rounds of its loop, "
    yield f"seen in {rounds}{_length(of)} on {_on(of)}"


def _why_not_told(of: Record) -> Iterator[str]:
    end = of.end
    at = where(end.at, of.script)
    if end.missing:
        yield f"{CANNOT_TELL}: {at} needs {_needed(end.missing)}"
    elif end.kind == record.STUCK:
        yield f"{CANNOT_TELL}: {at} waits for what does not come in this run"
    elif end.kind == record.LIMIT:
        time = f"{of.seconds:.0f} s of the board's clock"
        line = f"{at}: " if end.at else ""
        yield f"{CANNOT_TELL}: {line}no picture was taken in {time}"
    elif end.error:
        yield f"{CANNOT_TELL}: {at} ends it, and not for want of memory"
    else:
        yield f"{CANNOT_TELL}: the run ended early ({end.kind})"
    if end.error:
        yield end.error
    yield f"what comes after it was not reached; seen on {_on(of)}"


def _lacked(of: Record, first: record.Caught) -> Iterator[str]:
    """It went on without what it wanted: what it does with that was not run."""
    assert first.missing
    yield f"{CANNOT_TELL}: {where(first.at, of.script)} needs {_needed(first.missing)}"
    yield f"the program caught {first.error}, and went on without it"
    for more in of.caught:
        if more.missing and more is not first:
            yield f"also {where(more.at, of.script)}: {more.error}"
    yield f"what it does with it was not reached; seen on {_on(of)}"


def _threads(of: Record, first: record.Step) -> Iterator[str]:
    """What a thread does was not run, or may be otherwise on a board."""
    who = where(first.at, of.script) if first.at else of.script
    if first.nbytes:
        stack = f"the {first.nbytes} bytes of a thread's stack"
        yield f"{CANNOT_TELL}: {who} may take more than {stack}"
        yield "Next: _thread.stack_size(32768) before start_new_thread()"
    else:
        yield f"{CANNOT_TELL}: {who} starts a thread, which was not run"
    yield f"what it does was not reached; seen on {_on(of)}. Next: --firmware IMAGE runs it"


def _needed(missing: record.Missing) -> str:
    """What it is, with its name, and how a run has it."""
    return _WANTED[missing.kind].format(f" ({missing.name})" if missing.name else "")


def _takes_pictures(source: str) -> bool:
    return ".snapshot(" in source


def _not_reached(of: Record, source: str) -> Iterator[tuple[int, str]]:
    """Lines that load a model, as the text has them, and none was loaded there."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    if of.imports or of.left_out:
        return
    lines = source.splitlines()
    reached = {p.line for s in of.of(record.LOAD) for p in s.at if p.file == of.script}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_load(node) and node.lineno not in reached:
            yield node.lineno, lines[node.lineno - 1].strip()
