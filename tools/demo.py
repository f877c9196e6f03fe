# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The demo: a project that does not fit is checked on the desk, changed, and run on a simulated K210 board.

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
from maixmem_cli import cmd_fit, cmd_sim, project  # noqa: E402
from maixmem_cli.firmwares import FIRMWARES  # noqa: E402
from maixmem_cli.fit import fit, headers  # noqa: E402
from maixmem_cli.fit_cure import cure  # noqa: E402
from maixmem_cli.project import Project  # noqa: E402
from rich.console import Console  # noqa: E402

FIRMWARE = "full"
BUILD = FIRMWARES[FIRMWARE]
BOTH_AND_CAMERA = """
import sensor
sensor.reset()
sensor.set_framesize(sensor.QVGA)
from maixmem_models import ModelManager
models = ModelManager(keep=2)
models.add("a", {:#x})
models.add("b", {:#x})
models.use("a")
models.use("b")
models.status()
import maixmem
maixmem.report()
"""
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


def plan(console: Console, folder: Path, models: list[Path]) -> Project:
    """`maixmem fit` on both models resident beside a camera; the project as it advises to change it."""
    path = folder / "project.toml"
    rows = [
        f'[[model]]\nfile = "{file}"\naddress = {address:#x}\nresident = true\n'
        for address, file in zip(ADDRESSES, models)
    ]
    path.write_text(f'firmware = "{FIRMWARE}"\n[camera]\nsize = "QVGA"\n' + "".join(rows))
    wanted = project.read(path)
    infos = headers(wanted)
    answer = fit(wanted, infos)
    cmd_fit.show(console, answer)
    changes, after = cure(answer, infos)
    cmd_fit.advise(console, answer, changes, after)
    return after.project if after else wanted


def main() -> int:
    console = Console()
    with tempfile.TemporaryDirectory() as temp:
        models = real_models()
        kind = "real models"
        if len(models) < 2:
            models, kind = built_models(Path(temp)), "models BUILT HERE, no real ones there"
        console.rule(f"[bold]Two {kind}; one KPU; firmware {FIRMWARE}")
        for address, path in zip(ADDRESSES, models):
            info = maixmem_kmodel.read_info(str(path))
            peak = kib(info.peak("load_addr"))
            console.print(f"{address:#x}  {path.name}: {kib(info.nbytes)}, {peak} while it loads")
        console.rule("1. What happens to many: load one, then the other")
        both = Path(temp) / "both.py"
        both.write_text(BOTH)
        flash = dict(zip(ADDRESSES, models))
        console.print(BOTH, highlight=False)
        cmd_sim.run(both, FIRMWARE, flash)
        console.rule("2. Ask before: maixmem fit")
        changed = plan(console, Path(temp), models)
        console.rule(f"3. That change made: both stay, on {changed.firmware}")
        both.write_text(BOTH_AND_CAMERA.format(*(m.address for m in changed.models)))
        placed = {m.address: m.file for m in changed.models}
        cmd_sim.run(both, changed.firmware, placed, board_heap=changed.gc_heap)
        console.rule(f"4. Or in turn, on {FIRMWARE}: examples/switch_models.py")
        return cmd_sim.run(ROOT / "examples" / "switch_models.py", FIRMWARE, flash)


if __name__ == "__main__":
    sys.exit(main())
