# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""In which form a board gets the modules: the bytecode that it loads, or sources."""

from __future__ import annotations

import tempfile
from pathlib import Path

from maixmem_report import kib

from maixmem_cli.library import bytecode, places
from maixmem_cli.serial.identity import Identity
from maixmem_cli.serial.repl import BoardError, ConnectionLost, RawRepl
from maixmem_cli.serial.transfer import TransferError, refused
from maixmem_cli.serial.visit import ask

PROBE = "maixmem_try"


def accepted(board: RawRepl, who: Identity, target: str) -> int | None:
    """The bytecode that the board loads: what its interpreter names, else what it imports; None:
    sources only."""
    if who.kind == "circuitpython":
        return who.bytecode if bytecode.circuitpython_compiler(who.bytecode) else None
    if who.bytecode is not None:
        return who.bytecode if who.bytecode in bytecode.VERSIONS else None
    name = f"{target}/{PROBE}.mpy"
    for version in sorted(bytecode.VERSIONS):
        try:
            _put_probe(board, name, version)
            doing = f"trying bytecode {version}"
            ask(board, "imports", "importable", target or "/", PROBE, doing=doing)
        except ConnectionLost:
            raise
        except BoardError:
            continue
        else:
            return version
        finally:
            ask(board, "files", "remove", [name], doing="removing the probe")
    return None


def _put_probe(board: RawRepl, name: str, version: int) -> None:
    """Writes the probe; TransferError where the file system does not take it."""
    try:
        board.write_file(name, bytecode.probe(version))
    except ConnectionLost:
        raise
    except BoardError as e:
        raise TransferError(
            refused(e, name.rpartition("/")[0] or "/", "Nothing was changed.")
        ) from e


def contents(names: tuple[str, ...], version: int | None, compiler: str = "") -> dict[str, bytes]:
    """{file name: bytes} of the modules, as sources when version is None."""
    if version is None:
        return {f"{n}.py": (places.lib() / f"{n}.py").read_bytes() for n in names}
    with tempfile.TemporaryDirectory() as temp:
        return {
            p.name: p.read_bytes()
            for p in bytecode.compile_modules(names, version, Path(temp), compiler).values()
        }


def sources_cost(files: dict[str, bytes]) -> str:
    """What to know before CircuitPython gets sources."""
    return (
        f"sources, {kib(sum(map(len, files.values())))}: the board compiles each at its import. "
        "Next, for a third of it: CircuitPython's own mpy-cross of the board's version, named by "
        "CIRCUITPYTHON_MPY_CROSS"
    )
