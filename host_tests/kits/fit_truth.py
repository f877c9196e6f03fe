# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `maixmem fit SCRIPT.py` says against how the script ends on the firmware, as a table.

    python host_tests/kits/fit_truth.py FOLDER --firmware maixpy.bin [--only PART] [--stand-in]

FOLDER has the scripts, and models.tsv: script, flash address or /sd/name, model file (of FOLDER or
of $MAIXMEM_MODELS; without one: a card is in). The truth is a run of twice as many pictures that
nobody follows; where fit names the round in which a heap is full, a run beyond that round, with as
many pictures in each as the script takes. Then fit of the project of its record must say the same.
With --stand-in fit runs it there, the truth is the firmware's.
Exit status 1 where a verdict is wrong, names no line, or cannot be given of more than one in ten
of the scripts whose end is known: they run, or die for want of memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS)]
from maixmem_cli.emulator.session import DONE, HANGING, LIMIT, RAISED, Options, Session  # noqa: E402
from maixmem_cli.firmware.builds import choose  # noqa: E402
from maixmem_cli.plan import judge, of_record  # noqa: E402
from maixmem_cli.plan.fit import fit  # noqa: E402
from maixmem_cli.plan.program import project  # noqa: E402
from maixmem_cli.record.record import Record  # noqa: E402
from maixmem_cli.runs import ending, recorded  # noqa: E402
from maixmem_cli.runs.run_firmware import failing  # noqa: E402

RUNS, DIES, ELSE = "runs", "dies", "ends otherwise"
_SAYS = {judge.FITS: RUNS, judge.NOT: DIES, judge.CANNOT_TELL: ELSE}
_BEYOND = 1.25  # times the round in which fit says that a heap is full
_MOST = 5000  # pictures
_ONE_IN = 10


@dataclass(frozen=True)
class Row:
    """One script: what fit says, how the firmware ends, whether fit of its project agrees."""

    script: str
    said: str
    why: str
    truth: str
    ended: str
    agrees: bool | None

    @property
    def told(self) -> bool:
        return self.said != ELSE

    @property
    def wrong(self) -> bool:
        """It runs, and was said to die; or the other way round, of whatever it dies."""
        differs = self.told and (self.said == RUNS) != (self.truth == RUNS)
        return differs or self.agrees is False


def truth(script: Path, image: Path, options: Options) -> tuple[str, str]:
    """How it ends on the firmware: a word, and the last line. A thread or a callback that gets no
    memory says so, and the rest goes on: it dies of that as well."""
    said: list[str] = []
    with failing(script), Session(image, script, options) as session:
        outcome = session.run(said.append)
    caught = ending.last_line(ending.caught("".join(said)))
    if outcome.kind == LIMIT and not ending.of_memory(caught):
        caught = ""
    error = ending.last_line(outcome.error) or caught
    if outcome.kind in HANGING:
        return DIES, outcome.kind
    if error and ending.of_memory(error):
        return DIES, error
    good = outcome.kind in (DONE, LIMIT) and not caught
    return (RUNS if good else ELSE), error or outcome.kind


def compare(script: Path, image: Path, options: Options, *, stand_in: bool) -> Row:
    """Runs fit and the truth."""
    build = choose(str(image)).of_table() or choose(str(image)).measured()
    place = recorded.Place(build, None if stand_in else image, options)
    found = recorded.run(script, place)
    verdict = judge.judge(found, script.read_text(encoding="utf-8", errors="replace"))
    first = found.first_full
    frames = max(2 * (options.frames or 0), found.pictures)
    if verdict.kind == judge.NOT and first and first.dies and found.end.kind == LIMIT:
        frames = min(_MOST, int(_BEYOND * first.dies * found.each_round))
    seconds = (options.seconds or 0) * frames / (options.frames or 1)
    is_so, ended = truth(script, image, replace(options, frames=frames, seconds=seconds))
    agrees = None
    if verdict.kind != judge.CANNOT_TELL:
        agrees = _of_project(found, build) == verdict.fits
    return Row(script.name, _SAYS[verdict.kind], verdict.lines[0], is_so, ended, agrees)


def _of_project(found: Record, build) -> bool:
    with tempfile.TemporaryDirectory() as temp:
        path = Path(temp) / "project.toml"
        wanted = of_record.project(found, build)
        path.write_text(of_record.text(wanted, found.script, build.name, path.parent))
        answer = fit(project.read(path, instead=build))
        return answer.fits and not answer.pictures


def boards(folder: Path, options: Options) -> Iterator[tuple[Path, Options]]:
    """Each script with what lies on its board, (script, options); cards are made below TMPDIR."""
    rows: dict[str, list[tuple[str, str]]] = {}
    table = folder / "models.tsv"
    for line in table.read_text().splitlines() if table.is_file() else ():
        script, place, *file = line.split("\t")
        rows.setdefault(script, []).append((place, file[0] if file else ""))
    for script in sorted(folder.glob("*.py")):
        files, card = [], None
        for place, name in rows.get(script.name, ()):
            models = Path(os.environ.get("MAIXMEM_MODELS", "."))
            path = next((p for p in (folder / name, models / name) if name and p.is_file()), None)
            if place.startswith("/sd"):
                card = card or Path(tempfile.mkdtemp(prefix="card-"))
                if path:
                    to = card / place[len("/sd/") :]
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, to)
            elif path:
                files.append((int(place, 0), path))
        yield script, replace(options, files=tuple(files), sd=card)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--firmware", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--frames", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the board's clock")
    parser.add_argument("--stand-in", action="store_true")
    given = parser.parse_args()
    options = Options(
        camera="pattern", frames=given.frames, seconds=given.seconds, begin=(1, 20.0)
    )
    count: Counter[str] = Counter()
    rows: list[Row] = []
    for script, board in boards(given.folder, options):
        if given.only not in script.name:
            continue
        try:
            row = compare(script, given.firmware, board, stand_in=given.stand_in)
        except Exception:  # any: it is one row of the table
            count["failed"] += 1
            print(f"FAILED  {script.name}\n{traceback.format_exc()}", flush=True)
            continue
        finally:
            if board.sd:
                shutil.rmtree(board.sd, ignore_errors=True)
        rows.append(row)
        mark = "WRONG" if row.wrong else "told" if row.told else "not told"
        count[mark] += 1
        plan = {None: "-", True: "plan agrees", False: "PLAN DIFFERS"}[row.agrees]
        print(f"{mark:8} {row.script}\t{row.why}\t{row.truth}: {row.ended}\t{plan}", flush=True)
    print(dict(count))
    known = sum(row.truth != ELSE for row in rows)
    untold = sum(row.truth != ELSE and not row.told for row in rows)
    nameless = sum(not row.told and ".py:" not in row.why for row in rows)
    print(f"{untold} of {known} with a known end not told, {nameless} without a line")
    wrong = count["WRONG"] or count["failed"] or nameless
    return 1 if wrong or untold * _ONE_IN > known else 0


if __name__ == "__main__":
    sys.exit(main())
