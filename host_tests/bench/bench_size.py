# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytes: .mpy of every device module, and the GC heap that importing takes on a 64-bit MicroPython."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parents[1]),
    str(Path(__file__).resolve().parents[2] / "tools"),
]

import paths  # noqa: E402
from maixmem_cli.bytecode import compile_modules  # noqa: E402
from maixmem_cli.modules import K210  # noqa: E402

MODULE_BUDGET = 6 << 10
TOTAL_BUDGET = 32 << 10
#: what is imported -> budget in KiB (3 bytes of heap per byte of .mpy)
IMPORTS = {"maixmem": 8, "maixmem_pool": 12, " ".join(K210): 72}


def compile_to(folder: Path, bytecode: int) -> None:
    """Every device module as NAME.mpy."""
    compile_modules([p.stem for p in paths.LIB.glob("*.py")], bytecode, folder)


def imported(names: str, folder: Path) -> int:
    """Bytes of GC heap kept after importing the modules, measured in a process of its own."""
    code = "import gc\ngc.collect()\na = gc.mem_alloc()\n"
    code += "".join(f"import {n}\n" for n in names.split())
    code += "gc.collect()\nprint(gc.mem_alloc() - a)\n"
    path = f"{folder}:{paths.SHIM}:.frozen"
    shim = "import Maix, KPU, image\n"  # the firmware's own modules cost no GC heap
    command = [str(paths.micropython()), "-X", "heapsize=2m", "-c", shim + code]
    done = subprocess.run(
        command, check=True, env={"MICROPYPATH": path}, capture_output=True, text=True
    )
    return int(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as temp:
        four, six = Path(temp) / "4", Path(temp) / "6"
        for folder, bytecode in ((four, 4), (six, 6)):
            folder.mkdir()
            compile_to(folder, bytecode)
        sizes = {p.stem: p.stat().st_size for p in sorted(four.glob("*.mpy"))}
        for name, size in sizes.items():
            print(
                f"{name:24} {size:6} bytes of .mpy v4 -O3   budget {MODULE_BUDGET}{'   OVER' if size > MODULE_BUDGET else ''}"
            )
        total = sum(sizes[n] for n in K210)
        print(
            f"{'all that a K210 needs':24} {total:6} bytes of .mpy v4 -O3   budget {TOTAL_BUDGET}{'   OVER' if total > TOTAL_BUDGET else ''}"
        )
        for names, budget in IMPORTS.items():
            taken = imported(names, six)
            print(
                f"import {names.replace('maixmem_', '_'):60} {taken:6} bytes of GC heap   budget {budget << 10}{'   OVER' if taken > budget << 10 else ''}"
            )


if __name__ == "__main__":
    main()
