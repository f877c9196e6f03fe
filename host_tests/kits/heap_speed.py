# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a snapshot of a full heap takes, on unmodified MaixPy images in software: bytes on the
cable and the seconds that these take, the board's own time, and what the first to the tenth
snapshot leave there.

    .venv/bin/python host_tests/kits/heap_speed.py IMAGE... [--kib 400]

The heap holds rows of small objects, whose every word is read, up to so many KiB.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS, paths.KITS)]

import heap_truth  # noqa: E402
from maixmem_cli.emulator.ports import SerialPort  # noqa: E402
from maixmem_cli.serial.agent import Agent  # noqa: E402
from maixmem_cli.snapshot import take, view  # noqa: E402

CABLES = {"115,200 baud": (11520, 45), "1.5 M baud": (150000, 5)}  #: bytes a second, most seconds
PROGRAM = """
import gc
class Row:
    def __init__(self, i):
        self.name = 'row %d' % i
        self.place = (i, [i, None])
rows = []
while gc.mem_alloc() < {}:
    rows.append(Row(len(rows)))
"""
TIMES = 10


def one(image: Path, kib: int) -> bool:
    """Prints it; whether all is within its bounds."""
    with heap_truth.started(image) as target:
        repl = target.repl
        repl.check(heap_truth._DEEP)
        repl.check(PROGRAM.format(1024 * kib), timeout=600)
        assert isinstance(repl._port, SerialPort)
        kept = [heap_truth.Kept.of(target)]
        began = repl._port.clock()
        agent = Agent(repl)
        board = agent.begin(collect=True)
        taken = take.read(agent, board, image.name)
        agent.end()
        repl.until(b"\x04>", 30)
        seconds = repl._port.clock() - began
        kept.append(heap_truth.Kept.of(target, kept[0]))
        for _ in range(TIMES - 1):
            take.of_board(repl)
            kept.append(heap_truth.Kept.of(target, kept[0]))
        shown = view.view(taken)
        moved = agent.sent + agent.received
        print(f"{image.name}: {shown.used:,} bytes live in {len(shown.graph.sizes):,} blocks")
        print(f"  cable {agent.received:,} bytes in, {agent.sent:,} out; board {seconds:.1f} s")
        good = True
        for name, (speed, most) in CABLES.items():
            print(f"  {moved / speed:.1f} s at {name}, at most {most}")
            good &= moved / speed <= most
        first, rest = kept[1].held - kept[0].held, {k.held - kept[1].held for k in kept[2:]}
        counted = {k.counted - kept[1].counted for k in kept[2:]}
        print(f"  kept: {first} bytes by the first, {sorted(rest)} by the second to the tenth")
        print(f"  gc.mem_alloc(): {kept[1].counted - kept[0].counted}, then {sorted(counted)}")
        return good and first <= 512 and rest == {0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", nargs="+", type=Path)
    parser.add_argument("--kib", type=int, default=400)
    wanted = parser.parse_args()
    within = [one(image, wanted.kib) for image in wanted.images]
    sys.exit(not all(within))


if __name__ == "__main__":
    main()
