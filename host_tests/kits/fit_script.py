# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A MaixPy script that does what a project.toml says, step by step, and prints both heaps after
each.

Each line is "@ NAME heap_free mem_free"; the names are those of the steps of `maixmem fit`.
Firmware without heap_free() prints "memtest" in its place, and what KPU.memtest() prints on the
lines after.
"""

from __future__ import annotations

from maixmem_cli.plan.fit import Fit, gc_pool
from maixmem_cli.plan.project import Image

_BEGIN = """\
import gc
import os
os.chdir("/flash")  # with a card in, the firmware begins in /sd and finds no module of /flash
from Maix import utils
keep = []
def deep(n):  # over what earlier programs left on the stack: the collector takes it for references
    return n and deep(n - 1)
def mark(name):
    deep(30)
    gc.collect()
    gc.collect()
    if hasattr(utils, "heap_free"):
        print("@", name, utils.heap_free(), gc.mem_free())
    else:  # early firmware prints it
        print("@", name, "memtest", gc.mem_free())
        import KPU
        KPU.memtest()
def gray(w, h):  # in functions, so that what they make on the way is not found on the stack later
    return keep[1].resize(w, h).to_grayscale(1)
def floats(n):
    return tuple([0.5 * i for i in range(n)])
mark("start")
keep.append(bytearray({program} - ({boot} - gc.mem_free())))  # less what this script takes itself
mark("program")
"""
_CAMERA = """\
import sensor
sensor.reset(dual_buff={dual})
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.{size})
mark("camera")
"""


def script(answer: Fit) -> str:
    """The program of a project that `fit` has answered; ends with a line "@ end"."""
    project = answer.project
    boot = gc_pool(project.gc_heap) - project.firmware.gc_used
    parts = [_BEGIN.format(program=project.program, boot=boot)]
    if project.models:
        parts.append("from maixmem_models import ModelManager")
        parts.append(f"models = ModelManager(keep={_keep(answer)})")
        parts += [_add(m) for m in project.models]
        parts.append('mark("maixmem for models")')
    if project.pools:
        parts += ["from maixmem_pool import ImagePool", 'ImagePool(8, 8, "rgb565", 1)']
        parts.append('mark("maixmem for pools")')
    for step in project.steps:
        parts += _STEPS[step](answer)
    return "\n".join([*parts, 'print("@ end")', ""])


def _keep(answer: Fit) -> int:
    """How many models stay: all, or the resident ones and one that takes its turn."""
    count = len(answer.project.models)
    return count - len(answer.turns) + 1 if answer.turns else count


def _add(model) -> str:
    source, more = repr(model.path), ""
    if model.address is not None:  # nbytes: for firmware that cannot read flash
        source, more = f"{model.address:#x}", f", nbytes={model.file.stat().st_size}"
    if model.stream:
        more += ", stream=(0, 8, 80000000)"
    return f"models.add({model.name!r}, {source}, pin={model.resident}{more})"


def _camera(answer: Fit) -> list[str]:
    camera = answer.project.camera
    lines = [_CAMERA.format(dual=camera.dual_buff, size=camera.size)]
    if camera.windowing:
        lines.append(f"sensor.set_windowing({camera.windowing})")
    return [*lines, "sensor.run(1)"]


def _lcd(answer: Fit) -> list[str]:
    return ["import lcd", "lcd.init()", 'mark("lcd")']


def _pools(answer: Fit) -> list[str]:
    lines = []
    for p in answer.project.pools:
        lines.append(
            f"keep.append(ImagePool({p.size[0]}, {p.size[1]}, {p.format!r}, {p.count}, ai={p.ai}))"
        )
        lines.append(f"mark({p.name!r})")
    return lines


def _made(image: Image) -> str:
    w, h = image.size
    if image.make == "image":
        made = f"image.Image(size=({w}, {h}))"
        return f"{made}.to_grayscale()" if image.format == "gray" else made
    made = f"keep[1].resize({w}, {h})"
    return {"resize": made, "copy": f"{made}.copy()", "to_grayscale": f"gray({w}, {h})"}[
        image.make
    ]


def _images(answer: Fit) -> list[str]:
    lines = ["import image", "keep.insert(1, image.Image(size=(8, 8)))"]
    for image in answer.project.images:
        for _ in range(image.count):
            lines.append(f"keep.append({_made(image)})")
            if image.ai:
                lines.append("keep[-1].pix_to_ai()")
        lines.append(f"mark({image.name!r})")
    return lines


def _models(answer: Fit) -> list[str]:
    resident = [m.name for m in answer.project.models if m.name not in answer.turns]
    # use() does this before the first load; done here, the free bytes after it can be printed
    lines = ['models.port.room("heap")', 'mark("given back")']
    before = ""
    for name in [*_first(answer, resident), *answer.turns]:
        if before in answer.turns:
            lines += [f"models.release({before!r})", f'mark("without {before}")']
        lines += [f"models.use({name!r})", f"mark({name!r})"]
        before = name
    if answer.turns:
        lines.append(f"models.use({answer.stays!r})")
    return lines


def _first(answer: Fit, names: list[str]) -> list[str]:
    """In the order of the steps: resident models are loaded first."""
    return [s.what for s in answer.steps if s.what in names and s.region == "heap"]


def _results(answer: Fit) -> list[str]:
    lines = []
    for r in answer.project.results:
        lines += [f"keep.append(floats({r.values}))", f"mark({r.name!r})"]
    return lines


_STEPS = {
    "camera": _camera,
    "lcd": _lcd,
    "pools": _pools,
    "images": _images,
    "models": _models,
    "results": _results,
}
