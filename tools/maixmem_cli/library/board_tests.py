# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The library and its device tests on a board: what goes there, one test file run, what came of
it."""

from __future__ import annotations

from dataclasses import dataclass

from maixmem_cli.library import bytecode, modules, places, suites
from maixmem_cli.library.forms import contents
from maixmem_cli.serial.identity import Identity
from maixmem_cli.serial.repl import RawRepl
from maixmem_cli.serial.visit import ask

_SECONDS = 600  # without a line from the board: a loaded desk runs an emulated one slowly
_HELPERS = ("devtest.py", "kmodel_build.py")  # the second of a K210's tests alone


@dataclass(frozen=True)
class Target:
    """What goes where: `bytecode` is that of the library, None for sources; `models` are addresses
    in flash, for tests that switch."""

    who: Identity
    bytecode: int | None
    models: tuple[int, ...]

    @property
    def is_k210(self) -> bool:
        return self.who.kind == "maixpy"

    @property
    def folder(self) -> str:
        return "/flash" if self.is_k210 else self.who.target.rstrip("/")

    def library(self) -> dict[str, bytes]:
        """{full name: bytes} of the library."""
        names = modules.modules(modules.platform_of(self.who.port))
        compiler = ""
        if self.who.kind == "circuitpython":
            compiler = bytecode.circuitpython_compiler(self.bytecode)
        return self._placed(contents(names, self.bytecode, compiler))

    def helpers(self) -> dict[str, bytes]:
        """{full name: bytes} of what the tests import."""
        helpers = _HELPERS if self.is_k210 else _HELPERS[:1]
        found = {name: (places.device_tests() / name).read_bytes() for name in helpers}
        found["board_models.py"] = f"MODELS = {self.models!r}\n".encode()
        return self._placed(found)

    def _placed(self, files: dict[str, bytes]) -> dict[str, bytes]:
        return {f"{self.folder}/{name}": data for name, data in files.items()}

    def twins(self) -> list[str]:
        """Full names of the library's other form, which would be imported instead or for
        nothing."""
        other = "py" if self.bytecode else "mpy"
        return [f"{name.rpartition('.')[0]}.{other}" for name in self.library()]

    def chosen(self, names: tuple[str, ...]) -> list[suites.Suite]:
        """The test files that the board can run, of those that are wanted; ValueError where there
        is none."""
        can = [s for s in suites.suites() if s.portable or (self.is_k210 and not s.needs)]
        found = [s for s in can if not names or any(n in s.module for n in names)]
        if not found:
            raise ValueError(f"no device test that this board can run is named like {names}")
        return found


def fresh(board: RawRepl, who: Identity) -> None:
    """A new interpreter. CircuitPython waits for a key after its Ctrl-D."""
    if who.kind == "circuitpython":
        board.reload()
    else:
        board.soft_reset()


def run_suite(board: RawRepl, target: Target, suite: suites.Suite) -> dict[str, tuple[str, str]]:
    """Copies one test file, runs it in a fresh interpreter, removes it. A hung board is a failure
    of the last test."""
    name = f"{target.folder}/{suite.path.name}"
    board.write_file(name, suite.path.read_bytes())
    fresh(board, target.who)
    out, error = board.run(suite.main(), timeout=_SECONDS)
    ask(board, "files", "remove", [name])
    found = suites.results(out)
    for test in suite.tests:
        if test not in found:
            found[test] = ("FAIL", error or "did not run: " + out[-500:])
    return found
