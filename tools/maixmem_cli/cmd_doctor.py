# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem doctor`: asks a board how it is, and says what to do about what is wrong."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
import maixmem_advice
from maixmem import __version__, hexa, kib
from maixmem_report import bar
from rich import box
from rich.markup import escape
from rich.table import Table

from maixmem_cli import questions
from maixmem_cli.firmwares import FIRMWARES
from maixmem_cli.output import JSON, PORT, NoBoard, choose_port, console, failing, print_json
from maixmem_cli.questions import Missing, ask
from maixmem_cli.rawrepl import BoardError, RawRepl

#: what a flash scan notes -> cure
_NOTES = (
    (
        "length is not in its header",
        "MaixPy v1 cannot load it: convert the network with nncase 0.1 (V3) or 0.2 (V4).",
    ),
    (
        "no firmware header",
        "The board runs, so a boot loader of its own is there; else flash the firmware at 0x000000.",
    ),
    (
        "no image at",
        "Flash that image again, or clear its entry in the boot loader's configuration.",
    ),
)
_QVGA = 320 * 240 * 2  # bytes of the image that most scripts work on


# Holds what was found: `told` is plain data for JSON, `findings` a list of {"what", "cure": [steps]}.
class Examination:
    """One visit. Each question stands alone: one that fails is a finding, and the next is asked."""

    def __init__(self, board: RawRepl, full: bool) -> None:
        self._board = board
        self._full = full
        self.told: dict[str, Any] = {}
        self.findings: list[dict[str, Any]] = []

    def find(self, what: str, *cure: str) -> None:
        """Notes a finding; without a cure, the table of known errors is asked for one."""
        known = maixmem_advice.find(what)
        steps = list(cure) or (
            list(known[1]) if known else ["See the message: what comes after 'Next:'."]
        )
        self.findings.append({"what": what, "cure": steps})

    def ask(self, name: str, code: str, timeout: float = 60) -> Any:
        try:
            self.told[name] = ask(self._board, code, timeout)
        except Missing as e:
            self.find(f"{name}: {e}", f"maixmem deploy --port {self._board.url}")
        except BoardError as e:
            self.find(f"{name}: {e}")
        return self.told.get(name)

    def run(self) -> None:
        self.ask("who", questions.WHO)
        self.files()
        if self.ask("report", questions.REPORT):
            self.memory()
            if self.told["report"]["port"] == "k210":
                self.gc_heap()
                self.flash()
        self._board.check(questions.FORGET)

    def files(self) -> None:
        """Files that hide others, rests of a cut deploy, a full file system."""
        for folder, names in (self.ask("files", questions.FILES) or {}).items():
            ours = [n for n in names if n.startswith("maixmem")]
            for name in ours:
                if name.endswith(".mpy") and name[:-4] + ".py" in ours:
                    self.find(
                        f"{folder}: {name[:-4]}.py hides {name}",
                        f"Remove one of the two, or maixmem deploy --target {folder}.",
                    )
            rest = [n for n in ours if n.endswith("~")]
            if rest:
                self.find(
                    f"{folder}: {', '.join(rest)}: a deploy was cut",
                    f"maixmem deploy --target {folder}: it goes on where it stopped.",
                )
        for folder, (free, _, block) in (self.ask("file_systems", questions.ROOM) or {}).items():
            if free < 2 * block:
                self.find(
                    f"{folder}: {kib(free)} free; writing becomes very slow", "Remove files."
                )

    def memory(self) -> None:
        report = self.told["report"]
        for text in report["warnings"]:
            self.find(text)
        if report["version"] != __version__:
            self.find(
                f"the board has maixmem {report['version']}, this is {__version__}",
                f"maixmem deploy --port {self._board.url}",
            )
        for r in report["regions"]:
            if (
                r["name"] == "gc"
                and r["largest"] is not None
                and r["largest"] < _QVGA <= r["free"]
            ):
                what = f"GC heap in pieces: {r['free']} bytes free, the largest block {r['largest']}: no room for a QVGA image ({_QVGA})"
                self.find(
                    what,
                    "gc.collect(), or a soft reset.",
                    "Allocate image buffers once, at the start: maixmem_imagepool.",
                )

    def gc_heap(self) -> None:
        self.ask("gc_heap", questions.GC_HEAP)  # what is wrong with it is in the report's warnings

    def flash(self) -> None:
        found = self.ask(
            "flash", questions.FLASH % {"gaps": self._full, "verify": self._full}, timeout=300
        )
        if not found:
            return
        for text in found["conflicts"]:
            self.find(
                text,
                "maixmem flash --help: put them together before flashing; flash what was overwritten again.",
            )
        for name, start, end, _, _, intact in found["regions"]:
            if intact is False:
                self.find(
                    f"{name} {hexa(start)}..{hexa(end)} is damaged: its SHA-256 does not match",
                    "Flash it again.",
                )
        for start, end, why in found["unread"]:
            self.find(
                f"flash {hexa(start)}..{hexa(end)} could not be read: {why}",
                "Reset the board, so that nothing is loaded; ask again.",
            )
        for text in found["notes"]:
            self.find(text, *[step for key, step in _NOTES if key in text])
        self.told["models"] = [self.model(r) for r in found["regions"] if r[3] == "model"]

    def model(self, region: list[Any]) -> dict[str, Any]:
        name, start = region[0], region[1]
        cost = self.ask(f"model {hexa(start)}", questions.MODEL % {"address": start}) or {}
        if cost.get("refuse"):
            self.find(f"{name} at {hexa(start)} can never be loaded here: {cost['refuse']}")
        elif cost.get("shortage"):
            self.find(f"{name} at {hexa(start)} cannot be loaded now: {cost['shortage']}")
        return {"address": start, "name": name, **cost}


def firmware_of(found: dict[str, Any] | None) -> str:
    """The name of a known build of this length, or its length."""
    for name, start, end, kind, _, _ in (found or {}).get("regions", []):
        if kind == "firmware" and start == 0 and name == "firmware":
            known = [f.title for f in FIRMWARES.values() if f.image == end - 37]
            return f"firmware of {end - 37} bytes{f', as v0.6.2_84 {known[0]}' if known else ''}"
    return ""


def show(told: dict[str, Any], findings: list[dict[str, Any]]) -> None:
    out = console(highlight=False, soft_wrap=True)
    name, version, platform, machine = told.get("who") or ("?", [], "?", "?")
    out.print(
        f"{platform} {'.'.join(map(str, version))} ({name}), {machine} {firmware_of(told.get('flash'))}".rstrip(),
        markup=False,
    )
    table = Table(box=box.SIMPLE)
    table.add_column("region")
    for head in ("", "used", "free", "largest"):
        table.add_column(head, justify="right")
    for r in (told.get("report") or {}).get("regions", []):
        cells = ["?" if r[k] is None else kib(r[k]) for k in ("used", "free", "largest")]
        table.add_row(escape(r["name"]), escape(bar(r["used"], r["total"])), *cells)
    if table.row_count:
        out.print(table)
    for name, start, end, _, source, _ in (told.get("flash") or {}).get("regions", []):
        out.print(
            f"{hexa(start)}..{hexa(end)} {kib(end - start):>10} {name}: {source}", markup=False
        )
    for m in told.get("models", []):
        verdict = (
            m.get("refuse")
            or m.get("shortage")
            or f"fits now: keeps {m['need']['heap']}, {m['peak']['heap']} while it loads"
            if "need" in m
            else "?"
        )
        out.print(f"{hexa(m['address'])} {verdict}", markup=False)
    out.print(f"{len(findings)} findings" if findings else "no findings")
    for i, f in enumerate(findings, 1):
        out.print(f"{i}. {f['what']}", markup=False)
        for step in f["cure"]:
            out.print(f"   - {step}", markup=False)


@click.command(name="doctor", epilog="Example: maixmem doctor --port /dev/ttyUSB0")
@PORT
@click.option(
    "--full",
    is_flag=True,
    help="Also check the firmware's SHA-256 and read the whole flash (a minute).",
)
@JSON
def command(port: str | None, full: bool, as_json: bool) -> None:
    """Ask a board how it is: memory, GC heap size, flash, models, files.

    The library must be on it (maixmem deploy). Interrupts the program that runs there; changes nothing. Each finding
    comes with its cure. Exit status: 0 all is well, 1 findings, 2 no board.
    """
    with failing():
        url = choose_port(port)
        try:
            board = RawRepl(url)
            board.enter()
        except BoardError as e:
            raise NoBoard(f"--port {e}") from e
        try:
            visit = Examination(board, full)
            questions.prepare(board)
            visit.run()
        finally:
            board.close()
    if as_json:
        print_json({**visit.told, "findings": visit.findings})
    else:
        show(visit.told, visit.findings)
    sys.exit(1 if visit.findings else 0)
