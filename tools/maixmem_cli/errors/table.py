# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The rows of the table of errors, as the files in rows/ have them, each answered for a board."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Union

from maixmem_rknn.errors import ROWS

from maixmem_cli.errors import files
from maixmem_cli.errors.files import say
from maixmem_cli.errors.words import bare_of, has
from maixmem_cli.text.language import ENGLISH

_GROUPS = {
    "mpy": ("micropython", "esp32", "rp2040", "openmv", "k230", "circuitpython"),
    "linux": ("linux", "rknn", "maixcam", "ascend"),
}
_MICROPYTHON = ("k210", "canmv", *_GROUPS["mpy"])
_GROUPS["all"] = (*_MICROPYTHON, *_GROUPS["linux"])
_EVERYWHERE = frozenset((*_GROUPS["all"], "pc"))
#: how sure a meaning is
SURE = ("certain", "likely", "possible")
_CODE = re.compile(r"(?:load|load_flash|run) error[:;]? ?(-?\d+)\b|error:(20\d\d)\b")
_FILLED = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[hl]*([a-zA-Z])|%%")  # what printf fills in
_ANYTHING = ".{0,80}?"
# a text of a firmware is no part of a longer word: "wrong mode" is not in "wrong model"
_BEFORE, _AFTER = r"(?:(?<![A-Za-z])|(?![A-Za-z]))", r"(?:(?![A-Za-z])|(?<![A-Za-z]))"
# a number as printf writes one, padded too; "(nil)" is a pointer to nothing
_NUMBER = dict.fromkeys("diuoxXp", r" *(?:[-+]?(?:0[xX])?[0-9a-fA-F]+|\(nil\)) *")
# K230, rockit, CVI: module, level, error
_MEDIA = re.compile(r"\b0x[aAcC]0[0-9a-fA-F]{6}\b|-1[56]\d{8}\b|-107\d{7}\b")
_AXERA = re.compile(r"\b0x80[0-9a-fA-F]{4}([0-9a-fA-F]{2})\b")  # module, part, error
_ERRNO = re.compile(r"\[Errno (\d+)\]|OSError[:( ] ?(\d+)\b")
_PLAIN = re.compile(r"[=*]?[A-Za-z][a-z']*(?: [A-Za-z][a-z']*)*\*?")  # words without a sign
_ONLY_WORDS = re.compile(rf"{_PLAIN.pattern}|[\u4e00-\u9fff]+\*?")  # Chinese words, too
_SPOKEN = re.compile(rf"{_ONLY_WORDS.pattern}|\w+Error\*?")  # and an exception's bare name
_ERROR_NAME = re.compile(r"[A-Z]\w*Error")
_FUNCTION = re.compile(r"\*?[a-z][a-z0-9]*(?:_[a-z0-9]*)+\*?")  # fb_alloc: no message has it alone
_SENTENCE = re.compile(r"(?<=[.!?;]) |[\u3002\uff01\uff1f\uff1b]")  # what is between two sentences
#: what a person writes, and no program
PROSE = re.compile(
    r"(?i)\b(?:i|i'm|my|we|our|you|anyone|please|thanks|but|because|seems|tried|trying)\b"
    "|我|请|怎么|的|了"
)
_FEW_BOARDS = 5
_C_AS_OFTEN = frozenset({"esp32", "rp2040"})
RAISED = re.compile(r"\w*(?:Error|Exception): ")
_FEW_WORDS = 2
_NOT_SEEN = r"\b(?:without (?:any )?|(?:(?:have|did|do)n'?t|not) (?:\w+ )?any |not an? )"
_PROMPT = r"\$|\u279c +\S+|[A-Za-z]:\\[^>\n]*>|\[?[\w.-]+@[\w.-]+[^$#\n]{0,60}[$#]|msh [^>\n]*>"
_LINK = re.compile(r"https?://[^\s)\]>\"']+")
_TYPED = re.compile(rf"(?:{_PROMPT}) *[\w./]")  # a command at a prompt
_NAMES = re.compile(r"[\w/]+(?: {2,}[\w/]+){2,}")
_COUNT = re.compile(r"[\w()]+: +\d+ kB")  # a line of /proc/meminfo
# a path of a computer
_OF_COMPUTER = re.compile(r"(?<![\w.])/(?:home|Users)/\w|\b[A-Za-z]:(?:\\|/Users)")
# what a firmware prints with the path that its source had where it was built
_ASSERTED = re.compile(r"\bassert")
# exceptions that no MicroPython has
_CPYTHON = re.compile(
    r"\b(?:Permission|FileNotFound|FileExists|IsADirectory|NotADirectory|BrokenPipe"
    r"|ConnectionRefused|ConnectionReset|ConnectionAborted|ProcessLookup|ChildProcess)Error: "
)
#: one board, several that are possible, or None: any
Boards = Union[str, frozenset[str], None]
_OURS = re.compile(r"Next: (.+?)(?:\. |\.?$)")


@dataclass(frozen=True)
class Row:
    """What one kind of message means. `match`: whole words of the text ("*": an end that is open),
    "=TEXT" the whole of it, "error:N" a code of the KPU, "errno:N" one of OSError, "media:HEX" one
    of the media drivers of a K230, CVI or rockit, "ax:HEX" of an Axera, "says:NAME" what a
    sentence says in a person's words (evidence.toml); `cases`: (text, where it was met)."""

    id: str
    match: tuple[str, ...]
    on: frozenset[str]
    means: str
    steps: tuple[str, ...]
    cases: tuple[tuple[str, str], ...]
    sure: str = "certain"
    page: str = ""  #: the section of the manual that says more
    topic: str = ""  #: a word that this section has, where it has no text of `match`
    says: str = ""  #: what the manual says instead of the steps
    kind: str = "error"  #: "fine": the program goes on, nothing is wrong
    board: bool = False  #: on the board too
    ours: bool = False  #: an error of this library
    last: bool = False  #: looked at where nothing else is known
    raised: bool = False  #: looked for in lines that begin with an exception's name alone
    vague: bool = False  #: what another row of the same log says, it says better
    faint: bool = False  #: and so does every row that is only possible, too
    known: bool = False  #: counts only where the board is known: its words are said of many
    explains: tuple[str, ...] = ()  #: rows of the same log that follow from it
    unless: tuple[str, ...] = ()  #: words of a text that speak against it
    #: those of `match` that many programs say: they count only where the log shows a board of it
    everyday: tuple[str, ...] = ()
    also: tuple[str, ...] = ()  #: its log must have one of these words too
    without: tuple[str, ...] = ()  #: and none of these
    #: what to find out first where nobody but a person says it: "{then}" is what follows
    check: tuple[str, ...] = ()
    handled: bool = False  #: many programs go on from it: no cause beside an unknown exception
    when: tuple[str, ...] = ()  #: comparisons of its log's numbers, all of which hold

    def steps_on(self, board: Boards, at: str = "desk", language: str = ENGLISH) -> list[str]:
        """The steps that can be done on a board; where several are possible, or none is known:
        on every one of them and of this row, where there is no K210 alone. `at`: where they are
        read, "desk" or "board"."""
        return steps_for(self.steps, self.wanted(board), at, language)

    def wanted(self, board: Boards) -> frozenset[str]:
        """The boards that a step must be possible on."""
        return named_by(board) & self.on or (frozenset({"k210"}) if self.on <= K210 else self.on)

    def denies(self, text: str) -> bool:
        """True where it would say that nothing is wrong of an error that was raised, or where
        words speak against it."""
        fine = self.kind == "fine" and bool(RAISED.match(text))
        return fine or any(has(text, word) for word in self.unless)

    @functools.cached_property
    def _keys(self) -> tuple[set[str], list[str]]:
        """The codes and the parts of a text that match."""
        codes = {key for key in self.match if _IS_CODE.fullmatch(key)}
        return codes, [key for key in self.match if key not in codes]

    def holds_on(self, wanted: frozenset[str]) -> bool:
        """Whether it is of every board that is possible (none: any)."""
        return (wanted or expand(["all"])) <= self.on

    def is_said(self, text: str, named: set[str], wanted: frozenset[str], log: str) -> bool:
        """Whether a line of a log is of this row."""
        return (
            self._fits(text, named, self.holds_on(wanted))
            and not self.denies(text)
            and (not self.also or any(has(log, word) for word in self.also))
            and not any(has(log, word) for word in self.without)
        )

    def is_firm(self, text: str) -> bool:
        """Whether two things speak for this row, or what a line says of it is a message: a code,
        an exception, words with a sign in them or behind them, three words, or half of the line.
        A word or two among others are none."""
        if self.also or self.when:
            return True
        named = codes(text)
        half = len(RAISED.sub("", text)) // 2
        return bool(RAISED.match(text) or not self._keys[0].isdisjoint(named)) or any(
            not _PLAIN.fullmatch(p)
            or len(bare_of(p).split()) > _FEW_WORDS
            or len(p) > half
            or f"{bare_of(p)}:" in text
            for p in self._words_in(text)
        )

    def is_printed(self, text: str) -> bool:
        """Whether a program printed what a line says of this row: an exception with its text, a
        code, words with a sign in them, or little but words of this row. A title or a sentence
        that has some of its words is a person's: the name of a function in it, too, and all words
        of a row that knows what persons say."""
        named, words = codes(text), self._words_in(text)
        spoken = text.startswith("#") or bool(PROSE.search(text))
        if spoken:
            words = [w for w in words if not _FUNCTION.fullmatch(w)]
        if RAISED.match(text.lstrip("# ")):
            return True
        if any(key.startswith("says:") for key in self._keys[0]):
            return not all(_SPOKEN.fullmatch(bare_of(w).strip()) for w in words)
        if not all(map(_SPOKEN.fullmatch, words)):
            return True
        if self._keys[0] & named:
            return True
        if spoken:
            words = [w for w in words if len(bare_of(w).split()) > _FEW_WORDS]
        elif not words or any(f"{bare_of(w)}:" in text for w in words):
            return True
        return any(len(w) > len(text) // 2 for w in words)

    def is_name_alone(self, text: str) -> bool:
        """Whether all that a line has of this row is the bare name of an exception, in a sentence:
        every Python has it, that of a computer too."""
        words = self._words_in(text)
        return bool(words) and text not in words and all(map(_ERROR_NAME.fullmatch, words))

    def keys_in(self, text: str, named: set[str]) -> set[str]:
        """What of `match` a line has."""
        return self._keys[0] & named | set(self._words_in(text))

    def _words_in(self, text: str) -> list[str]:
        """Those of its words that a line has."""
        _, parts = self._keys
        return [p for p in parts if (text == p[1:] if p[0] == "=" else has(text, p))]

    def _fits(self, text: str, named: set[str], sure: bool) -> bool:
        """Whether a text is one of this row. Where its board is not `sure`, plain words that a
        row of few boards has say nothing among others: many other programs say them."""
        if self.raised and not RAISED.match(text):
            return False
        codes, parts = self._keys
        if not sure:
            parts = [p for p in parts if p not in self.everyday]
        if not sure and len(self.on) <= _FEW_BOARDS:
            said = len(RAISED.sub("", text)) // 2
            parts = [p for p in parts if len(p) > said or not _ONLY_WORDS.fullmatch(p)]
        return not codes.isdisjoint(named) or any(
            text == part[1:] if part[0] == "=" else has(text, part) and not _is_denied(text, part)
            for part in parts
        )


K210 = {"k210", "canmv", "pc"}
_IS_CODE = re.compile(r"err(?:or|no):-?\d+|(?:media|ax):[0-9a-f]+|says:\w+")


def expand(names: list[str]) -> frozenset[str]:
    """The boards of some names: a group's, and with "=" before it that board alone."""
    return frozenset(board for name in names for board in _GROUPS.get(name, (name.lstrip("="),)))


def named_by(board: Boards) -> frozenset[str]:
    """A board, or several that are possible, as a set; empty: any."""
    return frozenset((board,) if isinstance(board, str) else board or ())


@functools.lru_cache(maxsize=None)
def steps() -> dict[str, dict[str, Any]]:
    """The named steps: {name: {"board", "desk": its text there, "on", "unless"}}."""
    return {
        name: {
            "board": step["text"],
            "desk": step.get("desk", step["text"]),
            "on": expand(step.get("on", ["all"])),
            "unless": step.get("unless", ()),
        }
        for name, step in files.read("steps").items()
    }


def steps_for(
    names: Iterable[str], wanted: frozenset[str], at: str = "desk", language: str = ENGLISH
) -> list[str]:
    """The texts of steps, without those that one of the wanted boards cannot do; on a board, whose
    module is that of several, a step may say which it is for."""
    known = steps()
    possible = (known[s][at] if s in known else s for s in names if wanted <= _on(s))
    return [say(text, language) for text in possible if at == "board" or wanted <= exists_on(text)]


def _on(name: str) -> frozenset[str]:
    """The boards that a step is given for."""
    on: frozenset[str] = steps()[name]["on"] if name in steps() else _EVERYWHERE
    return on


@dataclass(frozen=True)
class Name:
    """What steps name and not every board has."""

    words: tuple[str, ...]
    on: frozenset[str]
    python: bool = False  #: no program in C has it
    c: bool = False  #: a program in C alone has it
    unless: tuple[str, ...] = ()  #: words of a log that speak against it
    needs: tuple[str, ...] = ()  #: words of a log, one of which it needs

    def is_in(self, text: str) -> bool:
        return any(has(text, word) for word in self.words)

    def fits(self, log: str, in_c: bool) -> bool:
        """Whether what it names exists where a log comes from."""
        return not (
            (self.python and in_c)
            or (self.c and not in_c)
            or any(has(log, word) for word in self.unless)
            or (self.needs and not any(has(log, word) for word in self.needs))
        )


@functools.lru_cache(maxsize=None)
def _names() -> tuple[Name, ...]:
    listed = files.read("names")["name"]
    texts = ("words", "unless", "needs")
    return tuple(
        Name(
            **{key: tuple(n.get(key, ())) for key in texts},
            on=expand(n["on"]),
            python=n.get("python", False),
            c=n.get("c", False),
        )
        for n in listed
    )


@functools.lru_cache(maxsize=None)
def exists_on(step: str) -> frozenset[str]:
    """The boards that have all that a step names."""
    on = (name.on for name in _names() if name.is_in(step))
    return functools.reduce(frozenset.intersection, on, _EVERYWHERE)


def is_named(text: str) -> bool:
    """Whether a text has something that names.toml lists."""
    return any(name.is_in(text) for name in _names())


def is_in_c(log: str) -> bool:
    """Whether a log speaks of a program in C and of none in Python, or of a build."""
    words = files.read("evidence")["language"]
    in_c, python, build = (
        any(has(log, word) for word in words[name]) for name in ("c", "python", "build")
    )
    return build or (in_c and not python)


def fitting(texts: Iterable[str], log: str, language: str = ENGLISH) -> list[str]:
    """The steps that nothing in a log speaks against, those last that somebody has done."""
    named = {say(step["desk"], language): step["unless"] for step in steps().values()}
    in_c = is_in_c(log)
    strange = [name for name in _names() if not name.fits(log, in_c)]
    fit = [
        text
        for text in texts
        if not any(has(log, word) for word in named.get(text, ()))
        and not any(name.is_in(text) for name in strange)
    ]
    done = [
        word
        for listed in files.read("evidence")["done"]
        if any(has(log, word) for word in listed["words"])
        for word in listed["step"]
    ]
    return sorted(fit, key=lambda text: any(has(text, word) for word in done))


def python_last(texts: Iterable[str], log: str, boards: frozenset[str]) -> list[str]:
    """Steps in their order, those that Python alone has last where a log is of boards that run C
    as often and does not show which it is of."""
    either = boards and boards <= _C_AS_OFTEN and not (is_in_c(log) or says(log, "python"))
    python = [name for name in _names() if name.python] if either else []
    return sorted(texts, key=lambda text: any(name.is_in(text) for name in python))


def finds_out(step: str) -> bool:
    """Whether what a step does first changes nothing."""
    return step.startswith(tuple(files.read("evidence")["finds_out"]["begins"]))


@functools.lru_cache(maxsize=None)
def rows() -> tuple[Row, ...]:
    """Every row, the narrow before the wide."""
    found = []
    for name in files.ROWS:
        found += [_row(row, name) for row in files.read(name)["row"]]
        if name == "linux":
            known = {key for row in found for key in row.match}
            found += [row for row in _of_rknn() if known.isdisjoint(row.match)]
    return tuple(found)


def _row(listed: dict[str, Any], file: str) -> Row:
    own = {
        "match": tuple(listed["match"]),
        "on": expand(listed["on"]),
        "steps": tuple(map(files.english, listed["steps"])),
        "cases": tuple((text, source) for text, source in listed["cases"]),
        "explains": tuple(listed.get("explains", ())),
        "unless": tuple(listed.get("unless", ())),
        "everyday": tuple(listed.get("everyday", ())),
        "also": tuple(listed.get("also", ())),
        "check": tuple(map(files.english, listed.get("check", ()))),
        "without": tuple(listed.get("without", ())),
        "when": tuple(listed.get("when", ())),
        "last": file == files.ROWS[-1],
    }
    return Row(**{key: value for key, value in {**listed, **own}.items() if key != "zh"})


def _of_rknn() -> list[Row]:
    """The runtime's codes, whose meanings the library knows."""
    found = []
    for code, (means, *steps) in ROWS.items():
        name, _, means = means.partition(": ")
        match, cases = (name, f"fail! ret={code}"), ((name, "rknn_api.h"),)
        on = frozenset({"rknn"})
        page, topic = "linux.md#driver-runtime-model-and-chip", "rknn_api.h"
        row = Row(name, match, on, means, tuple(steps), cases, "likely", page, topic, vague=True)
        found.append(row)
    return found


@functools.lru_cache(maxsize=None)
def boards() -> dict[str, dict[str, Any]]:
    """{name of a board: {"as" whose rows it has, "find_out"}}."""
    return {name: row for name, row in files.read("boards").items() if isinstance(row, dict)}


@dataclass(frozen=True)
class Evidence:
    """Words that speak for boards, all of them once, with their weight."""

    weight: int
    on: frozenset[str]
    words: tuple[str, ...]
    any_case: bool = False  #: however people write them
    pattern: str = ""  #: or what this finds

    def is_in(self, text: str) -> bool:
        found = self.pattern and re.search(self.pattern, text)
        if self.any_case:
            text = text.lower()
        words = (w.lower() if self.any_case else w for w in self.words)
        return bool(found or any(has(text, word) for word in words))


@functools.lru_cache(maxsize=None)
def _evidence() -> tuple[Evidence, ...]:
    listed = files.read("evidence")["evidence"]
    own = ({"on": expand(e["on"]), "words": tuple(e["words"])} for e in listed)
    return tuple(Evidence(**{**e, **texts}) for e, texts in zip(listed, own))


@functools.lru_cache(maxsize=None)
def _of_computer() -> re.Pattern[str]:
    """What finds a line that names the computer of the one who asks: "OS: Ubuntu"."""
    names = "|".join(map(re.escape, files.read("evidence")["computer"]["lines"]))
    return re.compile(rf"(?im)^[\W_]*(?:{names})(?: Platform[^:\n]*)?\W*[:\uff1a].*$")


def possible_boards(text: str) -> frozenset[str]:
    """The boards that a text speaks for most; empty where it speaks for none. A link names what
    it leads to: it counts where other words leave several boards, or none."""
    text = _of_computer().sub("", text)
    boards, linked = _speaks_for(_LINK.sub("", text)), _speaks_for(text)
    return boards if len(boards) == 1 else boards & linked or boards or linked


def _speaks_for(text: str) -> frozenset[str]:
    """The boards for which the words of a text weigh most."""
    weights: Counter[str] = Counter()
    for one in _evidence():
        if one.is_in(text):
            weights.update(dict.fromkeys(one.on, one.weight))
    most = max(weights.values(), default=0)
    return frozenset(board for board, weight in weights.items() if weight == most)


def _is_denied(text: str, key: str) -> bool:
    """Whether all that a text says of plain words is that they were not seen."""
    if not _PLAIN.fullmatch(key):
        return False
    denied = re.compile(_NOT_SEEN + re.escape(bare_of(key)))
    return denied.search(text) is not None and not has(denied.sub("", text), key)


def is_typed(text: str) -> bool:
    """Whether a line is a command that somebody typed, or of a table: of names, as help('modules')
    prints one, or of /proc/meminfo. Its words are no message."""
    return bool(_TYPED.match(text) or _NAMES.fullmatch(text) or _COUNT.fullmatch(text))


def boards_of_line(text: str, possible: frozenset[str]) -> frozenset[str]:
    """The boards that may have printed a line of a log: none that has no such folders where it
    names a path of a computer or an exception that MicroPython does not have."""
    system = possible.difference(_MICROPYTHON)
    if _CPYTHON.search(text):
        return system or frozenset({"pc"} if possible else {*_GROUPS["linux"], "pc"})
    of_computer = _OF_COMPUTER.search(text) and not _ASSERTED.search(text)
    return frozenset({"pc"}) if possible and not system and of_computer else possible


def find_out(board: str | None, language: str = ENGLISH, in_c: bool = False) -> str:
    """What to try on a board where a text is not known; of an unknown board: how to name it."""
    how: str = "--board NAME gives what can be done on that board."
    if board is not None:
        of_all = files.read("boards")["find_out"]
        how = boards()["pc" if in_c else rows_of(board)].get("find_out", of_all)
    return say("Try to find out: {how}", language, how=say(how, language))


def rows_of(board: str) -> str:
    """The board whose rows a board has: those of an m5stickv are a k210's."""
    name: str = boards()[board].get("as", board)
    return name


@dataclass(frozen=True)
class Text:
    """A text of the firmware images, with %s and the like for what changes."""

    text: str
    row: str  #: the id of its row; "unknown": listed, and nobody knows what to do
    images: str  #: in which images it was found
    provoked: str  #: the line of Python that made a firmware say it, where one was found

    @functools.cached_property
    def pieces(self) -> list[str]:
        """The text between what changes."""
        return _FILLED.split(self.text.strip())[::2]

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds it, with a number where printf puts one."""
        fills = [_NUMBER.get(m[1], _ANYTHING) for m in _FILLED.finditer(self.text.strip())]
        pairs = zip(map(re.escape, self.pieces), [*fills, ""])
        found = "".join(piece + fill for piece, fill in pairs)
        return re.compile(f"{_BEFORE}{found}{_AFTER}")

    def says(self, text: str) -> bool:
        """True where a text has this one in it."""
        return bool(self.pattern.search(text))


@functools.lru_cache(maxsize=None)
def firmware_texts() -> tuple[Text, ...]:
    lines = (files.FOLDER / "firmware_texts.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(Text(*line.split("\t")) for line in lines[1:])


@functools.lru_cache(maxsize=None)
def _of_texts() -> list[tuple[str, Text]]:
    """(its longest piece, it) of the texts that have a row, the long first."""
    texts = [t for t in firmware_texts() if t.row != "unknown"]
    return [(max(t.pieces, key=len), t) for t in sorted(texts, key=lambda t: -len(t.text))]


def codes(text: str) -> set[str]:
    """The codes that a text names, as "error:N" and "errno:N"; of media drivers the
    error without its module, as "media:HEX" and "ax:HEX"; what a sentence says, as "says:NAME"."""
    found = {f"error:{a or b}" for a, b in _CODE.findall(text)}
    errnos = [a or b for a, b in _ERRNO.findall(text)]
    found |= {f"errno:{n}" for n in errnos}
    found |= {f"media:{int(n, 0) & 0x1FFF:x}" for n in _MEDIA.findall(text)}
    found |= {f"ax:{n.lower()}" for n in _AXERA.findall(text)}
    found |= {f"says:{one.name}" for one in _said() if one.is_in(text)}
    if text.strip().isdigit():
        errnos.append(text.strip())
    return found | {f"error:{n}" for n in errnos if len(n) == len("2006")}


def says(text: str, name: str) -> bool:
    """Whether a text says that in a person's words."""
    return any(one.name == name and one.is_in(text) for one in _said())


@dataclass(frozen=True)
class Said:
    """What a sentence may say, in a person's words."""

    name: str
    words: tuple[tuple[str, ...], ...] = ()  #: a sentence has one of each list
    pattern: str = ""  #: or this finds it
    unless: tuple[str, ...] = ()  #: and no sentence with one of these counts

    def is_in(self, text: str) -> bool:
        """Whether a sentence of a text says it."""
        found = self.pattern and re.search(self.pattern, text)
        return bool(found) or any(map(self._has, _SENTENCE.split(text)))

    def _has(self, text: str) -> bool:
        lists = self.words
        return (
            bool(lists)
            and all(any(has(text, word) for word in words) for words in lists)
            and not any(has(text, word) for word in self.unless)
        )


@functools.lru_cache(maxsize=None)
def _said() -> tuple[Said, ...]:
    listed = files.read("evidence")["says"]
    words = (tuple(map(tuple, one.get("words", ()))) for one in listed)
    unless = (tuple(one.get("unless", ())) for one in listed)
    return tuple(
        Said(**{**one, "words": lists, "unless": against})
        for one, lists, against in zip(listed, words, unless)
    )


def find(
    text: str, board: Boards = None, log: str = "", holds: Callable[[Row], bool] = lambda row: True
) -> list[Row]:
    """The rows of one line of a log: the first for each board that is possible; where none is
    known, of any board. What says little counts where nothing else does, or where its words are
    those of a row that is of other boards. `holds`: whether what a row needs of the log's numbers
    is so."""
    named, wanted, log = codes(text), named_by(board), log or text
    found: list[Row] = []
    told: set[str] = set()
    for row in rows():
        here = row.on & wanted if wanted else row.on
        if row.last or not here or told & here or (row.known and not wanted):
            continue
        if holds(row) and row.is_said(text, named, wanted, log):
            found.append(row)
            told |= here
            if told == wanted:
                break
    texts = found or _text_rows(text, wanted)
    clear = [row for row in texts if not row.last]
    if clear and not wanted:
        return clear
    taken = {board for row in clear for board in row.on}
    keys = {key for row in clear for key in row.keys_in(text, named)}
    last = (r for r in rows() if r.last and taken.isdisjoint(r.on))
    there = (r for r in last if r.on & wanted or not (wanted or r.known))
    said = (r for r in there if holds(r) and r.is_said(text, named, wanted, log))
    same = (r for r in said if not clear or keys & r.keys_in(text, named))
    return [*clear, *itertools.islice(same, 1)] or texts


def is_undecided(found: list[Row]) -> bool:
    """Whether the rows of a line of an unknown board are each of a few boards, and of others than
    the first: its words tell no more than that it is one of them. A computer is no board."""
    boards = [row.on - {"pc"} for row in found]
    few = all(len(on) <= _FEW_BOARDS for on in boards)
    return few and any(on and on.isdisjoint(boards[0]) for on in boards[1:])


def _text_rows(text: str, wanted: frozenset[str]) -> list[Row]:
    """The row that the list of the firmware's texts gives a line: texts of MaixPy, many of them
    every MicroPython's; a board without a firmware of that kind prints others, and a row counts
    only where it is of every board that is possible."""
    if wanted and wanted.isdisjoint(_MICROPYTHON):
        return []
    for piece, listed in _of_texts():
        if piece in text and listed.says(text):
            named = (row for row in rows() if row.id == listed.row and not row.denies(text))
            return [row for row in named if row.holds_on(wanted)]
    return []


def answer(text: str, board: str = "k210") -> tuple[str, list[str]] | None:
    """What one message means on a board, and the next steps, its own first; None when it is not
    known."""
    found = find(text, board)
    if not found:
        return None
    return found[0].means, with_own(text, found[0].steps_on(board))


def with_own(text: str, said: list[str]) -> list[str]:
    """`said`, after the step that a message of this library names: it came from a log or a board,
    and its text is all there is."""
    m = _OURS.search(text)
    if not m:
        return said
    return [m[1], *(s for s in said if s not in (m[1], steps()["own"]["desk"]))]
