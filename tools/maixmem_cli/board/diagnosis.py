# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How a board is: the questions to it, what is wrong, and the cure of each."""

from __future__ import annotations

from typing import Any

from maixmem import __version__

from maixmem_cli.errors import log, table
from maixmem_cli.firmware.known_bad import faults
from maixmem_cli.serial import visit
from maixmem_cli.serial.identity import DamagedHeap, Identity, identity
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.text.numbers import hexa

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
_QVGA = 320 * 240 * 2  # bytes of the image that most scripts work on
_IMAGES = ("k210", "canmv")  # ports whose GC heap holds images


# `results` is plain data for JSON, `findings` a list of {"what", "cure": [steps]}; `notes` in it
# say what the numbers mean.
class Diagnosis:
    """One visit. Each question is independent: one that fails is a finding, and the next
    follows."""

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
            known = log.of_line(what, self._table)
            steps = known.steps if known else [_UNKNOWN]
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
            self._table = port if port in table.boards() else "micropython"
            self.memory()
            if self.results["report"]["port"] == "k210":
                self.gc_heap()
                self.flash()
        else:
            self.ask("heaps", "heaps", "k210" if who.kind == "maixpy" else "interpreter")
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
