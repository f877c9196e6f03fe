# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Scripts in `maixmem sim` on the stand-in and on a firmware image, as a table of how each ended.

    python host_tests/kits/two_boards.py FOLDER --firmware maixpy.bin [--only PART] [--jobs N]

FOLDER has the scripts, and models.tsv as never_worse.py takes it. A copy is run: endless loops
make three rounds, the end prints what both heaps have. The run ends after --seconds of the
board's clock on both sides, or by a limit of this computer's time (--patience). Alike: the same
exit status, the same last error, where it hangs the same line, the same lines that begin with
"@", heap_free() to the byte, and the GC heap within 16 KiB. Where that alone differs, the image
is asked again from other starts (never_worse.py): words left on C's stack keep garbage alive by
chance. --keep FOLDER keeps what each side said. Exit status 1 where more than --most differ."""

from __future__ import annotations

import argparse
import collections
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import never_worse
import paths
from maixmem_cli.firmware.builds import FIRMWARES, choose

_GC = 16384  # bytes by which gc.mem_free() may differ
_HANGS = 3  # exit status
NO_END = "no end"
_END = re.compile(r"^MM_END gc_free (-?\d+) heap_free (-?\d+)", re.MULTILINE)
_AT = re.compile(r"^(?:maixmem:)? *at (\S+:\d+)[: ]", re.MULTILINE)
# the lines before the print only keep the bytes that it takes equal
_TAIL = """
try:
    kpu_net_names_mm = None
    import gc as _g_mm
    from Maix import utils as _u_mm
    _g_mm.collect()
    print("MM_END gc_free", _g_mm.mem_free(), "heap_free", _u_mm.heap_free())
except Exception as e:
    print("MM_ERR", e)
"""


@dataclass(frozen=True)
class End:
    """How a run ended: the exit status or NO_END, the last error, the line of a hang, the bytes
    that both heaps had at the end of the script, the lines that it printed with a "@"."""

    status: str
    error: str = ""
    line: str = ""
    gc: int | None = None
    heap: int | None = None
    lines: tuple[str, ...] = ()

    def like(self, other: End) -> bool:
        """Whether both ended alike."""
        return replace(self, gc=other.gc) == other and abs((self.gc or 0) - (other.gc or 0)) <= _GC

    def but_for_garbage(self, other: End) -> bool:
        """Whether only the GC heap differs."""
        return self.gc is not None and self == replace(other, gc=self.gc)

    def __str__(self) -> str:
        found = [self.status, self.error[:90], self.line]
        if self.gc is not None:
            found.append(f"gc_free {self.gc} heap_free {self.heap}")
        return ", ".join(filter(None, found))

    def others(self, other: End) -> str:
        """Lines that the other has not, and its own."""
        pairs = zip_longest(self.lines, other.lines, fillvalue="nothing")
        return "".join(f"\n    {a[:120]} | image: {b[:120]}" for a, b in pairs if a != b)


def bounded(source: str) -> str:
    """The script with an end."""
    source = source.replace("\r\n", "\n").lstrip("\ufeff")
    return never_worse.ENDLESS.sub(r"\1for _mmn in range(3):", source) + "\n" + _TAIL


def end(status: str, said: str) -> End:
    """What an output says."""
    lines = said.replace("\r", "").splitlines()
    errors = [line for line in lines if never_worse.RAISES.match(line)]
    lasts, at = _END.findall(said), _AT.findall(said)
    gc, heap = map(int, lasts[-1]) if lasts else (None, None)
    hangs = status == f"exit {_HANGS}" and at
    said_so = tuple(line for line in lines if line.startswith("@ "))
    return End(status, errors[-1] if errors else "", at[-1] if hangs else "", gc, heap, said_so)


def sim(script: Path, options: list[str], patience: float) -> tuple[End, str]:
    """One run, and all that it said."""
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(script), *options]
    try:
        done = subprocess.run(
            command,
            cwd=paths.TOOLS,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=patience,
            check=False,
        )
        status, said = f"exit {done.returncode}", done.stdout
    except subprocess.TimeoutExpired as e:
        status, said = NO_END, e.stdout or b""
    text = said.decode(errors="replace")
    return end(status, text), f"{' '.join(command)}\n{text}\n[{status}]\n"


def both(
    script: Path, places: list[tuple[str, Path | None]], args: argparse.Namespace
) -> tuple[End, End]:
    """How it ended on the stand-in, and on the image."""
    with tempfile.TemporaryDirectory() as temp:
        source = bounded(script.read_text(encoding="utf-8"))
        copy = Path(temp) / "run" / script.name
        copy.parent.mkdir()
        copy.write_text(source, encoding="utf-8")
        flash, card = never_worse.put(places, Path(temp))
        options = ["--seconds", str(args.seconds)]
        for address, file in flash:
            options += ["--flash", f"{file}@{address:#x}"]
        if card:
            options += ["--sd", str(card)]
        found = []
        on_image = [str(args.firmware), "--camera", "pattern"]
        for side, board in (("stand-in", [args.build]), ("image", on_image)):
            kept = args.keep and args.keep / side / f"{script.stem}.txt"
            if kept and kept.is_file() and side in args.kept:
                said = kept.read_text(encoding="utf-8")
                status = said.rstrip().rpartition("\n[")[2].rstrip("]")
                found.append(end(status, said))
                continue
            ended, said = sim(copy, [*options, "--firmware", *board], args.patience)
            found.append(ended)
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(said, encoding="utf-8")
        ours, theirs = found
        for other in never_worse.others(source) if ours.but_for_garbage(theirs) else ():
            if not ours.like(theirs):
                copy.write_text(other, encoding="utf-8")
                again = [*options, "--firmware", *on_image]
                theirs, _ = sim(copy, again, args.patience)
    return ours, theirs


def table(args: argparse.Namespace) -> int:
    """Prints a line for each script, those that differ with both ends; how many differ."""
    models = never_worse.models(args.folder)
    scripts = [p for p in sorted(args.folder.glob("*.py")) if re.search(args.only, p.name)]
    count: collections.Counter[str] = collections.Counter()
    with ThreadPoolExecutor(args.jobs) as pool:
        todo = [pool.submit(both, p.resolve(), models.get(p.name, []), args) for p in scripts]
        for path, future in zip(scripts, todo):
            ours, theirs = future.result()
            word = "alike" if ours.like(theirs) else "DIFFERS"
            count[word] += 1
            differ = f"{ours} | image: {theirs}{ours.others(theirs)}"
            shown = f"{ours}" if word == "alike" else differ
            print(f"{path.name[:60]:60} {word:8} {shown}", flush=True)
    print(f"{args.firmware.name}: {len(scripts)} scripts, {dict(count)}")
    return count["DIFFERS"]


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("folder", type=Path)
    ask.add_argument("--firmware", type=Path, required=True, metavar="IMAGE")
    ask.add_argument("--build", help="of the stand-in (default: what the image is)")
    ask.add_argument("--only", default="", metavar="PART", help="names with this (a pattern)")
    ask.add_argument("--jobs", type=int, default=1)
    ask.add_argument("--seconds", type=float, default=120, help="of the board's clock (120)")
    ask.add_argument("--patience", type=float, default=900, help="seconds of wall (900)")
    ask.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps what each side said")
    ask.add_argument(
        "--kept", action="append", default=[], help="takes this side from --keep if it is there"
    )
    ask.add_argument("--most", type=int, default=0, metavar="N", help="that may differ (0)")
    args = ask.parse_args()
    args.firmware = args.firmware.resolve()
    image = choose(str(args.firmware)).image
    args.build = args.build or next(n for n, f in FIRMWARES.items() if f.image == image)
    return int(table(args) > args.most)


if __name__ == "__main__":
    sys.exit(main())
