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
ADDRESSES = (0x300000, 0x800000)


def real_models() -> list[Path]:
    """The two largest real V3 models that the firmware can load one at a time; fewer when there are none."""
    folder = paths.models()
    fit = []
    for path in sorted(folder.glob("*.kmodel")) if folder else []:
        try:
            info = maixmem_kmodel.read_info(str(path))
        except maixmem_kmodel.KModelError:
            continue
        room = FIRMWARES[FIRMWARE]["ram"]
        if not info.refuse(FIRMWARES[FIRMWARE]) and (info.peak("load_addr") or room) < room - 65536:
            fit.append((info.peak("load_addr"), path))
    return [path for _, path in sorted(fit)[-2:]]


def built_models(folder: Path) -> list[Path]:
    """Two models made here, of sizes that do not fit together."""
    made = []
    for name, nbytes, main_mem in (("a", 400_000, 45_000), ("b", 1_500_000, 50_000)):
        path = folder / f"built_{name}.kmodel"
        path.write_bytes(kmodel_build.build_v3(nbytes=nbytes, main_mem=main_mem))
        made.append(path)
    return made


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
            console.print(f"{address:#x}  {path.name}: {kib(info.nbytes)}, needs {kib(info.peak('load_addr'))} while it loads")
        console.rule("examples/button_switch.py on the simulated board")
        return cmd_sim.run(ROOT / "examples" / "switch_models.py", FIRMWARE, dict(zip(ADDRESSES, models)))


if __name__ == "__main__":
    sys.exit(main())
