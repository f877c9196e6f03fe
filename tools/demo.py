# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The demo: two models hang a K210 board; one asks before, changes what is proposed, and it runs.
On a simulated board.

With real models where $MAIXMEM_MODELS names a folder of them, else with models built here; it says
which.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [
    str(ROOT / name) for name in ("tools", "host_tests/kits", "host_tests/device", "lib")
]

import kmodel_build  # noqa: E402
import maixmem_kmodel  # noqa: E402
import paths  # noqa: E402
from maixmem_cli.commands import fit as cmd_fit  # noqa: E402
from maixmem_cli.firmware.builds import FIRMWARES  # noqa: E402
from maixmem_cli.plan import of_plan  # noqa: E402
from maixmem_cli.plan.changes import cheapest  # noqa: E402
from maixmem_cli.plan.fit import fit, headers  # noqa: E402
from maixmem_cli.plan.program import project  # noqa: E402
from maixmem_cli.plan.program.project import Project  # noqa: E402
from maixmem_cli.text.language import ENGLISH  # noqa: E402
from maixmem_cli.text.numbers import hexa  # noqa: E402
from maixmem_cli.text.output import console  # noqa: E402
from maixmem_report import kib  # noqa: E402
from rich.console import Console  # noqa: E402

FIRMWARE = "full"
BUILD = FIRMWARES[FIRMWARE]
HEAP = BUILD.heap or 0
ADDRESSES = (0x300000, 0x600000)
_SPARE = 64 << 10
_NOISE = ("kpu_net ", "[MAIXPY]", "init i2c")  # what the firmware prints of its own accord
_BARE = """\
import KPU as kpu
{loads}"""
_MANAGED = """\
import sensor
sensor.reset()
sensor.set_framesize(sensor.QVGA)
from Maix import utils
from maixmem_models import ModelManager
models = ModelManager(keep={keep})
{adds}
for name in {turns}:
    models.use(name)
    print(name, "is loaded,", utils.heap_free(), "bytes of system heap are free")
"""


def real_models() -> list[Path]:
    """Two real models that the firmware can load one at a time, and hangs on together; none where
    there are none."""
    folder = paths.models()
    fit = []
    for path in sorted(folder.glob("*.kmodel")) if folder else []:
        try:
            info = maixmem_kmodel.read_info(str(path))
        except maixmem_kmodel.KModelError:
            continue
        refused = info.unsupported_reason(BUILD.capabilities())
        if not refused and (info.peak("load_addr") or 0) < HEAP - _SPARE:
            fit.append((info, path))
    pairs = [(a, b) for a in fit for b in fit if hang(a[0], b[0])]
    largest = max(pairs, key=lambda pair: sum(info.nbytes or 0 for info, _ in pair), default=())
    return [path for _, path in largest]


def hang(first: maixmem_kmodel.KModel, second: maixmem_kmodel.KModel) -> bool:
    """True when, beside the first, the second's file still fits but not what its load takes for a
    moment."""
    left = HEAP - (first.need("load_addr") or 0)
    return (second.nbytes or 0) + _SPARE < left < (second.peak("load_addr") or 0) - _SPARE


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


def plan(out: Console, folder: Path, models: list[Path]) -> Project:
    """`maixmem fit` on both models resident beside a camera; the project as it advises to change
    it."""
    path = folder / "project.toml"
    rows = [
        f'[[model]]\nfile = "{file}"\naddress = {address:#x}\nresident = true\n'
        for address, file in zip(ADDRESSES, models)
    ]
    text = f'firmware = "{FIRMWARE}"\n[camera]\nsize = "QVGA"\n' + "".join(rows)
    path.write_text(text, encoding="utf-8")
    wanted = project.read(path)
    infos = headers(wanted)
    answer = fit(wanted, infos)
    cmd_fit.show(out, answer)
    changes, after = cheapest(answer, infos)
    cmd_fit.advise(out, of_plan.of_fit(answer, changes, after, ENGLISH))
    return after.project if after else wanted


def listing(out: Console, text: str) -> None:
    """Lines of a script or of its output, as they are."""
    for line in text.splitlines():
        out.print(f"    {line}", markup=False, soft_wrap=True)


def simulate(
    out: Console, script: Path, text: str, changed: Project | None, models: list[Path]
) -> int:
    """Runs a script on the simulated board and prints what it printed; its exit status."""
    script.write_text(text, encoding="utf-8")
    options = ["--firmware", changed.firmware.name if changed else FIRMWARE]
    if changed:
        options += ["--board-heap", str(changed.gc_heap)]
    for address, file in zip(ADDRESSES, models):
        options += ["--flash", f"{file}@{hexa(address)}"]
    # the script is ours: CPython may run it where there is no MicroPython
    command = [sys.executable, "-m", "maixmem_cli", "sim", "--unsafe", str(script), *options]
    done = subprocess.run(
        command, cwd=ROOT / "tools", capture_output=True, text=True, encoding="utf-8", check=False
    )
    said = (done.stdout + done.stderr).splitlines()
    lines = [line for line in said if line.strip() and not line.startswith(_NOISE)]
    listing(out, "\n".join(lines))
    return done.returncode


def chapter(out: Console, title: str, words: str) -> None:
    out.print(f"\n{title}", style="bold")
    out.print(words, markup=False)


def models_in(out: Console, folder: Path) -> list[Path]:
    """The models of the demo, and a line about each."""
    models, kind = real_models(), "real models"
    if not models:
        models, kind = built_models(folder), "models built here, because no real ones were found"
    out.print(f"A K210 board, simulated, firmware {FIRMWARE}; {kind}:", style="bold")
    for address, path in zip(ADDRESSES, models):
        info = maixmem_kmodel.read_info(str(path))
        size, peak = kib(info.nbytes or 0), kib(info.peak("load_addr") or 0)
        out.print(f"  {path.name} at {hexa(address)}: {size}, {peak} while it loads")
    return models


def hangs(out: Console, folder: Path, models: list[Path]) -> int:
    """The program that loads both; its exit status."""
    words = (
        "A program loads both. There is room for the second file, and none for the buffer that"
        " reading it takes: the firmware does not check, and the board stops without a word."
    )
    chapter(out, "1. What hangs", words)
    loads = "".join(f"net{i} = kpu.load({hexa(a)})\n" for i, a in enumerate(ADDRESSES))
    bare = _BARE.format(loads=loads)
    listing(out, bare)
    out.print("which prints, on the simulated board:")
    return simulate(out, folder / "both.py", bare, None, models)


def managed(out: Console, changed: Project) -> str:
    """The program for the project as it was changed."""
    turns = not all(m.resident for m in changed.models)
    words = f"Both stay loaded, on firmware {changed.firmware.name}."
    if turns:
        words = (
            "ModelManager frees one model before it loads the other, and asks for room before"
            " each load."
        )
    chapter(out, "3. What changes", words)
    names = [m.name for m in changed.models]
    adds = "\n".join(f"models.add({m.name!r}, {hexa(m.address or 0)})" for m in changed.models)
    text = _MANAGED.format(keep=1 if turns else 2, adds=adds, turns=repr((*names, names[0])))
    listing(out, text)
    return text


def main() -> int:
    out = console()
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        models = models_in(out, folder)
        hung = hangs(out, folder, models)
        words = (
            "The project says firmware, camera and models; the answer is the arithmetic of the"
            " board's own allocator."
        )
        chapter(out, "2. Check before, on a computer: maixmem fit project.toml", words)
        changed = plan(out, folder, models)
        text = managed(out, changed)
        chapter(out, "4. How it runs", "The same board. No hang: each load finds what it needs.")
        status = simulate(out, folder / "managed.py", text, changed, models)
        return 0 if status == 0 and hung == 3 else 1


if __name__ == "__main__":
    sys.exit(main())
