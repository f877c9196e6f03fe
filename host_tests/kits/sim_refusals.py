# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Wrong numbers and kinds of arguments of every name: what the firmware answers, what the stand-in
does.

Of every name that k210_names.txt has, calls with the same few arguments (refusals/names.txt says
how an object of each section is had); of those that scripts use, wrong calls made of right ones
(refusals/calls.txt). refusals/answers.txt has the firmware's answers (v0.6.2_84, full build).
`python host_tests/kits/sim_refusals.py IMAGE [GROUP...]` asks a firmware and writes them anew."""

from __future__ import annotations

import keyword
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS, paths.DEVICE)]
sys.path.append(str(paths.SHIMS / "k210" / "sim"))
import k210_table  # noqa: E402
import kmodel_build  # noqa: E402
from maixmem_cli.emulator.session import Options, Session  # noqa: E402
from maixmem_cli.library import places  # noqa: E402
from maixmem_cli.serial.repl import BoardError  # noqa: E402

FOLDER = Path(__file__).parent / "refusals"
_ASKS = str(Path(__file__).parent / "refusals_asked.py")
WRONG = ("None", "'a'", "7", "[1]", "object()")
ANY = ("", *WRONG, "7,7", "7,7,7", "7,7,7,7,7", "bogus=7")  # what every name is called with
HANGS = "hangs"
_HEAD = """
import gc, image, lcd, sensor, KPU
def answer(call):
    try:
        print("\\n@@", type(eval(call)).__name__)
    except SystemExit:
        print("\\n@@ !SystemExit")
    except Exception as e:
        print("\\n@@ !" + type(e).__name__, e)
"""
_PATIENCE = 40.0  # seconds without a word of the board
_ANSWER = re.compile(r"^@@ ([^\r\n]*)", re.M)
_TABLE = paths.SHIMS / "k210" / "sim" / "k210_names.txt"
_ASKED = (k210_table.KEPT, k210_table.QUIET)


@dataclass
class Group:
    """Calls of one topic, right ones, or of `names` the same; `setup` runs once on a board, `each`
    before every call."""

    name: str
    setup: str
    each: str = "pass"
    calls: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def head(self) -> str:
        """The program before the calls."""
        return _HEAD + "\n".join(self.setup.split("; ")) + "\n"

    def wrong(self) -> list[str]:
        """Every wrong call, each once."""
        of_names = (f"{name}({args})" for name in self.names for args in ANY)
        of_calls = (text for call in self.calls for text in wrong(call))
        return list(dict.fromkeys([*of_names, *of_calls]))


def _read(file: str) -> list[Group]:
    found: list[Group] = []
    for line in (FOLDER / file).read_text(encoding="utf-8").splitlines():
        if line[:1] == "[":
            name, _, setup = line[1:].partition("] ")
            found.append(Group(name, setup))
        elif line[:6] == "each: ":
            found[-1].each = line[6:]
        elif line and line[0] != "#":
            found[-1].calls.append(line)
    return found


def groups() -> list[Group]:
    """The groups of calls.txt, and one for each section of the table of names."""
    had = _read("names.txt")
    left_out = {line.split()[1] for group in had for line in group.calls}
    by_name = {group.name: group for group in had}
    found = _read("calls.txt")
    for section in k210_table.sections(_TABLE.read_text(encoding="utf-8").splitlines(), "full"):
        name = section.names[0]
        entries = [e.name for e in section.entries.values() if e.kind in _ASKED]
        names = [_named(n) for n in entries if f"{name}.{n}" not in left_out]
        had_by = by_name.get(name, Group(name, f"import {name} as it"))
        if names:
            found.append(Group("names of " + name, had_by.setup, had_by.each, names=names))
    return found


def _named(name: str) -> str:
    """How a name of `it` is said: a new object, or one that the grammar lets be."""
    if name == "__init__":
        return "type(it)"
    return f"getattr(it, {name!r})" if keyword.iskeyword(name) else f"it.{name}"


def _split(call: str) -> tuple[str, list[str]]:
    """The name and the arguments of a call."""
    start = call.index("(")
    args, depth, last = [], 0, start + 1
    for at in range(start + 1, len(call)):
        depth += (call[at] in "([{") - (call[at] in ")]}")
        if (call[at] == "," and depth == 0) or at == len(call) - 1:
            args.append(call[last:at])
            last = at + 1
    return call[:start], [a for a in args if a]


def wrong(call: str) -> Iterator[str]:
    """The call with fewer arguments, with one more, and with each argument of another kind."""
    name, args = _split(call)
    for n in range(len(args)):
        yield f"{name}({','.join(args[:n])})"
    named = [a for a in args if re.match(r"\w+=", a)]
    yield f"{name}({','.join([*args[: len(args) - len(named)], '7', *named])})"
    for at, arg in enumerate(args):
        key = re.match(r"(\w+=)?", arg)
        assert key
        for value in WRONG:
            yield f"{name}({','.join([*args[:at], key[0] + value, *args[at + 1 :]])})"


def model(folder: Path) -> Path:
    """The model that lies at 0x300000."""
    path = folder / "refusals.kmodel"
    path.write_bytes(kmodel_build.v3((28, 28, 1), [("conv", 16), ("raw", 15, 1000)]).to_bytes())
    return path


def _plain(text: str) -> str:
    """One answer; of an exception whose text is bytes of the firmware's stack, its class."""
    return text.split(" ", maxsplit=1)[0] if re.search(r"[^ -~\r]| \?$", text) else text.strip()


class Firmware:
    """A board in software that is started again after a call that hangs it."""

    def __init__(self, image: Path, group: Group, flash: Path) -> None:
        self._make = lambda: Session(
            image, None, Options(files=((0x300000, flash),), camera="pattern")
        )
        self._group = group
        self._session: Session | None = None

    def answer(self, call: str) -> str:
        """What the call gives: the name of a type, "!" and an exception, or `hangs`."""
        if self._session is None:
            self._session = self._make().__enter__()
            self._session.repl.check(self._group.head(), _PATIENCE)
        try:
            code = f"{'; '.join(['pass', self._group.each])}\nanswer({call!r})\ngc.collect()"
            out, error = self._session.repl.run(code, _PATIENCE, limit=_PATIENCE)
        except BoardError:
            self.close()
            return HANGS
        found = _ANSWER.findall(out)
        if not found:
            raise ValueError(f"{call}: {out} {error}")
        return _plain(found[-1])

    def close(self) -> None:
        """Stops the board."""
        if self._session:
            self._session.__exit__(None, None, None)
        self._session = None


def ask(image: Path, group: Group, calls: list[str]) -> dict[str, str]:
    """{call: answer} of a firmware."""
    with tempfile.TemporaryDirectory() as temp:
        board = Firmware(image, group, model(Path(temp)))
        try:
            return {call: board.answer(call) for call in calls}
        finally:
            board.close()


def stand_in(asked: list[Group], folder: Path) -> dict[str, dict[str, str]]:
    """{group: {call: answer}} of the stand-in, all in one interpreter."""
    flash = {0x300000: str(model(folder))}
    job = [(g.name, g.head(), g.each.replace("; ", "\n"), g.wrong()) for g in asked]
    (folder / "job").write_text(repr({"flash": flash, "groups": job}), encoding="utf-8")
    shims = (*(paths.SHIMS / "k210" / part for part in ("api", "chip", "sim")), paths.SHIMS)
    done = subprocess.run(
        [str(places.micropython()), "-X", "heapsize=6M", _ASKS, str(folder / "job")],
        env={**os.environ, "MICROPYPATH": ":".join(map(str, (*shims, paths.LIB, ".frozen")))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    text = done.stdout.decode("utf-8", "replace").replace("\r", "")
    assert done.returncode == 0, text[-2000:]
    return {
        group.name: dict(zip(group.wrong(), map(_plain, _ANSWER.findall(answers))))
        for group, answers in zip(asked, text.split("\n@@@\n"))
    }


def otherwise() -> dict[str, str]:
    """{name: why the stand-in answers some of its calls otherwise} of otherwise.txt."""
    found = {}
    for line in (FOLDER / "otherwise.txt").read_text(encoding="utf-8").splitlines():
        if line and line[0] != "#":
            names, _, why = line.partition(": ")
            found.update(dict.fromkeys(names.split(), why))
    return found


def name_of(group: str, call: str) -> str:
    """SECTION.NAME of a call of a name's group, GROUP.CALL of another."""
    section = group.rpartition(" ")[2]
    called = re.match(r"getattr\(it, '(\w+)'\)|type\(it\)|it\.(\w+)", call)
    if section == group or not called:
        return f"{group}.{call.partition('(')[0]}"
    return f"{section}.{called[1] or called[2] or '__init__'}"


def known() -> dict[str, dict[str, str]]:
    """{group: {call: answer of the firmware}} of answers.txt."""
    texts: list[str] = []
    found: dict[str, dict[str, str]] = {}
    by_name = {group.name: group.wrong() for group in groups()}
    for line in (FOLDER / "answers.txt").read_text(encoding="utf-8").splitlines():
        if line[:1] == "=":
            texts.append(line[2:])
        elif line[:1] == "[":
            name, _, numbers = line[1:].partition("] ")
            found[name] = dict(zip(by_name[name], (texts[int(n)] for n in numbers.split())))
    return found


def keep(answers: dict[str, dict[str, str]]) -> None:
    """Writes answers.txt: each text once, then one line of numbers for each group."""
    texts = sorted({text for group in answers.values() for text in group.values()})
    lines = [
        "# written by sim_refusals.py: the firmware's answers, in the order of the wrong calls"
    ]
    lines += [f"= {text}" for text in texts]
    for name, group in answers.items():
        lines.append(f"[{name}] " + " ".join(str(texts.index(text)) for text in group.values()))
    (FOLDER / "answers.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(image: str, *names: str) -> None:
    """Asks a firmware about all groups, or some, and writes answers.txt."""
    answers = known() if (FOLDER / "answers.txt").exists() else {}
    for group in groups():
        if not names or group.name in names:
            answers[group.name] = ask(Path(image), group, group.wrong())
            print(group.name, len(answers[group.name]), flush=True)
            keep(answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
