# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How a board is: the questions to it, what is wrong, and the cure of each."""

from __future__ import annotations

from typing import Any

from maixmem import __version__

from maixmem_cli.answer import of_board
from maixmem_cli.answer.answer import Answer
from maixmem_cli.errors import log, table
from maixmem_cli.firmware.known_bad import faults
from maixmem_cli.serial import visit
from maixmem_cli.serial.identity import DamagedHeap, Identity, identity
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.text.language import ENGLISH
from maixmem_cli.text.numbers import hexa

#: what a flash scan notes -> the finding
_NOTES = {
    "length is not in its header": "note_length",
    "no firmware header": "note_header",
    "no image at": "note_image",
}
_QVGA = 320 * 240 * 2  # bytes of the image that most scripts work on
_IMAGES = ("k210", "canmv")  # ports whose GC heap holds images


# `results` is plain data for JSON, `findings` are answers; `notes` say what the numbers mean.
class Diagnosis:
    """One visit. Each question is independent: one that fails is a finding, and the next
    follows."""

    def __init__(self, board: RawRepl, full: bool, language: str = ENGLISH) -> None:
        self._board = board
        self._full = full
        self._language = language
        self._table = "k210"  # whose errors are looked up
        self.results: dict[str, Any] = {}
        self.findings: list[Answer] = []

    def find(self, key: str, *steps: str, **values: Any) -> None:
        """Notes a finding of the table; `steps` come before its own."""
        self.findings.append(of_board.finding(key, self._language, steps, **values))

    def find_said(self, what: str, *steps: str) -> None:
        """Notes what the board says itself. Without steps: those of the table of errors."""
        if steps:
            self.findings.append(of_board.of_words(what, steps, self._language))
            return
        known = log.of_line(what, self._table, self._language)
        if known:
            self.findings.append(of_board.of_words(what, known.steps, self._language))
            return
        name, _, error = what.partition(": ")
        self.find("unknown", name=name, error=error)

    def ask(self, name: str, file: str, function: str, *args: Any, timeout: float = 60) -> Any:
        try:
            self.results[name] = visit.ask(self._board, file, function, *args, timeout=timeout)
        except visit.Missing as e:
            self.find("missing_library", name=name, error=str(e), port=self._board.url)
        except BoardError as e:
            self.find_said(f"{name}: {e}")
        return self.results.get(name)

    def run(self) -> None:
        try:
            who = identity(self._board)
        except DamagedHeap as e:
            self.find_said(e.said.what, *e.said.steps)
            self.results["notes"] = [of_board.finding("left_out", self._language).cause]
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
                    self.find("hidden", folder=folder, name=name[:-4])
            rest = [n for n in ours if n.endswith("~")]
            if rest:
                self.find("cut_deploy", folder=folder, names=", ".join(rest))
        systems = self.ask("file_systems", "files", "statistics", list(searched)) or {}
        for folder, (free, _, block) in systems.items():
            if free <= 2 * block:  # SPIFFS keeps two blocks; see transfer.free_bytes()
                self.find("full_files", folder=folder)

    def build(self, who: Identity) -> None:
        """A build of MaixPy that is known to be bad."""
        if who.kind == "maixpy":
            self.results["build"] = who.build
            for what, step in faults(who.build):
                self.find_said(what, step)

    def place(self, who: Identity, home: str, place: str | None) -> None:
        """The library in a folder where the board does not look."""
        self.results["place"] = [home, place]
        if who.kind == "maixpy" and place and place != home:
            port, quoted = self._board.url, repr(place)
            self.find("other_folder", place=place, home=home, port=port, quoted=quoted)

    def memory(self) -> None:
        report = self.results["report"]
        said = report.pop("said", [])
        if report["port"] == "generic":  # what its numbers mean: no fault, no cure
            self.results["notes"] = report["warnings"]
        else:
            for text, *steps in said:
                self.find_said(text, *steps)
        if report["version"] != __version__:
            theirs, port = report["version"], self._board.url
            self.find("other_version", theirs=theirs, ours=__version__, port=port)
        for r in report["regions"]:
            if (
                r["name"] == "gc"
                and report["port"] in _IMAGES
                and r["largest"] is not None
                and r["largest"] < _QVGA <= r["free"]
            ):
                self.find("gc_pieces", free=r["free"], largest=r["largest"], needed=_QVGA)

    def gc_heap(self) -> None:
        # what is wrong with it is in the report's warnings
        self.ask("gc_heap", "library", "gc_heap")

    def flash(self) -> None:
        found = self.ask("flash", "library", "flash", self._full, self._full, timeout=300)
        if not found:
            return
        for text in found["conflicts"]:
            self.find("collision", text=text)
        for name, start, end, _, _, intact in found["regions"]:
            if intact is False:
                self.find("damaged_image", name=name, start=hexa(start), end=hexa(end))
        for start, end, why in found["unread"]:
            self.find("unread", start=hexa(start), end=hexa(end), why=why)
        for text in found["notes"]:
            key = next((key for words, key in _NOTES.items() if words in text), None)
            if key:
                self.find(key, text=text)
            else:
                self.find_said(text)
        self.results["models"] = [self.model(r) for r in found["regions"] if r[3] == "model"]

    def model(self, region: list[Any]) -> dict[str, Any]:
        name, start = region[0], region[1]
        cost = self.ask(f"model {hexa(start)}", "library", "model", start) or {}
        text, *steps = cost.pop("said", [""])
        if cost.get("refuse"):
            self.find("never_loads", *steps, name=name, start=hexa(start), text=text)
        elif cost.get("shortage"):
            self.find("not_now", *steps, name=name, start=hexa(start), text=text)
        return {"address": start, "name": name, **cost}
