# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem profile` held against programs whose leaks are known, a row each.

    python host_tests/kits/leak_truth.py [PROGRAM or FOLDER ...] --firmware IMAGE ...
        [--frames 10 20 60 200] [--rows FILE] [--ends]

A program says its own truth, in comments at the ends of its lines:

    # leaks 1064     this line keeps so many bytes of the GC heap in each round
    # leaks 75 each 8  it does so each eighth round: a few rounds are "too few" for it, too
    # may leak 8     it may be named, with that rate; "some": with any
    # loses 7168     the firmware keeps so many of the system heap each time
    # rounds         the last number of this line is replaced by that of --frames; 0: as written
    # flash m.kmodel@0x300000    a line: this model of the folder MAIXMEM_MODELS lies in flash

What a firmware cannot run, as threads where it has none, ends in an error without a profile too:
then that error is the truth, and nothing is to be blamed.

--ends: each leaking program is profiled for 40 rounds, then run until it dies: the round that was
forecast, or the first and the last of them, against the one in which it died. Rows are appended to
--rows, and what has a row there is not run again, so that a sweep can be interrupted.

Exit status 1 where a row is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS)]
from maixmem_cli.emulator.session import Options, Session, imported  # noqa: E402
from maixmem_cli.profiler import growth  # noqa: E402
from maixmem_cli.runs import ending  # noqa: E402
from maixmem_cli.serial.repl import BoardError  # noqa: E402

PROGRAMS = Path(__file__).with_name("leak_programs")
_WITHIN = 0.05
_WITHIN_END = 0.1
_FEW = 10  # rounds for which "too few" is right
_SEEN = 40  # rounds from which the end is forecast
_BEYOND = 2  # times that round: then it goes on, as what is raised in a callback does
_MANY = 1_000_000
_MARK = re.compile(r"  # (leaks|may leak|loses) ([\d.]+|some)(?: each (\d+))?$")
_NUMBER = re.compile(r"\d+(?=\D*  # rounds$)")
_FLASH = re.compile(r"^# flash (\S+)@(0x[\da-f]+)$", re.M)
_CPU_SECONDS = 600
_SPARE = """spare = bytearray(2000)
try:
{source}
except MemoryError:
    spare = None
    raise
"""
Truth = dict[tuple[str, int], tuple[str, float | None]]  #: {(heap, line): (word, bytes)}


@dataclass(frozen=True)
class Program:
    path: Path
    source: str

    def rounds(self, frames: int) -> str:
        """The source with so many rounds; 0: as it is written."""
        lines = self.source.splitlines()
        if frames:
            lines = [_NUMBER.sub(str(frames), n) if n.endswith("# rounds") else n for n in lines]
        return "\n".join(lines) + "\n"

    @property
    def truth(self) -> Truth:
        found: Truth = {}
        for number, line in enumerate(self.source.splitlines(), 1):
            if m := _MARK.search(line):
                nbytes = None if m[2] == "some" else float(m[2])
                found["heap" if m[1] == "loses" else "gc", number] = m[1], nbytes
        return found

    @property
    def few(self) -> int:
        """Rounds that are too few: ten, or the steps of what leaks now and then."""
        marks = filter(None, map(_MARK.search, self.source.splitlines()))
        return max([_FEW, *(growth.STEPS * int(m[3] or 0) for m in marks)])

    @property
    def leaks(self) -> bool:
        return any(word == "leaks" for word, _ in self.truth.values())

    @property
    def flash(self) -> tuple[tuple[int, Path], ...]:
        """Where each of its models lies."""
        models = paths.models()
        found = _FLASH.findall(self.source)
        assert models or not found, f"{self.path.name} needs MAIXMEM_MODELS"
        return tuple((int(at, 16), models / name) for name, at in found if models)

    def modules(self, folder: Path) -> None:
        """Puts those beside it that it imports there."""
        for name in imported(self.source):
            beside = self.path.with_name(f"{name}.py")
            if beside.is_file():
                (folder / beside.name).write_bytes(beside.read_bytes())

    @property
    def sees(self) -> bool:
        """Whether it takes pictures, which are its rounds."""
        return "snapshot()" in self.source

    def pictures(self, rounds: int) -> int | None:
        """Those of so many rounds; None: it takes none, or ends as it is written."""
        return rounds if rounds and self.sees else None


def programs(given: list[Path]) -> Iterator[Program]:
    for place in given or [PROGRAMS]:
        for path in sorted(place.glob("*.py")) if place.is_dir() else [place]:
            yield Program(path, path.read_text(encoding="utf-8"))


def profiled(program: Program, image: Path, frames: int) -> dict[str, Any]:
    """What profile --json says, and the CPU seconds of it."""
    with tempfile.TemporaryDirectory() as temp:
        script, out = Path(temp) / program.path.name, Path(temp) / "out.json"
        script.write_text(program.rounds(frames))
        program.modules(Path(temp))
        limit = [f"--frames={n}"] if (n := program.pictures(frames)) else []
        flash = [f"--flash={model}@{at:#x}" for at, model in program.flash]
        board = [f"--firmware={image}", "--camera=pattern", *limit, *flash]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = ["profile", str(script), *board, "--json", "-o", str(out)]
        done = subprocess.run(
            [sys.executable, "-m", "maixmem_cli", *words],
            capture_output=True,
            check=False,
            text=True,
            timeout=20 * _CPU_SECONDS,
            cwd=temp,
            env={**os.environ, "PYTHONPATH": f"{paths.TOOLS}:{paths.LIB}"},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not out.is_file():
            return {"failed": ending.last_line(done.stderr or done.stdout)}
        told: dict[str, Any] = json.loads(out.read_text())
    return {**told, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def wrong(program: Program, image: Path, told: dict[str, Any], frames: int) -> list[str]:
    """What is not as the program says."""
    if "failed" in told:
        return [f"no profile: {told['failed']}"]
    few = bool(told["too_few_rounds"])
    error = ending.last_line(told["error"])
    out, truth = [], program.truth
    if few and frames > max(program.few, growth.ENOUGH):
        out.append(f"{told['too_few_rounds']} rounds are called too few")
    few = few and frames <= program.few
    if error and not (program.leaks and "MemoryError" in error):
        truth = {}
        if (bare := ended(program, image, frames)) != error:
            out.append(f"raised: {error}, without a profile: {bare or 'no error'}")
    found = {(g["heap"], g["line"]): g for g in told["grows"]}
    for (heap, line), (word, nbytes) in truth.items():
        g = found.get((heap, line))
        if g is None:
            out += [] if few or word == "may leak" else [f"line {line} is not named"]
        elif (g["kind"] == "firmware") != (word == "loses"):
            out.append(f"line {line} is called {g['kind']}")
        elif nbytes is not None:
            said = g["each"] if word == "loses" else g["rate"]
            if abs(said - nbytes) > _WITHIN * nbytes:
                out.append(f"line {line}: {said}, not {nbytes:g}")
    return out + [
        f"line {n} is blamed ({g['each']})" for (h, n), g in found.items() if (h, n) not in truth
    ]


def said(told: dict[str, Any]) -> str:
    """The finding in short."""
    if "failed" in told:
        return ""
    few = [f"too few ({told['too_few_rounds']})"] if told["too_few_rounds"] else []
    grows = (f"{g['line']}: {g['rate']:g} {g['kind']} {g['heap']}" for g in told["grows"])
    error = ending.last_line(told["error"])
    return ", ".join(filter(None, [error, *grows, *few])) or "clean"


def ended(program: Program, image: Path, frames: int) -> str:
    """The last line of the error in which it ends on the firmware, nothing traced; "": none."""
    with tempfile.TemporaryDirectory() as temp:
        script = Path(temp) / program.path.name
        script.write_text(program.rounds(frames))
        program.modules(Path(temp))
        pictures = program.pictures(frames)
        options = Options(camera="pattern", frames=pictures, files=program.flash)
        with Session(image, script, options) as session:
            return ending.last_line(session.run(lambda text: None).error)


def died(program: Program, image: Path, most: int) -> tuple[int, str]:
    """The round in which it ends of itself, and how; of not more than `most` pictures. Where the
    heap is too full for a question it is run again, with a little that is freed at its end."""
    source = program.rounds(_MANY)
    try:
        return _died(program, source, image, most)
    except BoardError:
        again = _SPARE.format(source=textwrap.indent(source, "    "))
        return _died(program, again, image, most)


def _died(program: Program, source: str, image: Path, most: int) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as temp:
        script = Path(temp) / program.path.name
        script.write_text(source)
        program.modules(Path(temp))
        options = Options(camera="pattern", frames=most, files=program.flash)
        with Session(image, script, options) as session:
            outcome = session.run(lambda text: None)
            how = ending.last_line(outcome.error) or outcome.kind
            if program.sees:
                return int(session.board.state()["frames"]), how
            return int(session.repl.check("print(n)").split()[-1]), how


def forecast(program: Program, image: Path) -> tuple[bool, str]:
    """Whether the rounds that are forecast are near the one in which the program dies."""
    told = profiled(program, image, _SEEN)
    if "failed" in told or not told["ends"]:
        return False, "no end is forecast"
    end = told["ends"]
    least = end["rounds"] + end["left"]
    most = None if end["most"] is None else end["rounds"] + end["most"]
    at, how = died(program, image, _BEYOND * max(least, most or 0))
    near = (1 - _WITHIN_END) * at <= (most or at) and least <= (1 + _WITHIN_END) * at
    words = f"{least}" if most == least else f"{least} to {most or '?'}"
    ran = ", run on" if end["ran"] else ""
    off = f"{100 * (least - at) / max(1, at):+.0f} %"
    return near, f"forecast {words}{ran}, died in round {at} ({off}): {how}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--firmware", nargs="+", type=Path, required=True)
    parser.add_argument("--frames", nargs="+", type=int, default=[10, 20, 60, 200])
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--ends", action="store_true")
    given = parser.parse_args()
    done = _rows(given.rows)
    for image in given.firmware:
        for program in programs(given.programs):
            for frames in [_SEEN] if given.ends else given.frames:
                what = "end" if given.ends else f"{frames} frames"
                key = f"{image.name}\t{program.path.stem}\t{what}"
                if key in done or (given.ends and not program.leaks):
                    continue
                if given.ends:
                    right, text = forecast(program, image)
                else:
                    told = profiled(program, image, frames)
                    bad = wrong(program, image, told, frames)
                    cpu = f"{told.get('cpu', 0):.1f} s"
                    right, text = not bad, "; ".join([said(told), *bad]) + f"\t{cpu}"
                done[key] = f"{'right' if right else 'WRONG'}\t{text}"
                print(f"{key}\t{done[key]}", flush=True)
                if given.rows and "no profile" not in text:
                    with given.rows.open("a") as f:
                        f.write(f"{key}\t{done[key]}\n")
    bad = sum(row.startswith("WRONG") for row in done.values())
    print(f"{bad} of {len(done)} wrong")
    return 1 if bad else 0


def _rows(path: Path | None) -> dict[str, str]:
    """{image, program, what: the rest of the row}."""
    lines = path.read_text().splitlines() if path and path.is_file() else []
    cells = (line.split("\t", 3) for line in lines)
    return {"\t".join(c[:3]): c[3] for c in cells}


if __name__ == "__main__":
    sys.exit(main())
