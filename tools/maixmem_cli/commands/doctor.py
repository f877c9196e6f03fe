# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem doctor`: asks a board how it is, and says what to do about what is wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from maixmem import __version__
from maixmem_report import bar, kib

from maixmem_cli.commands.options import PORT, VERBOSE, board_at, board_errors
from maixmem_cli.errors import table
from maixmem_cli.firmware import board_file
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.firmware.known_bad import faults
from maixmem_cli.firmware.survey import survey
from maixmem_cli.serial import visit
from maixmem_cli.serial.identity import DamagedHeap, Identity, identity
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.text.numbers import hexa
from maixmem_cli.text.output import JSON, console, print_json, write_file
from maixmem_cli.text.tables import Column, show_table

#: what a flash scan notes -> cure
_NOTES = (
    (
        "length is not in its header",
        "MaixPy v1 cannot load it: convert the network with nncase 0.1 (V3) or 0.2 (V4).",
    ),
    (
        "no firmware header",
        (
            "The board runs, so a boot loader of its own is there; else flash the firmware "
            "at 0x000000."
        ),
    ),
    (
        "no image at",
        "Flash that image again, or clear its entry in the boot loader's configuration.",
    ),
)
_UNKNOWN = (
    "Reset the board and ask again; if it stays, maixmem doctor -v shows what was asked and said."
)
_LEFT_OUT = (
    "Not asked: version, files, the library's report, GC heap, flash, models. Each takes memory "
    "of the system heap, and may hang the board."
)
_REGIONS = (
    Column("region", name=True),
    Column("use", extra=True),
    Column("used", right=True),
    Column("free", right=True),
    Column("largest", right=True),
)
_BOUNDS = {"used": "-", "free": "+", "largest": "+"}  # marks of a region that is not exact
_FLASH = (
    Column("start"),
    Column("end"),
    Column("size", right=True),
    Column("flash", name=True),
    Column("known from"),
)
_QVGA = 320 * 240 * 2  # bytes of the image that most scripts work on
_IMAGES = ("k210", "canmv")  # ports whose GC heap holds images


# `results` is plain data for JSON, `findings` a list of {"what", "cure": [steps]}; `notes` in it
# say what the numbers mean.
class Diagnosis:
    """One visit. Each question stands alone: one that fails is a finding, and the next is
    asked."""

    def __init__(self, board: RawRepl, full: bool) -> None:
        self._board = board
        self._full = full
        self._table = "k210"  # whose errors are looked up
        self.results: dict[str, Any] = {}
        self.findings: list[dict[str, Any]] = []

    def find(self, what: str, *cure: str) -> None:
        """Notes a finding. Without a cure: what the table of known errors says."""
        steps = list(cure)
        if not steps:
            known = table.answer(what, self._table)
            steps = known[1] if known else [_UNKNOWN]
        self.findings.append({"what": what, "cure": steps})

    def ask(self, name: str, file: str, function: str, *args: Any, timeout: float = 60) -> Any:
        try:
            self.results[name] = visit.ask(self._board, file, function, *args, timeout=timeout)
        except visit.Missing as e:
            self.find(f"{name}: {e}", f"maixmem deploy --port {self._board.url}")
        except BoardError as e:
            self.find(f"{name}: {e}")
        return self.results.get(name)

    def run(self) -> None:
        try:
            who = identity(self._board)
        except DamagedHeap as e:
            self.find(e.said.what, *e.said.steps)
            self.results["notes"] = [_LEFT_OUT]
            return
        self.results["who"] = [who.implementation, list(who.version), who.platform, who.machine]
        self.files()
        self.build(who)
        home, folder, had = visit.ask(self._board, "library", "enter")
        self.place(who, home, folder)
        if self.ask("report", "library", "report"):
            port = self.results["report"]["port"]
            self._table = {"generic": "micropython"}.get(port, port)
            self.memory()
            if self.results["report"]["port"] == "k210":
                self.gc_heap()
                self.flash()
        visit.ask(self._board, "library", "leave", home, had)

    def files(self) -> None:
        """Files that hide others, rests of a cut deploy, a full file system."""
        searched = self.ask("files", "files", "searched") or {}
        for folder, names in searched.items():
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
        systems = self.ask("file_systems", "files", "statistics", list(searched)) or {}
        for folder, (free, _, block) in systems.items():
            if free <= 2 * block:  # SPIFFS keeps two blocks; see transfer.free_bytes()
                self.find(
                    f"{folder} is full: it takes no more, and writes for minutes before "
                    "it says so",
                    f"Remove files there; maixmem deploy --remove --target {folder} "
                    "takes the library off.",
                )

    def build(self, who: Identity) -> None:
        """A build of MaixPy that is known to be bad."""
        if who.kind == "maixpy":
            self.results["build"] = who.build
            for what, step in faults(who.build):
                self.find(what, step)

    def place(self, who: Identity, home: str, place: str | None) -> None:
        """The library in a folder where the board does not look."""
        self.results["place"] = [home, place]
        if who.kind == "maixpy" and place and place != home:
            self.find(
                f"the library is in {place}, and MaixPy looks for modules in its working "
                f"folder only, which is {home} "
                "(a card was in at boot)",
                f"maixmem deploy --port {self._board.url}: puts it into {home}",
                f"Or begin your program with: import os; os.chdir({place!r})",
            )

    def memory(self) -> None:
        report = self.results["report"]
        said = report.pop("said", [])
        if report["port"] == "generic":  # what its numbers mean: no fault, no cure
            self.results["notes"] = report["warnings"]
        else:
            for text, *steps in said:
                self.find(text, *steps)
        if report["version"] != __version__:
            self.find(
                f"the board has maixmem {report['version']}, this is {__version__}",
                f"maixmem deploy --port {self._board.url}",
            )
        for r in report["regions"]:
            if (
                r["name"] == "gc"
                and report["port"] in _IMAGES
                and r["largest"] is not None
                and r["largest"] < _QVGA <= r["free"]
            ):
                what = (
                    f"GC heap in pieces: {r['free']} bytes free, the largest block "
                    f"{r['largest']}: no room for a QVGA image ({_QVGA})"
                )
                self.find(
                    what,
                    "gc.collect(), or a soft reset.",
                    "Allocate image buffers once, at the start: maixmem_pool.ImagePool.",
                )

    def gc_heap(self) -> None:
        # what is wrong with it is in the report's warnings
        self.ask("gc_heap", "library", "gc_heap")

    def flash(self) -> None:
        found = self.ask("flash", "library", "flash", self._full, self._full, timeout=300)
        if not found:
            return
        for text in found["conflicts"]:
            self.find(
                text,
                "maixmem flash --help: put them together before flashing; flash what was "
                "overwritten again.",
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
        self.results["models"] = [self.model(r) for r in found["regions"] if r[3] == "model"]

    def model(self, region: list[Any]) -> dict[str, Any]:
        name, start = region[0], region[1]
        cost = self.ask(f"model {hexa(start)}", "library", "model", start) or {}
        text, *steps = cost.pop("said", [""])
        if cost.get("refuse"):
            self.find(f"{name} at {hexa(start)} can never be loaded here: {text}", *steps)
        elif cost.get("shortage"):
            self.find(f"{name} at {hexa(start)} cannot be loaded now: {text}", *steps)
        return {"address": start, "name": name, **cost}


def firmware_of(found: dict[str, Any] | None) -> str:
    """The name of a known build of this length, or its length."""
    for name, start, end, kind, _, _ in (found or {}).get("regions", []):
        if kind == "firmware" and start == 0 and name == "firmware":
            known = [f.title for f in FIRMWARES.values() if f.end == end]
            same = f", as long as v0.6.2_84 {known[0]}" if known else ""
            return f"firmware up to {hexa(end)}{same}"
    return ""


def show(told: dict[str, Any], findings: list[dict[str, Any]]) -> None:
    out = console()
    if "who" in told:
        name, version, platform, machine = told["who"]
        known = firmware_of(told.get("flash"))
        out.print(
            f"{platform} {'.'.join(map(str, version))} ({name}), {machine} {known}".rstrip(),
            markup=False,
        )
    rows = []
    for r in (told.get("report") or {}).get("regions", []):
        marks = dict.fromkeys(_BOUNDS, "") if r.get("exact", True) else _BOUNDS
        cells = ["?" if r[k] is None else kib(r[k]) + mark for k, mark in marks.items()]
        rows.append(([r["name"], bar(r["used"], r["total"]), *cells], ""))
    if rows:
        show_table(out, _REGIONS, rows, "use: # used, . free; + at least, - at most")
    for text in told.get("notes", []):
        out.print(text, markup=False, soft_wrap=True)
    rows = [
        ([hexa(start), hexa(end), kib(end - start), name, source], "")
        for name, start, end, _, source, _ in (told.get("flash") or {}).get("regions", [])
    ]
    if rows:
        show_table(out, _FLASH, rows)
    for m in told.get("models", []):
        out.print(f"{m['name']} at {hexa(m['address'])}: {_verdict(m)}", markup=False)
    out.print(f"{len(findings)} findings" if findings else "no findings")
    for i, f in enumerate(findings, 1):
        out.print(f"{i}. {f['what']}", markup=False, soft_wrap=True)
        for step in f["cure"]:
            out.print(f"   - {step}", markup=False, soft_wrap=True)  # commands are copied


def _verdict(m: dict[str, Any]) -> str:
    """What a model said when it was asked about."""
    if m.get("refuse") or m.get("shortage"):
        return str(m.get("refuse") or m["shortage"])
    if "need" not in m:
        return "not known, see the findings"
    return f"fits now: keeps {kib(m['need']['heap'])}, {kib(m['peak']['heap'])} while it loads"


@click.command(name="doctor", epilog="Example: maixmem doctor --port /dev/ttyUSB0")
@PORT
@click.option(
    "--full",
    is_flag=True,
    help="Also check the firmware's SHA-256 and read the whole flash (a minute).",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="BOARD.toml",
    help="Reset the board and write what plans have to know of it; fit, kmodel, flash take it "
    "as --firmware.",
)
@JSON
@VERBOSE
def command(port: str | None, full: bool, save: Path | None, as_json: bool) -> None:
    """Check the memory and flash of a connected board: heaps, GC heap size, flash, models, files.

    The library must be on it (maixmem deploy), but for --save. Interrupts the program that runs
    there; changes nothing. Each finding comes with its cure. Exit status: 0 all is well, 1
    findings, 2 no board.
    """
    with board_errors():
        board = board_at(port)
        try:
            if save:
                _save(board, save, as_json)
                return
            diagnosis = Diagnosis(board, full)
            diagnosis.run()
        finally:
            board.close()
    if as_json:
        print_json({**diagnosis.results, "findings": diagnosis.findings})
    else:
        show(diagnosis.results, diagnosis.findings)
    sys.exit(1 if diagnosis.findings else 0)


def _save(board: RawRepl, path: Path, as_json: bool) -> None:
    told = survey(board)
    write_file("--save", path, board_file.text(told, path.name))
    if as_json:
        print_json(vars(told))
    else:
        click.echo(
            f"wrote {path}: {told.version}, {told.machine}. Next: maixmem fit "
            f"project.toml --firmware {path}"
        )
