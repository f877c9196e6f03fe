# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Figures of the pools: instructions, time, fragmentation, overhead, random operations,
out-of-memory sweep.

python host_tests/bench/bench_pool.py [instructions time fragmentation overhead model sweep]
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "kits")]

import interpreters  # noqa: E402
import paths  # noqa: E402
import pool_sweep  # noqa: E402

UNIX = next(i for i in interpreters.ALL if i.name == "unix")
OLD = next(i for i in interpreters.ALL if i.name == "mp2019")
CPYTHON = next(i for i in interpreters.ALL if i.name == "cpython")

#: what is timed: N rounds of each
ROUNDS = """
import gc, sys, time
from maixmem_pool import BufferPool
class Minimal:
    def __init__(self, n):
        self._free = [memoryview(bytearray(64)) for _ in range(n)]
    def acquire(self):
        return self._free.pop()
    def release(self, buf):
        self._free.append(buf)
def rounds(pool, n):
    for _ in range(n):
        buf = pool.acquire()
        pool.release(buf)
def plain(pool, n):
    for _ in range(n):
        buf = bytearray(320 * 240 * 2)
def empty(pool, n):
    for _ in range(n):
        pass
KINDS = {"minimal": (rounds, Minimal), "pool": (rounds, lambda n: BufferPool(64, n)),
         "bytearray": (plain, int), "empty": (empty, int)}
"""


def run(code: str, interpreter=UNIX, timeout: float = 3600) -> str:
    """What a script prints on an interpreter."""
    with tempfile.TemporaryDirectory() as temp:
        script = Path(temp) / "bench.py"
        script.write_text(code, encoding="utf-8")
        done = interpreter.run(script, timeout, (HERE,))
    if done.returncode:
        raise SystemExit(done.stdout)
    return done.stdout


def counted(kind: str, n: int, names: int) -> int:
    """Instructions that valgrind counts for a whole run with n rounds, after so many names
    more."""
    before = "".join(f"def name_before_{i}(): pass\n" for i in range(names))
    with tempfile.TemporaryDirectory() as temp:
        script = Path(temp) / "bench.py"
        script.write_text(
            before + ROUNDS + f"run, make = KINDS[{kind!r}]\nrun(make(8), {n})\n", encoding="utf-8"
        )
        command = [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            sys.executable,
            *UNIX.command(script),
        ]
        env = dict(os.environ, PYTHONHASHSEED="0", MICROPYPATH=str(paths.LIB))
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def instructions() -> None:
    """Exact instruction counts for one round, the loop itself taken off: the middle one of five
    programs.

    The interpreter's lookup cache goes by where names lie in its table: programs that differ only
    in names used before cost up to a third more or less.
    """
    if not shutil.which("valgrind"):
        print("instructions: not counted, valgrind is not here (apt install valgrind)")
        return
    rows = sorted((one_program(names) for names in (0, 3, 7, 11, 19)), key=lambda r: r[1] / r[0])
    minimal, pool, plain = rows[2]
    print(
        f"instructions: acquire+release {pool:.0f}, minimal pop/append class "
        f"{minimal:.0f}, bytearray(320*240*2) {plain:.0f}"
    )
    print(
        f"  {pool / minimal:.2f} times the minimal class (at most 2), "
        f"1/{plain / pool:.0f} of the bytearray (at most 1/20); "
        f"from {rows[0][1] / rows[0][0]:.2f} to {rows[-1][1] / rows[-1][0]:.2f} times"
    )


def one_program(names: int) -> tuple[float, float, float]:
    """Instructions a round of (minimal, pool, bytearray) in a program that used some more names
    before."""
    per = {
        kind: (counted(kind, 2 * n, names) - counted(kind, n, names)) / n
        for kind, n in (("minimal", 400), ("pool", 400), ("empty", 400), ("bytearray", 100))
    }
    return tuple(per[k] - per["empty"] for k in ("minimal", "pool", "bytearray"))


TIMES = """
def times(run, thing, each, n):
    t = []
    for _ in range(n):
        a = time.ticks_us()
        run(thing, each)
        t.append(time.ticks_diff(time.ticks_us(), a) * 1000 // each)
    t.sort()
    return t[n // 2], t[-1]
print("pool", *times(rounds, BufferPool(64, 8), 10, 500))
print("bytearray", *times(plain, None, 1, 500))
"""


def time() -> None:
    """Median and worst time, automatic collection on."""
    for line in run(ROUNDS + TIMES).splitlines():
        what, median, worst = line.split()
        print(
            f"time: {what:9} median {int(median) / 1000:7.2f} us, worst "
            f"{int(worst) / 1000:8.2f} us"
        )


#: seeds of the figure, and ten that nothing was chosen on
SEEDS = {"seeds 1-10": range(1, 11), "held-out seeds 101-110": range(101, 111)}


def fragmentation() -> None:
    """10 seeds of 2,000 steps in a heap of 512 KiB, twice."""
    for name, seeds in SEEDS.items():
        in_pieces = {}
        for how in ("plain", "pool", "arena"):
            rows = [
                run(f"import fragmentation\nprint(*fragmentation.run({how!r}, {seed}))\n").split()
                for seed in seeds
            ]
            served, in_pieces[how], out, small = (sum(map(int, column)) for column in zip(*rows))
            print(
                f"fragmentation: {name}: {how:6} {served} served, {in_pieces[how]} "
                f"refused in pieces, {out} out of memory, {small} small refused"
            )
        share = in_pieces["arena"] / in_pieces["plain"]
        print(
            f"  in pieces: pool {in_pieces['pool']} within what it registered (0), arena "
            f"{share:.2f} of plain (aim: 0.10)"
        )


OVERHEAD = """
import test_pool
for count in (1, 4, 16, 64, 256):
    print(count, test_pool.overhead(count))
"""


def overhead() -> None:
    """GC heap that a pool takes beside its block."""
    for line in run(OVERHEAD).splitlines():
        count, taken = map(int, line.split())
        print(f"overhead: {count:4} buffers {taken:6} bytes (at most {64 * count + 1024})")


def model() -> None:
    """Random operations against the obvious models: (right, refused as they must be, checks)."""
    for interpreter, pools, arenas in (
        (CPYTHON, 10000000, 300000),
        (UNIX, 100000, 100000),
        (OLD, 100000, 300),
    ):
        code = "import test_pool, test_arena\n"
        code += (
            f"print(test_pool.against_a_model({pools}), test_arena.against_a_model({arenas}))\n"
        )
        print(
            f"model: {interpreter.name:8} pool {pools}, arena {arenas}: "
            f"{run(code, interpreter).strip()}"
        )


def sweep() -> None:
    """Every heap size in steps of 64 bytes, from one that fails at import to one that works."""
    outcomes = pool_sweep.sweep(64)
    print(f"sweep: {pool_sweep.summary(outcomes)}")


BENCHES = (instructions, time, fragmentation, overhead, model, sweep)


def main(names: list[str]) -> None:
    for bench in BENCHES:
        if not names or bench.__name__ in names:
            bench()
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
