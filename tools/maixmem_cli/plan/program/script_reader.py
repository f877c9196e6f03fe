# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a MaixPy script puts into memory, as far as its text tells: a project.toml for its author
to complete.

Nothing is run. Numbers and names are followed through assignments of constants at the top of the
script; what cannot be read is left out, or marked with a question where the project needs it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from k210_model.frame_sizes import SIZES

from maixmem_cli.plan.program.project import STEPS
from maixmem_cli.plan.program.scratch import CALLS, ONLY_WITH
from maixmem_cli.text import reading, syntax
from maixmem_cli.text.numbers import hexa

_UNKNOWN = object()


def _takes(node: ast.Call, place: int, name: str) -> bool:
    """Whether the call has this argument, by its place or by its name."""
    return len(node.args) > place or name in [k.arg for k in node.keywords]


@dataclass
class Seen:
    """What was found, in the order of the script; each row is (line, {key: value}, question or
    "")."""

    order: list[str] = field(default_factory=list)
    gc_heap: int | None = None
    lcd: bool = False
    camera: dict[str, Any] = field(default_factory=dict)
    models: list[tuple[int, dict[str, Any], str]] = field(default_factory=list)
    pools: list[tuple[int, dict[str, Any], str]] = field(default_factory=list)
    images: list[tuple[int, dict[str, Any], str]] = field(default_factory=list)
    calls: list[tuple[int, dict[str, Any], str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: loads of what the text does not tell: (line, what is known of them)
    unknown: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    def step(self, name: str) -> None:
        if name not in self.order:
            self.order.append(name)


class _Reader(ast.NodeVisitor):
    """Walks a script in the order of its lines. `flash`: {address: model file} that its author
    gave."""

    def __init__(self, folder: Path, flash: Mapping[int, Path]) -> None:
        self.folder = folder
        self.flash = flash
        self.seen = Seen()
        self.modules: dict[str, str] = {}  # name in the script -> module or class
        self.values: dict[str, Any] = {}
        self.images: dict[str, dict[str, Any]] = {}  # variable -> the row of its image
        self.loops = 0  # that the line is in

    # --- names ---

    def visit_Import(self, node: ast.Import) -> None:
        for a in node.names:
            self.modules[a.asname or a.name] = a.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for a in node.names:
            self.modules[a.asname or a.name] = a.name

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.constant(node.value)
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                if value is not _UNKNOWN:
                    self.values[target.id] = value
                made = getattr(node.value, "made", None)
                if made is not None:
                    self.images[target.id] = made

    def constant(self, node: ast.AST | None) -> Any:
        """The value of an expression of constants, or _UNKNOWN."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.values.get(node.id, _UNKNOWN)
        if isinstance(node, ast.Attribute) and node.attr in SIZES:
            return node.attr
        if isinstance(node, (ast.Tuple, ast.List)):
            items = [self.constant(e) for e in node.elts]
            return _UNKNOWN if _UNKNOWN in items else items
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add, ast.LShift)):
            a, b = self.constant(node.left), self.constant(node.right)
            if isinstance(a, int) and isinstance(b, int) and abs(b) < 1 << 24:
                return (
                    a * b
                    if isinstance(node.op, ast.Mult)
                    else a + b
                    if isinstance(node.op, ast.Add)
                    else a << min(b, 64)
                )
        return _UNKNOWN

    def visit_While(self, node: ast.While | ast.For) -> None:
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1

    visit_For = visit_While

    # --- calls ---

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = self.name_of(node.func)
        found = getattr(self, "call_" + name.replace(".", "_"), None) if name else None
        if found:
            found(node)
        elif isinstance(node.func, ast.Attribute):
            self.method(node, node.func)

    def name_of(self, func: ast.AST) -> str:
        """ "KPU.load" for a call of a module's function however it was imported; the bare name of
        others."""
        if isinstance(func, ast.Name):
            return self.modules.get(func.id, func.id)
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            module = self.modules.get(func.value.id)
            return f"{module}.{func.attr}" if module else ""
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Attribute):
            return f"{func.value.attr}.{func.attr}"
        return ""

    def argument(self, node: ast.Call, place: int, name: str, default: Any = _UNKNOWN) -> Any:
        for keyword in node.keywords:
            if keyword.arg == name:
                return self.constant(keyword.value)
        return self.constant(node.args[place]) if len(node.args) > place else default

    def call_sensor_reset(self, node: ast.Call) -> None:
        if self.argument(node, 9, "dual_buff", False) is True:
            self.seen.camera["dual_buff"] = True

    def call_sensor_set_framesize(self, node: ast.Call) -> None:
        size = self.argument(node, 0, "framesize")
        self.seen.step("camera")
        if isinstance(size, str):
            self.seen.camera["size"] = size
        else:
            self.seen.notes.append(f"line {node.lineno}: which frame size? QVGA is taken")
            self.seen.camera.setdefault("size", "QVGA")

    def call_sensor_set_windowing(self, node: ast.Call) -> None:
        window = self.argument(node, 0, "roi")
        if isinstance(window, list) and len(window) in (2, 4):
            self.seen.camera["windowing"] = window[-2:]

    def call_lcd_init(self, node: ast.Call) -> None:
        self.seen.lcd = True
        self.seen.step("lcd")

    def call_KPU_load(self, node: ast.Call) -> None:
        self.model(node, self.argument(node, 0, "path"), {"resident": True})

    def call_KPU_run_yolo2(self, node: ast.Call) -> None:
        models = [Path(row["file"]).stem for _, row, _ in self.seen.models]
        row = {"do": "run_yolo2", "model": (models or ["model"])[0]}
        self.call(node, row, "of which model?" if len(models) != 1 else "")

    def call_lcd_draw_string(self, node: ast.Call) -> None:
        self.call(node, {"do": "lcd.draw_string"})

    def call(self, node: ast.Call, row: dict[str, Any], question: str = "") -> None:
        """A call that needs memory while it runs: each kind once."""
        if all(r != row for _, r, _ in self.seen.calls):
            self.seen.calls.append((node.lineno, row, question))

    def call_KPU_load_flash(self, node: ast.Call) -> None:
        self.model(node, self.argument(node, 0, "addr"), {"resident": True, "stream": True})

    def model(self, node: ast.Call, source: Any, more: dict[str, Any]) -> None:
        row: dict[str, Any] = {}
        question = ""
        if isinstance(source, str):
            path = source if source.startswith("/") else "/flash/" + source
            row = {"file": Path(path).name, "path": path}
        elif isinstance(source, int) and not isinstance(source, bool):
            file = self.flash.get(source, f"model_{hexa(source)}.kmodel")
            row = {"file": str(file), "address": source}
        else:
            self.seen.step("models")
            self.seen.unknown.append((node.lineno, more))
            return
        if not (self.folder / row["file"]).is_file():
            question = "your copy of it, beside this file"
        if any(row.items() <= r.items() for _, r, _ in self.seen.models):
            return
        self.seen.step("models")
        self.seen.models.append((node.lineno, {**row, **more}, question))

    def finish(self) -> None:
        """Loads of what the text does not tell: of the files in flash that no line names, or a
        question."""
        seen = self.seen
        named = {row.get("address") for _, row, _ in seen.models}
        rest = [(at, file) for at, file in sorted(self.flash.items()) if at not in named]
        for line, more in seen.unknown:
            seen.notes.append(
                f"line {line}: it loads what the text does not tell: a [[model]] for each"
            )
            row = {"file": "model.kmodel", "address": 0x300000, **more}
            if not rest and all(r["file"] != row["file"] for _, r, _ in seen.models):
                seen.models.append((line, row, "which model, and where?"))
        for at, file in rest if seen.unknown else ():
            line, more = seen.unknown[0]
            more = {k: v for k, v in more.items() if k != "name"}
            seen.models.append((line, {"file": str(file), "address": at, **more}, ""))
        seen.notes += [
            f"--flash {file}@{hexa(at)}: no line loads it" for at, file in rest if not seen.unknown
        ]

    def call_ImagePool(self, node: ast.Call) -> None:
        names = ("w", "h", "format", "count", "ai")
        defaults = (_UNKNOWN, _UNKNOWN, "rgb565", 2, False)
        got = {n: self.argument(node, i, n, d) for i, (n, d) in enumerate(zip(names, defaults))}
        self.seen.step("pools")
        if _UNKNOWN in got.values():
            self.seen.notes.append(f"line {node.lineno}: an ImagePool of unknown size")
            return
        size = [got.pop("w"), got.pop("h")]
        self.seen.pools.append((node.lineno, {"size": size, **got}, ""))

    def call_image_Image(self, node: ast.Call) -> None:
        size = self.argument(node, 9, "size", [320, 240])
        if isinstance(size, list) and not node.args:
            self.image(node, "image", size)

    def gc_heap(self, node: ast.Call) -> None:
        n = self.argument(node, 0, "size")
        if isinstance(n, int):
            self.seen.gc_heap = n

    call_utils_gc_heap_size = call_maixmem_set_gc_heap = call_set_gc_heap = gc_heap

    def method(self, node: ast.Call, func: ast.Attribute) -> None:
        """Methods of objects: what a manager loads, and images that images make."""
        if func.attr == "add" and len(node.args) >= 2 and self.uses("ModelManager"):
            more: dict[str, Any] = (
                {"resident": True} if self.argument(node, 9, "pin", False) is True else {}
            )
            name = self.argument(node, 0, "name")
            if isinstance(name, str):
                more = {"name": name, **more}
            self.model(node, self.argument(node, 1, "source"), more)
        elif func.attr == "resize" and len(node.args) >= 2:
            size = [self.constant(a) for a in node.args[:2]]
            self.image(node, "resize", size)
        elif func.attr == "to_grayscale" and self.argument(node, 0, "copy", False) in (True, 1):
            self.seen.notes.append(
                f"line {node.lineno}: to_grayscale(copy) makes an image; of which size?"
            )
        elif func.attr == "pix_to_ai" and isinstance(func.value, ast.Name):
            row = self.images.get(func.value.id)
            if row is not None:
                row["ai"] = True
        elif func.attr in CALLS and _takes(node, *ONLY_WITH.get(func.attr, (-1, ""))):
            self.of_image(node, func)

    def of_image(self, node: ast.Call, func: ast.Attribute) -> None:
        """img.find_blobs() and others: of the image that the script made, else of the camera's."""
        made = self.images.get(func.value.id) if isinstance(func.value, ast.Name) else None
        if made:
            self.call(node, {"do": func.attr, "size": made["size"]})
        elif self.seen.camera.get("size"):
            self.call(node, {"do": func.attr})

    def uses(self, name: str) -> bool:
        return name in self.modules.values()

    def image(self, node: ast.Call, make: str, size: list[Any]) -> None:
        if not all(type(n) is int and n > 0 for n in size):
            self.seen.notes.append(f"line {node.lineno}: {make} makes an image; of which size?")
            return
        row: dict[str, Any] = {"make": make, "size": size}
        if not self.loops:
            row["once"] = True
        node.made = row  # type: ignore[attr-defined]
        self.seen.step("images")
        self.seen.images.append((node.lineno, row, ""))


def read_script(path: Path, flash: Mapping[int, Path]) -> Seen:
    """What a script shows. SyntaxError or UnicodeDecodeError when it is no Python."""
    reader = _Reader(path.parent, flash)
    reader.visit(syntax.tree(reading.script(path)))
    reader.finish()
    return reader.seen


def project_text(
    path: Path, firmware: str, flash: Mapping[int, Path] = MappingProxyType({})
) -> str:
    """The project.toml of a script, with the model files that lie at these addresses of flash."""
    seen = read_script(path, flash)
    lines = [
        (
            f"# What {path.name} puts into memory, as far as its text tells. Complete what "
            "is marked with a question."
        ),
        f'firmware = "{firmware}"        # which is on the board?',
        f"gc_heap = {seen.gc_heap or 524288}",
        (
            'program = "32K"          # GC heap for the script itself: how much? See '
            "gc.mem_free() on the board"
        ),
    ]
    order = [step for step in seen.order if step in STEPS]
    lines.append(f"order = {json.dumps(order)}")
    if seen.lcd:
        lines.append("lcd = true")
    lines += [f"# {note}" for note in seen.notes]
    if seen.camera.get("size"):
        lines += ["", "[camera]", *_rows(seen.camera)]
    tables = (
        ("model", seen.models),
        ("pool", seen.pools),
        ("image", seen.images),
        ("call", seen.calls),
    )
    for table, rows in tables:
        for line, row, question in rows:
            head = f"[[{table}]]                # line {line} of {path.name}"
            lines += ["", head, *_rows(row, question)]
    return "\n".join(lines) + "\n"


def _rows(values: dict[str, Any], question: str = "") -> list[str]:
    rows = []
    for key, value in values.items():
        shown = hexa(value) if key == "address" else json.dumps(value, ensure_ascii=False)
        asked = f"   # {question}" if key in ("file", "model") and question else ""
        rows.append(f"{key} = {shown}{asked}")
    return rows
