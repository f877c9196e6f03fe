# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is known of a run, as named values; a name that is not there is not known.

| name | is |
|---|---|
| board | a name of errors/rows/boards.toml |
| script, on, build, pictures | the file, what it ran on, the build, pictures that it took |
| end, error, row, means | a word of record.py, a traceback's last line, its row and meaning |
| at, line, source | the line that ended it with its text, its number, its text |
| top_line | the line at the top of the script that was being run then |
| doing | what that line does: load, camera, lcd and so on |
| in_loop | "yes": that line had been run before, with fewer pictures |
| heap, requested, free, largest | which heap got nothing, for how much, what it had |
| model, address, lies_at | the file of a model, where it was loaded from, where it lies |
| model_w, model_h, img_w, img_h | the picture that a model takes, and that it got |
| too_small | "yes": that picture is |
| gc_heap | bytes that the GC heap was set to |
| frame, camera_line, dual_buff, window_line | the camera, as set up |
| loads | "yes": it loads a model |
| needs_v4 | "yes": that model is V4, and the firmware runs V3 alone |
| most, keeps | the line that has most of that heap; what it has, where it got nothing itself |
| grows_at, grows_heap, grows_each | what keeps more with each round |
| grows_dies, grows_latest | the round in which that heap is full; at the latest |
| missing, missing_name | what the run did not have |
| flash_file, card_file | the same, where it is a file of /flash or of the card |
| needs_card | "yes": it did not have the card |
| reason | why the stand-in hangs |
| overflow | "yes": a thread's stack was written past its end |
| newer, instead | what the line has that MaixPy's Python does not, and what does the same |
| of_text, asserted | the script's text is wrong; a check of a driver failed |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from k210_model.frame_sizes import SIZES
from maixmem_kmodel import KModelError, read_info
from maixmem_report import kib

from maixmem_cli.answer.values import Address, Bytes, Value
from maixmem_cli.errors import numbers, table
from maixmem_cli.record import record
from maixmem_cli.record.record import End, Missing, Place, Record
from maixmem_cli.text import syntax
from maixmem_cli.text.numbers import MODEL_PLACES

_DOES = (  # what a line does, by its text; the first counts
    ("load", re.compile(r"\bload(?:_flash)?\(")),
    ("setup", re.compile(r"\b(?:init_yolo2|set_outputs|set_layers|classifier)\(")),
    ("camera", re.compile(r"\bset_framesize\(|\bsensor\.(?:reset|run)\(")),
    ("lcd", re.compile(r"\blcd\.\w+\(")),
    ("pix_to_ai", re.compile(r"\bpix_to_ai\(")),
    ("picture", re.compile(r"\.(?:compress\w*|save|find_\w+|draw_\w+)\(")),
    ("image", re.compile(r"\bImage\(|\.(?:resize|copy|cut|crop|to_grayscale|mean_pooled)\(")),
    ("run", re.compile(r"\b(?:forward|run_yolo2|predict)\(")),
)
_OF_LINE = ("doing", "in_loop", "line", "source")
_FLASH, _CARD = "/flash/", "/sd/"
_NUMBER = re.compile(r"\b0x[0-9a-fA-F]+\b|\b[1-9]\d{5,7}\b")
_OF_TEXT = re.compile(r"(?:Syntax|Indentation|Import|Name)Error\b|AttributeError: 'module' object")
_FRAME = re.compile(r"\bset_framesize\(.*?\b(?:sensor\.)?([A-Z]\w+)")


def of_record(of: Record, output: str = "") -> dict[str, Value]:
    """The facts of a run; `output`: what it printed, which may have numbers."""
    end = _end(of)
    pictures = of.later_pictures if end is of.later else of.pictures
    found: dict[str, Value] = {
        "board": "k210",
        "script": of.script,
        "on": of.board.name,
        "pictures": pictures,
        "end": end.kind,
    }
    if of.board.gc_heap:
        found["gc_heap"] = Bytes(of.board.gc_heap)
    if of.board.build:
        found["build"] = of.board.build
    if end.hangs and of.board.on == record.STAND_IN and end.words:
        found["reason"] = end.words[-1].rstrip(".")
    if end.overflow:
        found["overflow"] = "yes"
    found.update(_line(end, of.script))
    found.update(_error(end, output))
    found.update(_refused(end))
    found.update(_most(of, end))
    found.update(_board(of))
    if found.get("row") == "picture-size" and "model_w" not in found:
        found.update(_picture(_sizes(of, found)))
    found.update(_missing(of, end, found))
    found.update(_model(of, found))
    if "line" in found:
        again = (s.pictures for s in of.steps if s.at and _own(s.at, of.script) == found["line"])
        in_loop = min(again, default=0) < pictures and found["line"] not in of.once
        found["in_loop"] = "yes" if in_loop else "no"
    if any(of.of(record.LOAD)):
        found["loads"] = "yes"
    return _with_growth(of, found)


def _with_growth(of: Record, found: dict[str, Value]) -> dict[str, Value]:
    """What keeps more with each round, where it goes on or has filled the heap that got nothing:
    what ends by itself may keep things up to its end."""
    grows = _grows(of)
    if not grows or (of.end.kind != record.LIMIT and found.get("heap") != grows["grows_heap"]):
        return found
    if grows["grows_at"] == found.get("at"):
        found["in_loop"] = "yes"
    else:  # what another line did that found the heap full is no matter
        found = {name: value for name, value in found.items() if name not in _OF_LINE}
    return {**grows, **found}


def _at(place: Place) -> str:
    """A line with its text, without the comment at its end."""
    code = re.sub(r"\s+#[^'\"]*$", "", place.text)
    return f"{place} `{code}`" if code else str(place)


def _end(of: Record) -> End:
    """The end that counts: that of the run that went on until a heap was full; what a program
    wanted, did not get, and went on without."""
    if of.later and (of.later.hangs or of.later.refused):
        return of.later
    lacked = None if of.says_why else of.lacked
    if lacked and of.end.kind in (record.DONE, record.LIMIT) and not of.end.refused:
        return End(of.end.kind, lacked.at, lacked.error, missing=lacked.missing)
    return of.end


def _own(at: Iterable[Place], script: str) -> int:
    return next((p.line for p in at if p.file == script), 0)


def _line(end: End, script: str) -> dict[str, Value]:
    places = end.at or (end.refused.at if end.refused else ())
    own = [p for p in places if p.file == script] or [*places]
    if not own:
        return {}
    first = own[0]
    found: dict[str, Value] = {"at": _at(first), "line": first.line, "source": first.text}
    if places and places[-1].file == script:
        found["top_line"] = own[-1].line
    does = _does(first.text)
    return {**found, "doing": does} if does else found


def _does(text: str) -> str:
    return next((name for name, pattern in _DOES if pattern.search(text)), "")


def _error(end: End, output: str) -> dict[str, Value]:
    if not end.error:
        asserted = any("assert" in w or "A check of the driver" in w for w in end.words)
        return {"asserted": "yes"} if asserted else {}
    found: dict[str, Value] = {"error": end.error}
    rows = table.find(end.error, "k210")
    if rows:
        found["row"], found["means"] = rows[0].id, rows[0].means
    if _OF_TEXT.match(end.error):
        found["of_text"] = "yes"
        newer = syntax.newer(end.at[0].text) if end.at and "Syntax" in end.error else None
        if newer:
            found["newer"], found["instead"] = newer
    sizes = numbers.numbers(f"{output}\n{end.traceback}", "k210")
    return {**found, **_picture(sizes)}


def _picture(sizes: Mapping[str, float]) -> dict[str, Value]:
    """The picture that a model takes, and the one that it got."""
    wanted = ("img_w", "img_h", "model_w", "model_h")
    found: dict[str, Value] = {name: int(sizes[name]) for name in wanted if name in sizes}
    if len(found) == len(wanted) and any(sizes[f"model_{x}"] > sizes[f"img_{x}"] for x in "wh"):
        found["too_small"] = "yes"
    return found


def _sizes(of: Record, known: dict[str, Value]) -> dict[str, int]:
    """The camera's picture and that of the one model that takes another."""
    windows = [s.size for s in of.of(record.WINDOW) if s.size]
    img = windows[-1] if windows else SIZES.get(str(known.get("frame", "")))
    files = {s.model.file for s in of.of(record.LOAD) if s.model and not s.failed}
    takes = {size for file in files for size in input_sizes(file)} - {img}
    if img is None or len(takes) != 1:
        return {}
    model = takes.pop()
    return {"img_w": img[0], "img_h": img[1], "model_w": model[0], "model_h": model[1]}


def model_format(file: str | Path) -> str:
    """The format of a model's file, "" of what is no model."""
    try:
        return str(read_info(str(file)).format)
    except (KModelError, OSError):
        return ""


def input_sizes(file: str) -> list[tuple[int, int]]:
    """Width and height of the pictures that a model file takes."""
    try:
        shapes = [shape for shape, _, _ in read_info(file).inputs or ()]
    except (KModelError, OSError):
        return []
    return [(s[3], s[2]) for s in shapes if s and len(s) == 4 and None not in s]


def _refused(end: End) -> dict[str, Value]:
    refused = end.refused
    if refused is None:
        return {}
    found: dict[str, Value] = {"heap": refused.heap}
    if refused.asked is not None:
        found["requested"] = Bytes(refused.asked)
    if refused.level:
        found["free"] = Bytes(refused.level.free)
        largest = refused.level.largest
        found["largest"] = Bytes(refused.level.free if largest is None else largest)
    return found


def _board(of: Record) -> dict[str, Value]:
    """Camera and display, as the steps show them."""
    found: dict[str, Value] = {}
    for step in of.steps:
        line = _own(step.at, of.script)
        if step.kind == record.CAMERA and line:
            found["camera_line"] = line
            name = step.frame or _named_frame(step.at)
            if name:
                found["frame"] = name
            if step.dual_buff:
                found["dual_buff"] = "yes"
        elif step.kind == record.WINDOW and line:
            found["window_line"] = line
    return found


def _named_frame(at: tuple[Place, ...]) -> str:
    found = _FRAME.search(at[0].text) if at else None
    return found[1] if found else ""


def _missing(of: Record, end: End, known: dict[str, Value]) -> dict[str, Value]:
    if end.missing is None:
        return {}
    found: dict[str, Value] = {"missing": end.missing.kind}
    if end.missing.name:
        found["missing_name"] = end.missing.name
    found.update(_file(end.missing))
    if end.missing.kind != record.MODEL:
        return found
    address = _address(end.missing.name)
    if address is None:
        return found
    found["address"] = Address(address)
    used = {s.model.address for s in of.of(record.LOAD) if s.model and not s.failed}
    there = {int(at, 16): file for at, file in of.board.flash.items() if at[:2] == "0x"}
    spare = [(at, file) for at, file in sorted(there.items()) if at not in used]
    if address not in there and len(spare) == 1:
        at, file = spare[0]
        found["lies_at"], found["model"] = Address(at), Path(file).name
    return found


def _file(missing: Missing) -> dict[str, Value]:
    """Of a file of the flash or the card that the run did not have."""
    if missing.kind not in (record.CARD, record.MODEL):
        return {}
    if missing.name.startswith(_FLASH):
        return {"flash_file": missing.name}
    if missing.name.startswith(_CARD):
        return {"needs_card": "yes", "card_file": missing.name}
    return {"needs_card": "yes"} if missing.kind == record.CARD else {}


def _address(text: str) -> int | None:
    """The last place of a model that a text names."""
    found = [int(number, 0) for number in _NUMBER.findall(text)]
    return next((n for n in reversed(found) if n in MODEL_PLACES), None)


def _model(of: Record, known: dict[str, Value]) -> dict[str, Value]:
    """The model whose load failed, or that the line names."""
    if known.get("doing") != "load":
        return {}
    failed = [s.model for s in of.of(record.LOAD) if s.failed and s.model]
    if failed:
        file, address = failed[-1].file, failed[-1].address
    else:
        address = _address(str(known.get("source", "")))
        file = "" if address is None else of.board.flash.get(f"{address:#x}", "")
    if not file:
        return {}
    found: dict[str, Value] = {"model": Path(file).name}
    if address is not None:
        found["address"] = Address(address)
    if of.board.v4 is False and known["end"] == record.RAISED and model_format(file) == "v4":
        found["needs_v4"] = "yes"
    return found


def holders(of: Record) -> list[str]:
    """The lines that have most of the heap that got nothing: now, where the board hangs, else at
    the fullest moment."""
    refused = of.end.refused
    rows = of.holders(refused.heap) if refused else ()
    return [f"{kib(nbytes)} {_at(n.place)}" for n, nbytes in rows]


def _most(of: Record, end: End) -> dict[str, Value]:
    """The first of them."""
    rows = of.holders(end.refused.heap, 1) if end.refused else ()
    found: dict[str, Value] = {}
    for n, nbytes in rows:
        found["most"] = _at(n.place)
        if end.refused and end.refused.at[:1] == (n.place,):
            found["keeps"] = Bytes(nbytes)
    return found


def _grows(of: Record) -> dict[str, Value]:
    first = of.first_full or next(iter(of.growth), None)
    if first is None:
        return {}
    found: dict[str, Value] = {
        "grows_at": _at(first.place),
        "grows_heap": first.heap,
        "grows_each": Bytes(first.each),
    }
    if does := _does(first.place.text):
        found.update(doing=does, line=first.place.line, in_loop="yes")
    if first.dies is not None:
        late = of.board.on == record.STAND_IN  # whose heap has no pieces
        found["grows_latest" if late else "grows_dies"] = first.dies
    return found
