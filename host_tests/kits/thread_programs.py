# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random programs with threads, timers and YOLO on firmware, as they are and after `import
maixmem_auto`; after each a walk from outside through the system heap.

    python host_tests/kits/thread_programs.py --firmware maixpy.bin [--count 200] [--seed 0]

A program loads one to three models, starts threads with stacks of 4 to 64 KB before or after
init_yolo2(), perhaps a timer, and runs all of them. A bare run that hangs, raises, or ends on a
heap that is not whole has failed: what it printed proves nothing. Where the line seems to make one
worse, the bare program runs again with threads that run as soon as they begin: one that fails then
was a race that the bare run had won by luck. Exit status 1 where the line
made one worse, hangs, or leaves a heap that is not whole without a word.
"""

from __future__ import annotations

import argparse
import ast
import collections
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import paths

sys.path[:0] = [str(p) for p in (*paths.DEVICE_PATH, paths.TOOLS) if str(p) not in sys.path]
import kmodel_build  # noqa: E402
from maixmem_cli.emulator.board import Board  # noqa: E402
from maixmem_cli.emulator.ports import SerialPort  # noqa: E402
from maixmem_cli.emulator.prepared import booted, files_of_library  # noqa: E402
from maixmem_cli.heap import heaps  # noqa: E402
from maixmem_cli.serial.repl import ConnectionLost, PortError, RawRepl  # noqa: E402

AUTO = "import maixmem_auto\n"
CELLS = ((7, 7), (10, 7), (20, 15))
STACKS = (None, 4096, 8192, 12288, 16384, 24576, 32768, 65536)
PERIODS = (20, 60, 200, 700)
BEGINS = "    _thread.start_new_thread(run, (name,) + args)\n"
AT_ONCE = BEGINS + "    time.sleep_ms(5)\n"
LARGE = 1_200_000  # bytes: with one of these beside others there is not room for all
FIRST = 0x300000
SECONDS = 60.0
_HEAD = """\
import gc, time, image, KPU, machine
try:
    import _thread
except ImportError:
    _thread = None
ANCHORS = (1.889, 2.525, 2.947, 3.941, 4.0, 5.366, 5.155, 6.923, 6.718, 9.01)
nets, pictures, said = [], [], {}
def load(address, w, h):
    nets.append(KPU.load(address))
    pictures.append(image.Image(size=(w, h)))
    pictures[-1].pix_to_ai()
def yolo(i):
    return KPU.run_yolo2(nets[i], pictures[i])
def values(i):
    made = KPU.forward(nets[i], pictures[i])
    return [made[k] for k in range(3)]
def run(name, calls, rounds, pause):
    try:
        for n in range(rounds):
            for call, i in calls:
                said[name].append(call(i))
                time.sleep_ms(pause)
    except Exception as e:
        said[name].append(repr(e))
    said[name].append("end")
def begin(name, stack, *args):
    said[name] = []
    if stack:
        _thread.stack_size(stack)
    _thread.start_new_thread(run, (name,) + args)
def tick(timer):
    try:
        found = repr(values(0))
    except Exception as e:
        found = repr(e)
    if found not in said["timer"]:
        said["timer"].append(found)
"""
_TIMER = """\
said["timer"] = []
timer = machine.Timer(machine.Timer.TIMER0, machine.Timer.CHANNEL0,
    mode=machine.Timer.MODE_PERIODIC, period={}, unit=machine.Timer.UNIT_MS, callback=tick)
"""
_END = """\
for n in range(400):
    if all([said[x][-1:] == ["end"] for x in said if x != "timer"]):
        break
    time.sleep_ms(10)
{}print("@", said)
"""


def models(folder: Path) -> list[tuple[int, Path]]:
    """Of each number of cells a small model and a large one, at addresses of their own."""
    made: list[tuple[int, Path]] = []
    at = FIRST
    for large in (False, True):
        for w, h in CELLS:
            layers = [("conv", 8, {"halve": True})] * 3 + [("conv", 30), ("dequantize",)]
            path = folder / f"{w}x{h}{large:d}.kmodel"
            options = {"main_mem": LARGE} if large else {}
            model = kmodel_build.v3((8 * w, 8 * h, 3), layers, **options)
            path.write_bytes(model.to_bytes())
            made.append((at, path))
            at += 0x100000
    return made


def program(seed: int) -> str:
    """The text of a program, without the line of maixmem_auto."""
    rng = random.Random(seed)
    used = [rng.randrange(6) if rng.random() < 0.4 else rng.randrange(3) for _ in range(3)]
    used = list(dict.fromkeys(used[: rng.randint(1, 3)]))
    lines = [_HEAD]
    inits = [f"KPU.init_yolo2(nets[{i}], 0.5, 0.3, 5, ANCHORS)\n" for i in range(len(used))]
    for kind in used:
        w, h = CELLS[kind % 3]
        lines.append(f"load({FIRST + 0x100000 * kind:#x}, {8 * w}, {8 * h})\n")
    starts = []
    for name in ("one", "two")[: rng.randint(1, 2)]:
        what = _calls(rng, len(used))
        rounds, pause = rng.randint(1, 4), rng.choice((0, 1, 5, 20))
        starts.append(f'begin("{name}", {rng.choice(STACKS)}, {what}, {rounds}, {pause})\n')
    timer = rng.random() < 0.4
    if timer:
        starts.append(_TIMER.format(rng.choice(PERIODS)))
    early = rng.random() < 0.2  # threads that begin before their models are ready
    lines += [*starts, *inits] if early else [*inits, *starts]
    what = _calls(rng, len(used))
    lines.append('said["main"] = []\n')
    lines.append(f'run("main", {what}, {rng.randint(1, 5)}, {rng.choice((0, 3, 10))})\n')
    lines.append(_END.format("timer.deinit()\n" if timer else ""))
    return "".join(lines)


def _calls(rng: random.Random, n: int) -> str:
    calls = [f"({rng.choice(('yolo', 'values'))}, {rng.randrange(n)})" for _ in range(2)]
    return "[" + ", ".join(calls) + "]"


@dataclass(frozen=True)
class End:
    """How a run ended: did it come to its end, what was said by whom, is the heap whole."""

    done: bool
    said: dict[str, list[object]]
    whole: bool
    text: str

    @property
    def errors(self) -> list[str]:
        return [x for who in self.said.values() for x in who if isinstance(x, str) and "(" in x]

    @property
    def good(self) -> bool:
        ends = all(who[-1:] == ["end"] for name, who in self.said.items() if name != "timer")
        return self.done and self.whole and "main" in self.said and ends and not self.errors


def run(board: Board, finder: heaps.Finder, image: Path, text: str) -> End:
    """One run on a board at its prompt. `finder` has walked its heap before: a new one would begin
    behind what is damaged."""
    repl = RawRepl(image.name, SerialPort(board))
    out = error = ""
    done = True
    try:
        out, error = repl.run(text, timeout=SECONDS)
    except (ConnectionLost, PortError) as e:
        done, error = False, str(e)
    said: dict[str, list[object]] = {}
    for line in out.splitlines():
        if line.startswith("@ "):
            said = ast.literal_eval(line[2:])
    try:
        whole = not unlike(board.ram, finder.system(board.ram))
    except heaps.NotFound:
        whole = False
    return End(done, said, whole, (out + error)[-1500:])


def unlike(ram: heaps.Ram, heap: heaps.SystemHeap) -> list[int]:
    """Addresses where a free chunk's size is not written behind it, which the next free() of what
    is there would go by. The firmware clears one where it frees a model of YOLO."""
    ends = [(c.address - 16 + c.size, c.size) for c in heap.holes]
    return [at for at, size in ends if heaps.word(ram, at) != size]


def verdict(bare: End, auto: End) -> str:
    """In a word or two, whether the line made it worse."""
    if not auto.done:
        return "WORSE: hangs" if bare.done else "hangs as bare"
    if not auto.whole and "damaged" not in auto.text and "past the end" not in auto.text:
        return "WORSE: silent damage" if bare.whole else "silent damage as bare"
    if not bare.good:
        return "better" if auto.good else "fails as bare"
    if not auto.good:
        return "WORSE: fails"
    same = all(
        set(map(str, auto.said[x])) == set(map(str, bare.said[x]))
        if x == "timer"
        else auto.said[x] == bare.said[x]
        for x in bare.said
        if x != "timer" or (bare.said[x] and auto.said[x])
    )
    return "as bare" if same else "WORSE: other results"


def verdicts(image: Path, seeds: range) -> Iterator[tuple[int, str, End, End]]:
    """(seed, verdict, bare, auto) of each program."""
    with tempfile.TemporaryDirectory() as temp:
        with booted(image, models(Path(temp)), files_of_library()) as board:
            start = board.snapshot()
            finder = heaps.Finder()
            finder.system(board.ram)
            for seed in seeds:

                def ends(text: str) -> End:
                    board.restore(start)
                    return run(board, finder, image, text)

                text = program(seed)
                bare, auto = ends(text), ends(AUTO + text)
                word = verdict(bare, auto)
                if word.startswith("WORSE") and not ends(text.replace(BEGINS, AT_ONCE)).good:
                    word = "a race that bare had won"
                yield seed, word, bare, auto


def main() -> int:
    ask = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    ask.add_argument("--firmware", type=Path, action="append", required=True, metavar="IMAGE")
    ask.add_argument("--count", type=int, default=200)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--print", action="store_true", help="the program of --seed alone")
    args = ask.parse_args()
    if args.print:
        print(program(args.seed))
        return 0
    bad = 0
    for image in args.firmware:
        counts: collections.Counter[str] = collections.Counter()
        bare_damaged = 0
        for seed, word, bare, auto in verdicts(image, range(args.seed, args.seed + args.count)):
            counts[word] += 1
            bare_damaged += bare.done and not bare.whole
            if word.startswith("WORSE") or word.split()[0] in ("hangs", "silent"):
                print(
                    f"{image.name} seed {seed}: {word}\n  bare {bare}\n  auto {auto}", flush=True
                )
                bad += 1
        print(f"{image.name}: {dict(counts)}; {bare_damaged} bare runs ended on a damaged heap")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
