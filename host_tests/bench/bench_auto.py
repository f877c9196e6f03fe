# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `import maixmem_auto` costs a program on a board: time and bytes of a forward() and a
run_yolo2(), time of a turn. (GC heap and .mpy: bench_size.py, program A.)

    python host_tests/bench/bench_auto.py --board PORT --model ADDR --model ADDR --picture WxHxC
        [--yolo ADDR]

PORT is a serial port, a pty, socket://host:port or emu:IMAGE; two models lie in its flash at the
addresses, the second takes a picture of that size; at --yolo lies one of YOLO's with five anchors
that takes 320x240x3. A turn, in which one model goes and the other comes, is compared with the
firmware's deinit and load.
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

LINE = "import maixmem_auto"
CALL_BUDGET = 100  # microseconds more of a forward() or run_yolo2()
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
{begin}
{call}
took, bytes = [], []
for i in range(5):
    gc.collect()
    gc.disable()
    m = gc.mem_alloc()
    t = time.ticks_us()
    {call}
    took.append(time.ticks_us() - t)
    bytes.append(gc.mem_alloc() - m)
    gc.enable()
print("@", *took)
print("@", *bytes)
kpu.deinit(net)
"""
_CALLED = {
    "forward": ("", "kpu.forward(net, img)"),
    "run_yolo2": (
        "kpu.init_yolo2(net, 0.5, 0.3, 5, (1.9, 2.5, 2.9, 3.9, 4.0, 5.4, 5.2, 6.9, 6.7, 9.0))",
        "kpu.run_yolo2(net, img)",
    ),
}
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


def _rows(board: RawRepl, line: str, code: str, **values: object) -> list[list[int]]:
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
@click.option("--yolo", metavar="ADDR", help="One of YOLO's in flash.")
@click.option("--keep", is_flag=True, help="Do not copy the library again.")
def main(port: str, model: tuple[str, ...], picture: str, yolo: str | None, keep: bool) -> None:
    """Print what maixmem_auto costs on a board."""
    a, b = (parse_size(m) for m in model)
    w, h, c = (int(n) for n in picture.split("x"))
    values = {"a": a, "b": b, "w": w, "h": h, "c": c}
    with open_board(port) as board:
        if not keep:
            copy(board)
        calls(board, "forward", values)
        if yolo:
            calls(board, "run_yolo2", {"b": parse_size(yolo), "w": 320, "h": 240, "c": 3})
        turns(board, values)


def calls(board: RawRepl, name: str, values: dict[str, int]) -> None:
    """Runs a call bare and with the line, and prints what it takes more."""
    begin, call = _CALLED[name]
    (bare, bytes_bare), (auto, bytes_auto) = (
        _rows(board, text, _CALLS, begin=begin, call=call, **values) for text in ("", LINE)
    )
    more = statistics.median(auto) - statistics.median(bare)
    bytes_more = min(bytes_auto) - min(bytes_bare)
    print(
        f"{name}(): {more:.0f} us more, {bytes_more} bytes more"
        f"   budget {CALL_BUDGET} us, 0 bytes{_over(max(more, bytes_more and 999), CALL_BUDGET)}"
    )


def turns(board: RawRepl, values: dict[str, int]) -> None:
    """Prints what turns take more than the firmware's deinit and load."""
    ((*plain,),) = _rows(board, "", _BARE_TURNS, **values)
    ((*took,),) = _rows(board, LINE, _TURNS, **values)
    usual = statistics.median(plain)
    for what, one in (("a first load", took[0]), ("the second turn", took[2])):
        print(f"{what}: {(one - usual) / 1000:.1f} ms over deinit and load")
    warm = statistics.median(took[3:]) - usual
    print(
        f"a turn: {warm / 1000:.1f} ms over deinit and load ({usual / 1000:.1f} ms)"
        f"   budget {TURN_BUDGET / 1000:.0f} ms{_over(warm, TURN_BUDGET)}"
    )


if __name__ == "__main__":
    main()
