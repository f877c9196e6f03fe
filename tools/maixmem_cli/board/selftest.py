# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The library's own checks on a board, and what came of them: heap walks, loads of the models in
flash, device tests."""

from __future__ import annotations

from typing import Any

from maixmem import __version__

from maixmem_cli.library.board_tests import Target, fresh, run_suite
from maixmem_cli.library.forms import accepted
from maixmem_cli.serial.identity import Identity, identity
from maixmem_cli.serial.repl import BoardError, ConnectionLost, RawRepl
from maixmem_cli.serial.transfer import free_bytes, matches, wanted_bytes
from maixmem_cli.serial.visit import ask
from maixmem_cli.text.numbers import hexa

_TEST = 65536  # bytes of flash for one test file
FINE, FAULT, SKIPPED = "fine", "FAULT", "not run"


# One visit. What was put on the board is `brought`, full names; gone() takes it away again.
# `results` is plain data: {"maixmem", "board", "heap", "models", "tests", "left"}.
class Selftest:
    """The checks of one board and what came of them."""

    def __init__(self, board: RawRepl) -> None:
        self._board = board
        self.who: Identity = identity(board)
        self.results: dict[str, Any] = {"maixmem": __version__, "board": vars(self.who)}
        self.rows: list[tuple[str, str, str]] = []
        self.brought: list[str] = []

    def note(self, check: str, result: str, figures: str = "") -> None:
        self.rows.append((check, result, figures))

    def bring(self) -> Target:
        """The library and what tests import, as far as it is missing. BoardError where another
        version is, or too little room."""
        board = self._board
        folder = "/flash" if self.who.kind == "maixpy" else ""
        target = Target(self.who, accepted(board, self.who, folder), ())
        files = {**target.library(), **target.helpers()}
        there = ask(board, "files", "check", [*files, *target.twins()])
        others = [
            n for n, found in there.items() if found and not matches(files.get(n, b""), found)
        ]
        if others:
            raise BoardError(
                f"{others[0]} on the board is of another version or form. Next: maixmem deploy "
                f"--port {board.url}, or deploy --remove, then again"
            )
        missing = {n: data for n, data in files.items() if not there[n]}
        free = free_bytes(board, target.folder or "/")
        need = wanted_bytes(missing) + _TEST
        if free is not None and free < need:
            raise BoardError(
                f"{target.folder or '/'} has {free} bytes free, the library and its tests take "
                f"{need} for the time. Next: remove files there, then again"
            )
        for name, data in missing.items():
            self.brought.append(name)
            board.write_file(name, data)
        return target

    def gone(self) -> None:
        """Takes away what was brought; notes what is left."""
        fresh(self._board, self.who)
        ask(self._board, "files", "remove", self.brought)
        there = ask(self._board, "files", "check", self.brought)
        left = [name for name, found in there.items() if found]
        self.results["left"] = left
        if self.brought:
            self.note("files of the library", FAULT if left else FINE, f"{len(left)} left behind")

    def heap(self) -> tuple[int, ...]:
        """The walk against what the firmware says, before and after the loads; the addresses of
        the models that lie in flash."""
        fresh(self._board, self.who)
        home, _, had = ask(self._board, "library", "enter")
        self.walk("system heap at the start")
        models = self.models()
        self.walk("system heap after the loads")
        ask(self._board, "library", "leave", home, had)
        return models

    def walk(self, check: str) -> None:
        found = ask(self._board, "heap", "walk")
        self.results.setdefault("heap", {})[check] = found
        if found["free"] is None:
            self.note(check, SKIPPED, "malloc's lists are not found on this firmware")
            return
        figures = "free {free}, largest {largest}, holes {holes}, heap_free {heap_free}"
        same = found["said"] in (None, found["heap_free"])
        said = "" if same else f"; the firmware says {found['said']}"
        self.note(
            check, FINE if same and found["exact"] else FAULT, figures.format(**found) + said
        )

    def models(self) -> tuple[int, ...]:
        try:
            regions = ask(self._board, "library", "flash", False, False, timeout=300)["regions"]
        except BoardError as e:
            self.note("models in flash", SKIPPED, str(e))
            return ()
        found = tuple(r[1] for r in regions if r[3] == "model")
        if not found:
            self.note("models in flash", SKIPPED, "there is none; maixmem kfpkg, kflash")
        self.results["models"] = [self.model(address) for address in found]
        came = [m for m in self.results["models"] if "took" in m]
        return tuple(m["address"] for m in came)

    def model(self, address: int) -> dict[str, Any]:
        """One load, foretold and done."""
        found = {"address": address, **ask(self._board, "heap", "load", address)}
        why = found.get("refuse") or found.get("shortage")
        if why:
            self.note(f"model at {hexa(address)}", SKIPPED, why)
            return found
        exact = found.get("exact", True) and found["back"] == found["free"]
        figures = f"foretold {found['need']} bytes, took {found['took']}"
        if not found.get("exact", True):
            figures += ", malloc's lists are other than foretold"
        if found["back"] != found["free"]:
            figures += f", {found['back'] - found['free']} free more after it was freed"
        self.note(f"model at {hexa(address)}", FINE if exact else FAULT, figures)
        return found

    def tests(self, target: Target, names: tuple[str, ...]) -> None:
        """The device tests; `names` are parts of the names of their files."""
        told = self.results["tests"] = {}
        for suite in target.chosen(names):
            found = run_suite(self._board, target, suite)
            told[suite.module] = {test: list(said) for test, said in found.items()}
            kinds = [kind for kind, _ in found.values()]
            counts = ", ".join(f"{kinds.count(k)} {k.lower()}" for k in sorted(set(kinds)))
            self.note(suite.module, FAULT if "FAIL" in kinds else FINE, counts)

    def run(self, quick: bool, names: tuple[str, ...]) -> None:
        """All of it; ValueError where no test is named like that."""
        Target(self.who, None, ()).chosen(names)
        try:
            target = self.bring()
            if target.is_k210:
                target = Target(target.who, target.bytecode, self.heap())
                name, data = list(target.helpers().items())[-1]
                self._board.write_file(name, data)
            if not quick:
                self.tests(target, names)
        except ConnectionLost as e:
            self.results["left"] = self.brought
            raise ConnectionLost(
                f"{e} What selftest brought is still there. Next: reset the board, maixmem deploy "
                f"--remove --port {self._board.url}, and send the last line of this table"
            ) from e
        except BaseException:
            self.gone()
            raise
        self.gone()
