# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Changes of a MaixPy script that may cure it, the cheapest first; comments and style stay.

Nothing is run here. A change may well be wrong: whoever proposes it runs it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import libcst as cst
import libcst.matchers as m

from maixmem_cli.answer.tables import remedies
from maixmem_cli.answer.values import Bytes, Facts
from maixmem_cli.plan.edits_board import cards, firmwares, streams
from maixmem_cli.plan.edits_line import addresses, bounds, cuts, single_buffers, stacks
from maixmem_cli.plan.edits_pool import pools
from maixmem_cli.plan.program.made import PICTURES
from maixmem_cli.plan.script_tree import LOADS, Script, parsed, with_head
from maixmem_cli.record.record import GC
from maixmem_cli.runs.change import Edit, values_of
from maixmem_cli.text import syntax

#: of changes; each is a remedy of answer/remedies.toml, which words it
KINDS = set(
    "address stack order window cut frame small_frame deinit loop image bound dual_buff del gc"
    " copy pool auto card stream gc_heap firmware firmware_v4".split()
)
_SETS_UP = {"KPU.init_yolo2", "KPU.set_outputs", "KPU.set_layers", "KPU.classifier"}
_MODELS = LOADS | _SETS_UP
_IMAGES = (*PICTURES, "crop")
_FRAMES = {"VGA": "QVGA", "SVGA": "QVGA", "WVGA": "QVGA", "CIF": "QVGA", "QVGA": "QQVGA"}
_GC_LINES = """\
from Maix import utils
import machine
if utils.gc_heap_size() != {n}:  # kept over a restart
    utils.gc_heap_size({n})
    machine.reset()
"""


def edits(source: str, *board: Any) -> Iterator[Edit]:
    """Every change worth trying; `board` is what Script wants to know of it.

    SyntaxError for what is no Python."""
    try:
        syntax.tree(source)  # libcst's own parser ends the process where it is too deep
        script = Script(source, *board)
    except cst.ParserSyntaxError as e:
        raise SyntaxError(e.message) from None
    seen = {Edit("", (), source)}
    for make in _MAKERS:
        for edit in make(script):
            change = replace(edit, kind="", values=())
            if change not in seen:
                seen.add(change)
                yield edit


_LEAKS = tuple("deinit loop image del gc copy bound pool firmware".split())


def against_leaks(found: Sequence[Edit]) -> list[Edit]:
    """Those that can end a leak; with others it is full sooner or later."""
    return [edit for edit in found if edit.kind in _LEAKS]


def likely_first(found: Sequence[Edit], facts: Facts, source: str = "") -> list[Edit]:
    """The changes in the order of their cost; last those whose remedy does not apply to these
    facts, or that are behind the line at the top that ended it: the script does not come to
    them."""
    line = facts.get("top_line")
    last = _last_line(source, line) if isinstance(line, int) else len(source) + 1
    known = remedies()

    def rank(edit: Edit) -> tuple[int, int]:
        behind = not edit.of_board and _first_change(source, edit.source) > last
        applies = known[edit.kind].applies(facts) or _keeps(edit, facts)
        return behind + (not applies), known[edit.kind].cost

    return sorted(found, key=rank)


def _keeps(edit: Edit, facts: Facts) -> bool:
    """Whether it bounds what the line collects that found the GC heap full."""
    at = dict(edit.values).get("edited")
    return edit.kind == "bound" and facts.get("heap") == GC and at == facts.get("line")


def _last_line(source: str, line: int) -> int:
    """Where the statement at the top that has this line ends, a loop for example; what is added
    at the end of its block belongs to it."""
    of = [n for n in syntax.tree(source).body if n.lineno <= line]
    return max(line, (of[-1].end_lineno or line) + hasattr(of[-1], "body")) if of else line


def _first_change(source: str, changed: str) -> int:
    """The number of the first line that is another."""
    before, after = source.splitlines(), changed.splitlines()
    pairs = enumerate(zip(before, after), 1)
    return next((i for i, (a, b) in pairs if a != b), len(before) + 1)


def _orders(s: Script) -> Iterator[Edit]:
    """Camera, display or models before the others: the lines of one kind, together."""
    kinds = {"models": _MODELS, "camera": "sensor", "display": "lcd"}
    places = {kind: s.lines(wanted) for kind, wanted in kinds.items()}
    end = s.loop if s.loop is not None else len(s.body)
    places = {kind: [i for i in found if i < end] for kind, found in places.items() if found}
    for kind, mine in places.items():
        others = [i for k, found in places.items() if k != kind for i in found]
        if not mine or not others:
            continue
        for where, before in (("before", min(others)), ("behind", max(others) + 1)):
            rest = [n for i, n in enumerate(s.body) if i not in mine]
            at = before - len([i for i in mine if i < before])
            moved = [s.body[i] for i in mine]
            others_first = [k for k in places if k != kind]
            values = values_of(
                order=(kind, *others_first) if where == "before" else (*others_first, kind),
                moved=s.line(mine[0]),
                where=where,
                beside=s.line(min(others) if where == "before" else max(others)),
            )
            yield Edit("order", values, s.with_body([*rest[:at], *moved, *rest[at:]]))


def _windows(s: Script) -> Iterator[Edit]:
    """A window of the camera of the size that a model takes."""
    for w, h in dict.fromkeys(s.sizes):
        line = f"sensor.set_windowing(({w}, {h}))\n"
        for i in s.lines({"sensor.set_windowing"}):
            now = s.body[i]
            assert isinstance(now, cst.SimpleStatementLine)
            new = now.with_changes(body=parsed(line).body)
            body = [*s.body[:i], new, *s.body[i + 1 :]]
            yield Edit(
                "window", values_of(model_w=w, model_h=h, edited=s.line(i)), s.with_body(body)
            )
        if not s.lines({"sensor.set_windowing"}):
            for i in s.lines({"sensor.set_framesize"}):
                body = [*s.body[: i + 1], parsed(line), *s.body[i + 1 :]]
                values = values_of(model_w=w, model_h=h, camera_line=s.line(i))
                yield Edit("window", values, s.with_body(body))


def _frames(s: Script) -> Iterator[Edit]:
    """The next smaller frame."""
    code = s.tree.code
    for old, new in _FRAMES.items():
        text = re.sub(
            rf"(set_framesize\((?:framesize\s*=\s*)?sensor\.){old}\b", rf"\g<1>{new}", code
        )
        if text != code:
            kind = "small_frame" if new == "QQVGA" else "frame"
            yield Edit(kind, values_of(smaller=new, frame=old), text)


def _deinits(s: Script) -> Iterator[Edit]:
    """A model that is not used any more gives its memory back, at the end of its last line."""
    kpu = next((a for a, name in s.alias.items() if name == "KPU" and f"{a}." in s.tree.code), "")
    every = list(s.body)
    done = []
    for name in s.nets():
        used = _uses(s, name)
        if len(used) < 2:
            continue  # nobody knows yet what it is for
        last = max(used)
        if last + 1 < len(s.body) and "KPU.deinit" not in s.names[last]:
            line = parsed(f"{kpu}.deinit({name})\n")
            done.append((last, line, name))
            body = [*s.body[: last + 1], line, *s.body[last + 1 :]]
            call = f"{kpu}.deinit({name})"
            values = values_of(names=name, call=call, edited=s.line(last))
            yield Edit("deinit", values, s.with_body(body))
    if len(done) > 1:
        for last, line, _ in sorted(done, key=lambda row: -row[0]):
            every.insert(last + 1, line)
        names = tuple(name for _, _, name in done)
        values = values_of(names=names, call=f"{kpu}.deinit()")
        yield Edit("deinit", values, s.with_body(every))


def _uses(s: Script, net: str) -> list[int]:
    """Lines that use a net, or what it gave: a result points into its model."""
    names = {net}
    for node in s.body:
        for assign in m.findall(node, m.Assign()):
            value, targets = assign.value, assign.targets  # type: ignore[attr-defined]
            calls = m.findall(value, m.Call(args=[m.Arg(m.Name(net)), m.ZeroOrMore()]))
            if calls and not s.code(value).endswith("[:]"):
                names |= {s.code(t.target) for t in targets}
    word = "|".join(re.escape(name) for name in names)
    return [i for i, n in enumerate(s.body) if re.search(rf"\b(?:{word})\b", s.code(n))]


def _loops(s: Script) -> Iterator[Edit]:
    """What each round loads or makes: once before the loop, or given back at its end."""
    inside = s.rounds()
    if not inside:
        return
    first = [i for i, n in enumerate(inside) if _MODELS & set(s.calls(n))]
    made = [i for i, n in enumerate(inside) if _makes(s, n)]
    if first:
        rest = [n for i, n in enumerate(inside) if i not in first]
        hoisted = [inside[i] for i in first]
        yield Edit("loop", values_of(edited=s.line_of(hoisted[0])), s.with_loop(rest, hoisted))
    fresh = [i for i in made if "image.Image" in s.calls(inside[i])]
    for i in fresh:
        rest = [n for j, n in enumerate(inside) if j != i]
        values = values_of(edited=s.line_of(inside[i]))
        yield Edit("image", values, s.with_loop(rest, [inside[i]]))
    names = [s.code(inside[i]).strip().split("=")[0].strip() for i in made]
    plain = [n for n in names if n.isidentifier()]
    if plain:
        freed = parsed(f"del {', '.join(plain)}\n")
        yield Edit("del", values_of(names=", ".join(plain)), s.with_loop([*inside, freed]))
    collect = parsed("gc.collect()\n")
    head = [] if re.search(r"^import .*\bgc\b", s.tree.code, re.M) else [parsed("import gc\n")]
    for where, rows in (("begin", [collect, *inside]), ("end", [*inside, collect])):
        yield Edit("gc", values_of(moment=where), s.with_loop(rows, head))


def _makes(s: Script, node: cst.CSTNode) -> bool:
    """Whether a plain line keeps a new image under a name."""
    plain = isinstance(node, cst.SimpleStatementLine) and m.findall(node, m.Assign())
    return bool(plain) and any(name.rpartition(".")[2] in _IMAGES for name in s.calls(node))


def _copies(s: Script) -> Iterator[Edit]:
    """The values of a result instead of what points into its model."""
    code = s.tree.code
    text = re.sub(r"(=\s*\w+\.forward\([^()\n]*\))(?=\s*(#|$))", r"\1[:]", code, flags=re.M)
    if text != code:
        yield Edit("copy", (), text)


def _auto(s: Script) -> Iterator[Edit]:
    yield Edit("auto", (), with_head(s, "import maixmem_auto\n"))


def _gc_heaps(s: Script) -> Iterator[Edit]:
    for n in s.gc_heaps:
        values = values_of(gc_heap_wanted=Bytes(n))
        yield Edit("gc_heap", values, with_head(s, _GC_LINES.format(n=n)), gc_heap=n)


_MAKERS = (
    addresses,
    stacks,
    _orders,
    _windows,
    cuts,
    _deinits,
    _loops,
    bounds,
    single_buffers,
    _copies,
    pools,
    _frames,
    _auto,
    _gc_heaps,
    firmwares,
    cards,
    streams,
)
