# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A MaixPy script that does what a project.toml says, step by step, and prints both heaps after
each.

Each line is "@ NAME heap_free mem_free"; the names are those of the steps of `maixmem fit`.
Firmware without heap_free() prints "memtest" in its place, and what KPU.memtest() prints on the
lines after.
"""

from __future__ import annotations

from maixmem_cli.plan.fit import Fit
from maixmem_cli.plan.program.project import Image
from maixmem_cli.plan.program.sizes import gc_pool

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
_YOLO = """\
import image
import KPU
def yolo(name, anchors):
    seen = image.Image(size=(28, 28))
    seen.pix_to_ai()
    handle = models.use(name).raw
    if handle.net_arg() is None:
        KPU.init_yolo2(handle, 0.5, 0.3, anchors, (1,) * anchors * 2)
    if KPU.run_yolo2(handle, seen) is None:
        print("nothing found")
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
    parts += _loop(answer)
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
    lines = []
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


def _loop(answer: Fit) -> list[str]:
    """Two rounds: each image anew, at its place in the list, then the calls."""
    project = answer.project
    if not project.calls and all(i.once for i in project.images):
        return []
    lines = [_YOLO] if [c for c in project.calls if c.do == "run_yolo2"] else []
    lines += ['mark("loop")', "for again in range(2):", "    pass"]
    at = _first_image(answer) if project.images else 0
    for image in project.images:
        for _ in range(image.count):
            if not image.once:
                lines.append(f"    keep[{at}] = {_made(image)}")
                lines += [f"    keep[{at}].pix_to_ai()"] if image.ai else []
            at += 1
    return lines + [f"    {_CALLS.get(c.do, _OF_IMAGE).format(c=c)}" for c in project.calls]


def _first_image(answer: Fit) -> int:
    """Where the images begin in `keep`: behind the program, a picture to make them of, pools that
    are made before."""
    steps = answer.project.steps
    pools = "pools" in steps and steps.index("pools") < steps.index("images")
    return 2 + (len(answer.project.pools) if pools else 0)


_OF_IMAGE = "sensor.snapshot().{c.do}()"
_CALLS = {
    "run_yolo2": "yolo({c.model!r}, {c.anchors})",
    "lcd.draw_string": "lcd.draw_string(0, 0, 'abc')",
    "mean": "sensor.snapshot().mean(1)",
    "find_blobs": "sensor.snapshot().find_blobs([(0, 100)])",
}
_STEPS = {
    "camera": _camera,
    "lcd": _lcd,
    "pools": _pools,
    "images": _images,
    "models": _models,
    "results": _results,
}
