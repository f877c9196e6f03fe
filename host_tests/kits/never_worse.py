# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Never worse than bare: scripts on firmware as they are and after `import maixmem_auto`, as a
table of how each ended.

    python host_tests/kits/never_worse.py FOLDER --firmware maixpy.bin [--only PART] [--jobs N]

FOLDER has the scripts, and models.tsv: script, flash address or /sd/name, model file (of FOLDER or
of $MAIXMEM_MODELS; without one: a card is in). A copy is run: endless loops make three rounds, a
clock's fps() is a constant and its ticks count calls, each result of a model is printed. The
camera sees one picture. Where it seems worse, the bare script runs three times more: a little
later in a GC heap that was used before, beside thirty small objects, and with its models run by a
function (the firmware's run_yolo2 reads what the C stack had before). What then differs from the
first time (a clock, an address, pixels that nobody wrote, a hang) is no matter of the line. Exit
status 1 where one is worse.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS)]
from maixmem_cli.emulator.session import DONE, HANGING, Options, Session  # noqa: E402
from maixmem_cli.firmware.builds import choose  # noqa: E402
from maixmem_k210_chip import SPIFFS_START  # noqa: E402

RESULTS, PICTURE = "WORSE: other results", "WORSE: another picture"
EARLIER = "WORSE: ends earlier"
AUTO = "import maixmem_auto\n"
ENDLESS = re.compile(r"^([ \t]*)while[ \t]*\(?[ \t]*(?:True|1)[ \t]*\)?[ \t]*:", re.MULTILINE)
RUNS = re.compile(r"\b(\w+)\.(run_yolo2|forward)\(")
FPS = re.compile(r"\b\w+\.fps\(\)")
TICKS = re.compile(r"\bu?time\.ticks(?:_ms|_us|_cpu)?\(\)")
RAISES = re.compile(r"^\w*(?:Error|Exception|NoRoom)\b.*")
SECONDS = 90.0  # of the board's clock
_HEAD = """\
_mm_now = [0]
def _mm_ticks():
    _mm_now[0] += 10
    return _mm_now[0]
def _mm_ran(run, *args, **how):
    made = run(*args, **how)
    values = []
    try:
        while made.size() and len(values) < 4:
            values.append(made[len(values)])
    except (AttributeError, IndexError):
        pass
    print("@", values or made)
    return made
"""
_TAIL = "\nprint('@ the end')\n"
_LATER = """\
import gc as _mm_gc, time as _mm_time
_mm_time.sleep_ms(1237)
_mm_kept = []
try:
    while True:
        _mm_kept.append(bytearray(b"\\xa5" * 2000))
except MemoryError:
    _mm_kept = _mm_kept[:1]
_mm_gc.collect()
"""
_OBJECTS = """\
class _MmObject:
    def __init__(self):
        self.a = 1
_mm_objects = [_MmObject() for _mm_n in range(30)]
"""
_DEEPER = """\
def _mm_run(run, args, how):
    return run(*args, **how)
"""
_OTHER_STARTS = (_LATER, _OBJECTS)
_VARIES = "varies by itself"


@dataclass(frozen=True)
class End:
    """How a run ended: its kind, the last error, raised or printed, what the models gave, the
    display's picture."""

    kind: str
    error: str
    results: tuple[str, ...]
    picture: str

    @property
    def dies(self) -> bool:
        return self.kind in HANGING

    def __str__(self) -> str:
        return self.error[:100] or self.kind


def bounded(source: str) -> str:
    """The script with an end, which says what its models gave."""
    source = source.replace("\r\n", "\n").lstrip("\ufeff")
    source = ENDLESS.sub(r"\1for _mm_n in range(3):", source)
    source = TICKS.sub("_mm_ticks()", FPS.sub("10.0", source))
    source = RUNS.sub(r"_mm_ran(\1.\2, ", source)
    return _HEAD + source + _TAIL


def others(source: str) -> list[str]:
    """The bare script from other starts, and with its models run by a function of its own."""
    deeper = source.replace("made = run(*args, **how)", "made = _mm_run(run, args, how)")
    return [start + source for start in _OTHER_STARTS] + [_DEEPER + deeper]


def verdict(bare: End, auto: End) -> str:
    """In a word or two, whether the line made it worse."""
    if bare.dies:
        return "hangs as bare" if auto.dies else "better"
    if auto.dies:
        return "WORSE: hangs"
    if bare.kind == DONE and not bare.error:
        if auto.kind != DONE or auto.error:
            return EARLIER
        if auto.results != bare.results:
            return RESULTS
        return "as bare" if auto.picture == bare.picture else PICTURE
    if auto.kind == DONE and not auto.error:
        return "better"
    if auto.results[: len(bare.results)] != bare.results:
        return EARLIER
    if len(auto.results) > len(bare.results):
        return "better"
    return "as bare" if auto.error == bare.error else "other words"


def fair(bare: End, auto: End, again: Sequence[End]) -> str:
    """The verdict without what differs between runs of the bare script."""
    if auto.dies and any(a.dies for a in again):
        return f"hangs as bare, {_VARIES}"
    word = verdict(*(_steady(end, bare, again) for end in (bare, auto)))
    return word if word.startswith("WORSE") else f"{word}, {_VARIES}"


def _steady(end: End, bare: End, again: Sequence[End]) -> End:
    varies = {i for a in again for i, (x, y) in enumerate(zip(bare.results, a.results)) if x != y}
    results = tuple(_VARIES if i in varies else x for i, x in enumerate(end.results))
    same = all(bare.picture == a.picture for a in again)
    return replace(end, results=results, picture=end.picture if same else _VARIES)


def models(folder: Path) -> dict[str, list[tuple[str, Path | None]]]:
    """{script: [(address or name on the card, file)]} of models.tsv."""
    found: dict[str, list[tuple[str, Path | None]]] = {}
    table = folder / "models.tsv"
    for line in table.read_text(encoding="utf-8").splitlines() if table.is_file() else ():
        script, place, name = line.split("\t")
        there = [p / name for p in (folder, paths.models()) if p and name and (p / name).is_file()]
        if name and not there:
            raise FileNotFoundError(f"{table}: {name} is neither there nor in $MAIXMEM_MODELS")
        found.setdefault(script, []).append((place, there[0] if there else None))
    return found


def put(
    places: list[tuple[str, Path | None]], folder: Path
) -> tuple[tuple[tuple[int, Path], ...], Path | None]:
    """What lies where: (address, file) of the flash, and the folder for the card, filled here."""
    card = None
    for place, file in places:
        if place.startswith("/sd"):
            card = folder / "sd"
            card.mkdir(exist_ok=True)
            if file:
                target = card / place[len("/sd/") :]
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    return tuple((int(p, 16), f) for p, f in places if f and not p.startswith("/sd")), card


def run(image: Path, name: str, source: str, places: list[tuple[str, Path | None]]) -> End:
    """One run on a board of its own."""
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        flash, card = put(places, folder)
        picture, script = folder / "seen.ppm", folder / name
        seen = bytes(
            v for y in range(240) for x in range(320) for v in (x * y >> 8 & 255, x & 255, y)
        )
        picture.write_bytes(b"P6 320 240 255\n" + seen)
        script.write_text(source, encoding="utf-8")
        options = Options(files=flash, sd=card, camera=str(picture), seconds=SECONDS)
        said: list[str] = []
        with Session(image, script, options) as session:
            outcome = session.run(said.append)
            shown = hashlib.sha256(session.board.picture()).hexdigest()[:12]
    lines = "".join(said).splitlines()
    kind = outcome.kind
    if kind == DONE and "@ the end" not in lines:
        kind = "exits"
    errors = [x for x in [*lines, *outcome.error.splitlines()] if RAISES.match(x)] or [""]
    return End(kind, errors[-1], tuple(x for x in lines if x.startswith("@ ")), shown)


def compare(
    image: Path, script: Path, places: list[tuple[str, Path | None]]
) -> tuple[str, str, str]:
    """The verdict, and both ends in words."""
    for place, file in places:
        if file and not place.startswith("/sd"):
            if int(place, 16) < choose(str(image)).image:
                return f"not run: {place} is inside the firmware", "", ""
            if int(place, 16) + file.stat().st_size > SPIFFS_START:
                return f"not run: {place} lies over /flash, where the library is", "", ""
    try:
        source = bounded(script.read_text(encoding="utf-8"))
        bare = run(image, script.name, source, places)
        auto = run(image, script.name, AUTO + source, places)
        word = verdict(bare, auto)
        if word.startswith("WORSE"):
            again = [run(image, script.name, other, places) for other in others(source)]
            word = fair(bare, auto, again)
    except (OSError, ValueError) as e:
        return f"not run: {e}", "", traceback.format_exc()
    return word, str(bare), str(auto)


def table(
    image: Path, folder: Path, only: str = "", jobs: int = 1
) -> dict[str, tuple[str, str, str]]:
    """{script: its verdict, and both ends}, printed as it grows."""
    places = models(folder)
    scripts = [p for p in sorted(folder.glob("*.py")) if re.search(only, p.name)]
    found = {}
    with ProcessPoolExecutor(jobs) as pool:
        todo = [pool.submit(compare, image, p, places.get(p.name, [])) for p in scripts]
        for path, future in zip(scripts, todo):
            found[path.name] = word, bare, auto = future.result()
            print(
                f"{path.name[:60]:60} {word:24} {bare}" + (f" -> {auto}" if auto != bare else "")
            )
            sys.stdout.flush()
    print(image.name, dict(collections.Counter(word for word, _, _ in found.values())))
    return found


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("folder", type=Path)
    ask.add_argument("--firmware", type=Path, action="append", required=True, metavar="IMAGE")
    ask.add_argument("--only", default="", metavar="PART", help="names with this (a pattern)")
    ask.add_argument("--jobs", type=int, default=1)
    args = ask.parse_args()
    words = [
        word
        for image in args.firmware
        for word, _, _ in table(image, args.folder, args.only, args.jobs).values()
    ]
    return int(any(w.startswith("WORSE") for w in words))


if __name__ == "__main__":
    sys.exit(main())
