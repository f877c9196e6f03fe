# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a text means that somebody pasted: one line, a traceback, a whole log.

Lines that differ in numbers only are looked up once, so that a log of 10 MB takes less than a
second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from maixmem_cli.errors import dump, numbers
from maixmem_cli.errors.files import say
from maixmem_cli.errors.table import (
    K210,
    PROSE,
    RAISED,
    Row,
    boards_of_line,
    find,
    find_out,
    finds_out,
    fitting,
    is_in_c,
    is_typed,
    is_undecided,
    possible_boards,
    python_last,
    rows_of,
    steps_for,
    with_own,
)
from maixmem_cli.text.language import ENGLISH
from maixmem_cli.text.output import printable

LIMIT = 16 << 20  #: bytes that are looked at
_DIFFERENT = 1000  # lines that are looked up; those that differ in numbers only are one
_STRONG = (b"rror", b"ERR", b"dump", b"ail", b"emory", b"fault", b"nvalid", b"imeout", b"MAIXPY")
_BLOCK = 1 << 20
_FEW = 3
_WEAK = "possible"  # how sure the words of a person are, where nothing else speaks for a cause
_COMPUTED = "computed"  # what follows from numbers
_THEN = "{then}"  # in a check: the step that follows where it holds
_CUT = "the first {n} MiB were examined, the rest not"
_MANY = "{n} different lines were examined, not all"
_K210 = frozenset({"k210"})  # what prints dumps
_IGNORED = "Exception ignored in"
_SHOWN = 200  # characters of a line
# what a program's own text says of errors
# the words of a web address are those of another text, but for the name of a file
_ADDRESS = re.compile(r"\bhttps?://(?:[^\s)\]>\"']*/)?([^\s/)\]>\"']*\.\w+)?[^\s)\]>\"']*")
_HANDLER = re.compile(r"(?:except\b.*|\} ?catch ?\(.*\) ?\{|(?:raise|throw) .*)")
_QUOTED = re.compile(r"^(?:>\s+)+(?=\S)")  # ">>> " is a prompt
_TERMINAL = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[@-_]")
_TEXT = bytes({7, 8, 9, 10, 12, 13, 27} | (set(range(0x20, 0x100)) - {0x7F}))
_WIDEST = 4096  # a line is cut there
_NUMBERS_IN = 1 << 20  # the end of a log, where its last numbers are


@dataclass
class Answer:
    """One thing that a text says: the lines that say it, and its row."""

    row: Row
    lines: list[str]  #: their text, at most three
    line: int  #: number of the first
    means: str
    sure: str  #: one of table.SURE, or "computed"
    times: int = 1
    steps: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)  #: what its numbers tell
    #: the boards that it holds on, where the log does not tell that it is of one of them
    only: list[str] = field(default_factory=list)
    firm: bool = False  #: a message, not a word or two in what somebody writes
    printed: bool = False  #: a line of it is a program's, none that a person wrote

    @property
    def raised(self) -> bool:
        """Whether one of its lines is that of an exception."""
        return any(RAISED.match(text.lstrip(">`* ")) for text in self.lines)

    def is_elsewhere(self, other: Answer) -> bool:
        """Whether it is what a line means on other boards than those of another answer."""
        mine, others = set(self.only), set(other.only)
        return bool(mine and others) and mine.isdisjoint(others) and self.line == other.line

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.row.id,
            "lines": self.lines,
            "line": self.line,
            "times": self.times,
            "boards": sorted(self.row.on),
            "means": self.means,
            "sure": self.sure,
            "kind": self.row.kind,
            "numbers": self.numbers,
            "steps": self.steps,
            "page": self.row.page and f"docs/{self.row.page}",
        }


@dataclass
class _Line:
    number: int
    text: str
    times: int = 1


@dataclass
class Explained:
    """All that a text says, the first cause first."""

    board: str | None  #: the board that it speaks of, or that was given
    language: str = ENGLISH
    possible: list[str] = field(default_factory=list)  #: those that it may speak of
    answers: list[Answer] = field(default_factory=list)
    facts: dict[str, float] = field(default_factory=dict)  #: its numbers, by name
    dumps: list[dump.Dump] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  #: lines that look like an error
    note: str = ""  #: what was not looked at, or why nothing could be
    in_c: bool = False  #: a program in C, none in Python

    @property
    def errors(self) -> list[Answer]:
        """What is wrong: the first cause first, those that are only possible last, and nothing
        that another line says better or that follows from it."""
        explained = {row for a in self.answers for row in a.row.explains}
        errors = [a for a in self.answers if a.row.kind == "error" and a.row.id not in explained]
        if any(RAISED.match(text) for text in self.unknown):
            errors = [a for a in errors if not a.row.handled]
        if any(a.raised for a in errors):  # a title may be of another error
            other = [a for a in errors if a.row.last and a.row.sure == "certain" and not a.raised]
            errors = [a for a in errors if a not in other]
        clear = [a for a in errors if not a.row.vague]
        if not any(a.printed for a in clear):  # what a program printed says more than a person
            clear = [a for a in errors if a in clear or (a.printed and a.sure != _WEAK)]
        clear = [a for a in errors if a in clear or any(map(a.is_elsewhere, clear))]
        sure = [a for a in errors if a.sure != "possible"]
        rank = {a.row.id: (a.sure == _WEAK, a.row.faint) for a in errors}
        return sorted(clear or sure or errors, key=lambda a: rank[a.row.id])

    @property
    def shown(self) -> list[Answer]:
        """What is wrong, or where nothing is, what the lines mean."""
        return self.errors or [a for a in self.answers if a.row.kind == "fine"]


def explain(data: bytes, board: str | None = None, language: str = ENGLISH) -> Explained:
    """The messages in these bytes. `board` is a name of boards(), None: as the text tells."""
    why = _no_text(data)
    if why:
        return Explained(board, language, note=say(why, language))
    note = ""
    if len(data) > LIMIT:
        data, note = data[:LIMIT], say(_CUT, language, n=LIMIT >> 20)
    clean = _TERMINAL.sub(b"", data) if b"\x1b" in data else data
    lines = _lines(clean)
    if len(lines) == _DIFFERENT and not note:
        note = say(_MANY, language, n=_DIFFERENT)
    text = "\n".join(line.text for line in lines)
    possible = frozenset((board,)) if board else possible_boards(text)
    one = min(possible) if len(possible) == 1 else None
    found = Explained(one, language, sorted(possible), note=note)
    boards = frozenset(map(rows_of, possible))
    found.in_c = is_in_c(text)
    found.dumps = dump.read(clean.decode(errors="replace")) if b"core dump" in clean else []
    end = clean[-_NUMBERS_IN:].decode(errors="replace")
    found.facts = numbers.numbers(end, boards)
    _answer(found, lines, boards, text)
    _calculate(found, end, boards)
    if found.answers:
        found.unknown = [text for text in found.unknown if not PROSE.search(text)]
    return found


def of_line(text: str, board: str = "k210", language: str = ENGLISH) -> Answer | None:
    """What one message means on a board, with what its numbers tell; None when it is not known."""
    found = explain(text.encode(errors="replace"), board, language)
    return next(iter(found.errors), None)


def _no_text(data: bytes) -> str:
    """Why these bytes are no text, in one line; "" when they are one."""
    head = data[: 1 << 16]
    if not head.strip():
        return "nothing was given. Next: paste the message, name a file, or pipe a log"
    strange = len(head) - len(head.translate(None, bytes(set(range(256)) - set(_TEXT))))
    try:
        head[: _WIDEST // 2].decode()
        broken = 0
    except UnicodeDecodeError:
        broken = sum(b > 0x7F for b in head)
    if 3 * (strange + broken) > len(head):
        return "that is no text but a binary file. Next: give the messages; maixmem kmodel FILE"
    return ""


def _lines(data: bytes) -> list[_Line]:
    """The different lines, those that differ in numbers only once, in order; where there are too
    many, those that speak of an error."""
    found: dict[bytes, _Line] = {}
    number = at = 0
    while at < len(data):
        end = data.find(b"\n", at + _BLOCK) + 1 or len(data)
        block = data[at:end]
        kinds = block.translate(None, b"0123456789").split(b"\n")
        for text, kind in zip(block.split(b"\n"), kinds):
            number += 1
            key = text[:_WIDEST] if b"rror" in kind else kind[:_WIDEST]
            line = found.get(key)
            if line:
                line.times += 1
            elif len(found) < (20 if any(w in kind for w in _STRONG) else 10) * _DIFFERENT:
                found[key] = _Line(number, _bare(text[:_WIDEST].decode(errors="replace")))
        number -= 1
        at = end
    lines = [line for line in found.values() if line.text]
    if len(lines) > _DIFFERENT:
        strong = [line for line in lines if any(w.decode() in line.text for w in _STRONG)]
        lines = sorted((strong + lines)[:_DIFFERENT], key=lambda line: line.number)
    return lines


def _bare(text: str) -> str:
    """A line without the marks of Markdown round it: what is quoted, code, and bold."""
    text = _QUOTED.sub("", text.strip())
    if text.startswith("`") or (text.endswith("`") and text.count("`") == 1):
        text = text.strip("`")
    if text.startswith("**") and not text.startswith("***"):
        text = text[2:]
    if text.endswith("**") and not text.endswith("***"):
        text = text[:-2]
    return text


def _answer(found: Explained, lines: list[_Line], possible: frozenset[str], text: str) -> None:
    known: dict[str, Answer] = {}

    def holds(row: Row) -> bool:
        return numbers.all_hold(row.when, found.facts)

    for line in _without_ignored(lines):
        if is_typed(line.text):
            continue
        here = boards_of_line(line.text, possible)
        words = _ADDRESS.sub(r"\1", line.text)
        rows = sorted(find(words, here, text, holds), key=lambda row: -len(row.on))
        undecided = len(possible) != 1 and is_undecided(rows)
        said = printable(line.text)[:_SHOWN]
        if not rows and _looks_wrong(line.text) and len(found.unknown) < _FEW:
            found.unknown.append(said)
        for row in rows:
            answer = known.get(row.id)
            if answer is None:
                narrow = row is not rows[0] or (row.last and not possible and row.on <= K210)
                steps = [] if narrow or undecided else row.steps_on(here, language=found.language)
                if not steps and row.kind == "error":
                    steps = [_on_that_board(rows if undecided else [row], found.language)]
                means = say(row.means, found.language)
                answer = known[row.id] = Answer(row, [], line.number, means, row.sure, 0, steps)
                if not row.holds_on(here):
                    answer.only = sorted(row.on & here or row.on)
                found.answers.append(answer)
                answer.steps = with_own(said, answer.steps)
            answer.times += line.times
            answer.firm = answer.firm or bool(answer.lines) or row.is_firm(line.text)
            answer.printed = answer.printed or row.is_printed(line.text)
            if len(answer.lines) < _FEW and said not in answer.lines:
                answer.lines.append(said)


def _without_ignored(lines: list[_Line]) -> Iterator[_Line]:
    """The lines without the tracebacks of exceptions that Python ignored while it ended, and
    without those of a program's text that handle or raise one: they tell of none that came."""
    ignored = False
    for line in lines:
        if not ignored and not _HANDLER.match(line.text):
            yield line
        ignored = (ignored and not RAISED.match(line.text)) or _IGNORED in line.text


def _calculate(found: Explained, text: str, boards: frozenset[str]) -> None:
    """Adds what the numbers of the log tell, and leaves out what names no step that exists where
    the log comes from: a row for Python says nothing of a program in C."""
    language = found.language
    useless: list[Answer] = []
    for answer in found.answers:
        told = numbers.findings(answer.row, text, found.facts, boards, language)
        codes = [code for said in answer.lines for code in numbers.decoded(said, language)]
        answer.numbers = [one.means for one in told if one.means] + list(dict.fromkeys(codes))
        instead = next((one for one in told if one.only), None)
        if instead:
            answer.means, answer.sure = instead.means, instead.sure
        own = [] if instead else answer.steps
        first = [step for one in told if not one.general for step in one.steps]
        if answer.sure != _WEAK and not (answer.firm or first or answer.numbers):
            answer.sure = _WEAK
            first = steps_for(["example"], frozenset(), language=language)
        if answer.row.id in dump.ROWS:
            cures = [name for one in found.dumps for name in one.cures()]
            first += steps_for(cures, _K210, language=language)
            fits = [cause for one in found.dumps for cause in one.fits(language)]
            if fits:
                answer.means = say("the board hangs: {cause}", language, cause=fits[0])
                answer.sure = "likely"
        first += [step for one in told if one.general for step in one.steps]
        steps = dict.fromkeys([*first, *python_last(own, text, boards)])
        answer.steps = fitting(steps, text, language)
        if not answer.printed and answer.row.kind == "error":
            measured = any(name.endswith("_falls") for name in found.facts)
            checks = () if measured else answer.row.check
            wanted = answer.row.wanted(boards)
            possible = python_last(steps_for(checks, wanted, language=language), text, boards)
            _doubt(answer, fitting(possible, text, language))
            if not boards and all(map(answer.row.is_name_alone, answer.lines)):
                answer.steps.insert(0, find_out(None, language))
        if answer.sure == _WEAK and steps and not answer.steps and not answer.numbers:
            useless.append(answer)
    found.answers = [answer for answer in found.answers if answer not in useless]


def _doubt(answer: Answer, checks: list[str]) -> None:
    """Makes an answer as sure as a person's words: its first step finds out whether they fit."""
    if answer.sure != _COMPUTED:
        answer.sure = _WEAK
    if checks and answer.steps and not finds_out(answer.steps[0]):
        answer.steps[0] = checks[0].replace(_THEN, answer.steps[0])


def _on_that_board(rows: list[Row], language: str) -> str:
    """The step where none can be done on every board that is possible: a meaning that another of
    the same line has for more boards, or common words in a row of few boards."""
    names = say(" or ", language).join(sorted(set().union(*(row.on for row in rows))))
    return say("--board {names} gives what can be done there.", language, names=names)


def _looks_wrong(text: str) -> bool:
    return bool(
        re.search(
            r"\b\w*(?:Error|Exception)\b|\berror\b|\b[Ff]ail(?:ed|ure)?\b|ERR_|错误|失败", text
        )
    )
