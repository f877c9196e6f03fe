# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `import maixmem_auto` costs a program on a board: time and bytes of a forward(), time of a
turn. (GC heap and .mpy: bench_size.py, program A.)

    python host_tests/bench/bench_auto.py --board PORT --model ADDR --model ADDR --picture WxHxC

PORT is a serial port, a pty, socket://host:port or emu:IMAGE; two models lie in its flash at the
addresses, the second takes a picture of that size. A turn, in which one model goes and the other
comes, is compared with the firmware's deinit and load.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "kits"), str(HERE.parents[1] / "tools")]

import click  # noqa: E402
from bench_models import copy  # noqa: E402
from maixmem_cli.emulator.connect import open_board  # noqa: E402
from maixmem_cli.serial.repl import RawRepl  # noqa: E402
from maixmem_cli.text.numbers import parse_size  # noqa: E402

CALL_BUDGET = 100  # microseconds more of a forward()
TURN_BUDGET = 20000  # and of a turn, beside deinit and load
_BEGIN = """
import gc, time, image
{line}
import KPU as kpu
img = image.Image(size=({w}, {h}))
if {c} == 1:
    img = img.to_grayscale()
img.pix_to_ai()
"""
_CALLS = """
net = kpu.load({b:#x})
kpu.forward(net, img)
took, bytes = [], []
for i in range(5):
    gc.collect()
    gc.disable()
    m = gc.mem_alloc()
    t = time.ticks_us()
    kpu.forward(net, img)
    took.append(time.ticks_us() - t)
    bytes.append(gc.mem_alloc() - m)
    gc.enable()
print("@", *took)
print("@", *bytes)
kpu.deinit(net)
"""
_BARE_TURNS = """
took = []
for i in range(9):
    gc.collect()
    gc.disable()
    t = time.ticks_us()
    net = kpu.load(({a:#x}, {b:#x})[i & 1])
    kpu.deinit(net)
    took.append(time.ticks_us() - t)
    gc.enable()
print("@", *took)
"""
_TURNS = """
import maixmem_kpu
nets = [kpu.load({a:#x}), kpu.load({b:#x})]
maixmem_kpu._m.keep = 1
took = []
for i in range(9):
    gc.collect()
    gc.disable()
    t = time.ticks_us()
    nets[i & 1].model_addr()
    took.append(time.ticks_us() - t)
    gc.enable()
print("@", *took)
"""


def _rows(board: RawRepl, line: str, code: str, **values: int) -> list[list[int]]:
    """The lines of figures that a program prints after a soft reset."""
    board.soft_reset()
    out = board.check((_BEGIN + code).format(line=line, **values), timeout=300)
    return [[int(n) for n in x[2:].split()] for x in out.splitlines() if x.startswith("@ ")]


def _over(figure: float, budget: int) -> str:
    return "   OVER" if figure > budget else ""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--board", "port", required=True, metavar="PORT", help="See above.")
@click.option("--model", multiple=True, required=True, metavar="ADDR", help="Two models in flash.")
@click.option("--picture", required=True, metavar="WxHxC", help="What the second one takes.")
@click.option("--keep", is_flag=True, help="Do not copy the library again.")
def main(port: str, model: tuple[str, ...], picture: str, keep: bool) -> None:
    """Print what maixmem_auto costs on a board."""
    a, b = (parse_size(m) for m in model)
    w, h, c = (int(n) for n in picture.split("x"))
    values = {"a": a, "b": b, "w": w, "h": h, "c": c}
    with open_board(port) as board:
        if not keep:
            copy(board)
        measure(board, values)


def measure(board: RawRepl, values: dict[str, int]) -> None:
    """Runs the programs bare and with the line, and prints the differences."""
    line = "import maixmem_auto"
    (bare, bytes_bare), (auto, bytes_auto) = (
        _rows(board, text, _CALLS, **values) for text in ("", line)
    )
    more = statistics.median(auto) - statistics.median(bare)
    print(
        f"forward(): {more:.0f} us more, {min(bytes_auto) - min(bytes_bare)} bytes more"
        f"   budget {CALL_BUDGET} us, 0 bytes{_over(more, CALL_BUDGET)}"
    )
    ((*plain,),) = _rows(board, "", _BARE_TURNS, **values)
    ((*turns,),) = _rows(board, line, _TURNS, **values)
    usual = statistics.median(plain)
    for what, took in (("a first load", turns[0]), ("the second turn", turns[2])):
        print(f"{what}: {(took - usual) / 1000:.1f} ms over deinit and load")
    warm = statistics.median(turns[3:]) - usual
    print(
        f"a turn: {warm / 1000:.1f} ms over deinit and load ({usual / 1000:.1f} ms)"
        f"   budget {TURN_BUDGET / 1000:.0f} ms{_over(warm, TURN_BUDGET)}"
    )


if __name__ == "__main__":
    main()
