# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The demo: two models take turns on a simulated K210 board, and what would have hung it.

With real models where there are some ($MAIXMEM_MODELS, or ../shared/models beside the project), else with
models built here; it says which.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "host_tests"), str(ROOT / "lib")]

import kmodel_build  # noqa: E402
import maixmem_kmodel  # noqa: E402
import paths  # noqa: E402
from maixmem import kib  # noqa: E402
from maixmem_cli import cmd_sim  # noqa: E402
from maixmem_cli.firmwares import FIRMWARES  # noqa: E402
from rich.console import Console  # noqa: E402

FIRMWARE = "full"
BUILD = FIRMWARES[FIRMWARE]
_SPARE = 64 << 10
ADDRESSES = (0x300000, 0x600000)  # as in examples/switch_models.py
BOTH = "import KPU as kpu\na = kpu.load(0x300000)\nb = kpu.load(0x600000)\n"


def real_models() -> list[Path]:
    """Two real models that the firmware can load one at a time, and hangs on together; none where there are none."""
    folder = paths.models()
    fit = []
    for path in sorted(folder.glob("*.kmodel")) if folder else []:
        try:
            info = maixmem_kmodel.read_info(str(path))
        except maixmem_kmodel.KModelError:
            continue
        if not info.refuse(BUILD.capabilities()) and info.peak("load_addr") < BUILD.heap - _SPARE:
            fit.append((info, path))
    pairs = [(a[0].nbytes + b[0].nbytes, a[1], b[1]) for a in fit for b in fit if hang(a[0], b[0])]
    return list(max(pairs)[1:]) if pairs else []


def hang(first: maixmem_kmodel.KModel, second: maixmem_kmodel.KModel) -> bool:
    """True when, beside the first, the second's file still fits but not what its load takes for a moment."""
    left = BUILD.heap - first.need("load_addr")
    return second.nbytes + _SPARE < left < second.peak("load_addr") - _SPARE


def built_models(folder: Path) -> list[Path]:
    """Two models made here, the second grown until the firmware hangs on both together."""
    first = build(folder / "built_a.kmodel", (128, 256, 64))
    for channels in range(64, 512, 32):
        second = build(folder / "built_b.kmodel", (256, 512, channels))
        if hang(*(maixmem_kmodel.read_info(str(p)) for p in (first, second))):
            break
    return [first, second]


def build(path: Path, channels: tuple[int, ...]) -> Path:
    """A small picture through convolutions with that many channels."""
    layers = [("conv", n) for n in channels] + [("dequantize",)]
    path.write_bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())
    return path


def main() -> int:
    console = Console()
    with tempfile.TemporaryDirectory() as temp:
        models = real_models()
        kind = "real models"
        if len(models) < 2:
            models, kind = built_models(Path(temp)), "models BUILT HERE (no real ones beside the project)"
        console.rule(f"[bold]Two {kind}, one KPU, firmware {FIRMWARE}")
        for address, path in zip(ADDRESSES, models):
            info = maixmem_kmodel.read_info(str(path))
            peak = kib(info.peak("load_addr"))
            console.print(f"{address:#x}  {path.name}: {kib(info.nbytes)}, {peak} while it loads")
        both = Path(temp) / "both.py"
        both.write_text(BOTH)
        flash = dict(zip(ADDRESSES, models))
        console.rule("What happens to many: load one, then the other")
        console.print(BOTH, highlight=False)
        cmd_sim.run(both, FIRMWARE, flash)
        console.rule("In turn: examples/switch_models.py")
        return cmd_sim.run(ROOT / "examples" / "switch_models.py", FIRMWARE, flash)


if __name__ == "__main__":
    sys.exit(main())
