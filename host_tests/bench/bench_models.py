# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The model manager in figures, on a board: time of a first and of a warm use(), bytes of GC heap.

python host_tests/bench/bench_models.py --board PORT --model ADDR --model ADDR [--keep]

PORT is a serial port, a pty or socket://host:port; two models lie in its flash at the addresses.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "kits"), str(HERE.parents[1] / "tools")]

import click  # noqa: E402
from maixmem_cli.emulator.connect import open_board  # noqa: E402
from maixmem_cli.library.bytecode import compile_modules  # noqa: E402
from maixmem_cli.library.modules import K210  # noqa: E402
from maixmem_cli.serial.repl import RawRepl  # noqa: E402
from maixmem_cli.text.numbers import parse_size  # noqa: E402

WARM_BUDGET = 5  # per cent of bare deinit + load
FIRST_BUDGET = 100  # ms
# Microseconds of each call. The lines that the firmware prints when it collects lost nets take
# time on the serial line, so the collector waits, in the bare loop too; the collections that use()
# makes itself are in its time.
CODE = """
import gc, time
A, B = {}
import KPU as kpu
def bare(k):
    t = time.ticks_us()
    for i in range(k):
        for a in (B, A):
            net = kpu.load(a)
            kpu.deinit(net)
    return (time.ticks_us() - t) // (2 * k)
gc.collect()
used = gc.mem_alloc()
from maixmem_models import ModelManager
m = ModelManager()
m.add(A, A)
m.add(B, B)
gc.collect()
used = gc.mem_alloc() - used
first = []
for a in (A, B):
    t = time.ticks_us()
    m.use(a)
    first.append(time.ticks_us() - t)
m.release_all()
gc.disable()
plain = bare(10)
gc.collect()
m.use(B)
t = time.ticks_us()
for i in range(10):
    m.use(A)
    m.use(B)
warm = (time.ticks_us() - t) // 20
t = time.ticks_us()
for i in range(100):
    m.use(B)
again = (time.ticks_us() - t) // 100
gc.enable()
gc.collect()
t = time.ticks_us()
gc.collect()
collect = time.ticks_us() - t
m.release_all()
print("@", used, max(first), plain, warm, again, collect)
"""


def copy(board: RawRepl) -> None:
    """The library as .mpy onto the board."""
    with tempfile.TemporaryDirectory() as folder:
        for name, file in compile_modules(K210, 4, Path(folder)).items():
            board.write_file(f"/flash/{name}.mpy", file.read_bytes())


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--board",
    "port",
    required=True,
    metavar="PORT",
    help="Serial port, pty or socket://host:port.",
)
@click.option("--model", multiple=True, required=True, metavar="ADDR", help="Two models in flash.")
@click.option("--keep", is_flag=True, help="Do not copy the library again.")
def main(port: str, model: tuple[str, ...], keep: bool) -> None:
    """Print the figures of the model manager on a board."""
    if len(model) != 2:
        raise click.UsageError("name two models")
    addresses = tuple(parse_size(m) for m in model)
    with open_board(port) as board:
        if not keep:
            copy(board)
        board.soft_reset()
        out = board.check(CODE.format(addresses), timeout=120)
    line = next(text for text in out.splitlines() if "@ " in text)
    used, first, plain, warm, again, collect = (int(n) for n in line.split("@ ")[1].split())
    print(f"GC heap of the manager, its port and two models: {used} bytes")
    print(
        f"slowest first use(), header read included: {first / 1000:.1f} ms   budget {FIRST_BUDGET}"
    )
    print(
        f"bare deinit + load, mean of both: {plain / 1000:.1f} ms; a gc.collect() now: "
        f"{collect / 1000:.1f} ms"
    )
    print(
        f"a warm use() that switches: {warm / 1000:.1f} ms, "
        f"{100 * (warm - plain) / plain:.1f} % more   budget {WARM_BUDGET} %"
    )
    print(f"use() of a resident model: {again} us")


if __name__ == "__main__":
    main()
