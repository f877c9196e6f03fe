# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the calls of a loop take while they run: the figures of `maixmem fit` against every malloc
of one call on the firmware."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated import each_image, model, needs_cc
from maixmem_cli.emulator.readers import tracer
from maixmem_cli.emulator.session import DONE, RAW_FILE, Options, Session
from maixmem_cli.firmware.builds import choose
from maixmem_cli.heap.qstrs import Qstrs
from maixmem_cli.plan.program import scratch
from maixmem_cli.plan.program.project import Call

pytestmark = needs_cc
_SIZES = ((64, 48), (160, 120))
_SMALL = 512  # what the interpreter and the C library take beside it
_BEGIN = """\
import gc, image, lcd
import KPU as kpu
lcd.init()
def again(pixels, gray, name, *args):
    img = image.Image(size=pixels)
    if gray:
        img = img.to_grayscale()
    call = getattr(img, name, None)
    if name == "find_features" and call:
        args = (image.HaarCascade("frontalface"),)
    gc.collect()
    return call(*args) if call else print("absent", name)
"""
_ARGS = {"binary": ([(0, 50)],), "find_blobs": ([(0, 100)],), "flood_fill": (1, 1)}
_LEAKS = ("find_apriltags", "find_rects")  # their arena wants more than some builds have left


def calls() -> list[Call]:
    """Each call of a picture, of both sizes and formats, as far as it takes such a picture."""
    found = []
    for do in scratch.CALLS:
        if do in ("run_yolo2", "save_jpeg", "lcd.draw_string", *_LEAKS):
            continue
        formats = ("gray",) if do == "find_edges" else ("rgb565", "gray")
        found += [Call(do, do, size, f) for size in _SIZES for f in formats]
    return found


def line(call: Call) -> str:
    args = _ARGS.get(call.do, scratch.arguments(call.do))
    return f"again({call.size}, {call.format == 'gray'}, {call.do!r}, *{args!r})"


def said(sizes: list[int]) -> int:
    """The most that is held at once."""
    held: list[int] = []
    most = 0
    for n in sizes:
        if n:
            held.append(n)
        else:
            held.pop()
        most = max(most, sum(held))
    return most


def peaks(session: Session) -> tuple[dict[int, int], set[int]]:
    """{line: the most bytes that were asked for and not given back}, and lines that got a no."""
    session.tracer.where()
    stacks = session.tracer.stacks(Qstrs(session.board.ram))
    held: dict[int, tuple[int, int]] = {}
    now: dict[int, int] = {}
    most: dict[int, int] = {}
    refused = set()
    for e in session.tracer.events():
        lines = [p.line for p in stacks.get(e.site, ()) if p.file == RAW_FILE]
        at = lines[-1] if lines else 0
        if e.kind == tracer.MALLOC and e.a:
            held[e.a] = (at, e.asked)
            now[at] = now.get(at, 0) + e.asked
            most[at] = max(most.get(at, 0), now[at])
        elif e.kind == tracer.MALLOC:
            refused.add(at)
        elif e.kind == tracer.FREE and e.a in held:
            owner, n = held.pop(e.a)
            now[owner] -= n
    return most, refused


@each_image
def test_each_call_takes_what_the_table_says(image: Path, tmp_path: Path) -> None:
    most = choose(str(image)).scratch
    wanted = calls()
    script = tmp_path / "calls.py"
    script.write_text(_BEGIN + "\n".join(map(line, wanted)) + "\n")
    with Session(image, script, Options()) as session:
        session.trace(gc=True)
        out: list[str] = []
        outcome = session.run(out.append)
        assert outcome.kind == DONE, outcome.error
        measured, refused = peaks(session)
    first = _BEGIN.count("\n") + 1
    absent = {text.split()[1] for text in "".join(out).splitlines() if text.startswith("absent")}
    compared, wrong = 0, []
    for at, call in enumerate(wanted, first):
        if call.do in absent or at in refused:
            continue
        figure = said(scratch.blocks(call, most, None))
        compared += 1
        if abs(measured.get(at, 0) - figure) > _SMALL:
            wrong.append(f"{line(call)}: the table says {figure}, the firmware {measured.get(at)}")
    assert wrong == []
    assert compared >= 8


@each_image
@pytest.mark.parametrize("name", ["v3_yolo_face.kmodel", "v3_voc20_detect.kmodel"])
def test_run_yolo2_takes_what_the_last_layer_says(image: Path, name: str, tmp_path: Path) -> None:
    file = model(name)
    script = tmp_path / "yolo.py"
    script.write_text(
        "import image\nimport KPU as kpu\ntask = kpu.load(0x300000)\n"
        "img = image.Image(size=(320, 256))\nimg.pix_to_ai()\n"
        "kpu.init_yolo2(task, 0.5, 0.3, 5, (1,) * 10)\n"
        "kpu.run_yolo2(task, img)\n"
    )
    with Session(image, script, Options(files=((0x300000, file),))) as session:
        session.trace(gc=True)
        outcome = session.run(lambda text: None)
        assert outcome.kind == DONE, outcome.error
        measured, _ = peaks(session)
    call = Call("run_yolo2", "run_yolo2", (0, 0), model="faces")
    assert abs(measured[7] - said(scratch.blocks(call, 0, file))) <= _SMALL
