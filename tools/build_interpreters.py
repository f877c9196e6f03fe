#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds interpreters that no package has, from their sources, into the user's cache.

    python3 tools/dev.py interpreters [NAME]... [--sources FOLDER]

    newest         MicroPython's unix port, as its sources are today
    simheap        the same with the heap of an ESP32: it grows out of a system heap
    circuitpython  CircuitPython's unix port
    mpy-cross      CircuitPython's compiler, which deploy can use

Needs git, make and a C compiler; without FOLDER it clones from GitHub (about 150 MB, once). FOLDER
has clones already: micropython/ and circuitpython/ (its extmod/ulab and tools/huffman with it).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIMHEAP = ROOT / "host_tests" / "kits" / "runners" / "simheap"
PLAIN = ("FROZEN_MANIFEST=", "MICROPY_PY_BTREE=0", "MICROPY_PY_FFI=0", "MICROPY_PY_SSL=0")


@dataclass(frozen=True)
class Sources:
    """A repository: its branch or tag, the folders to check out ("" for all), its submodules."""

    url: str
    branch: str
    folders: tuple[str, ...]
    submodules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """The arguments of `make` in a folder of the sources, and the program that it builds."""

    sources: str
    folder: str
    program: str
    make: tuple[str, ...]


SOURCES = {
    "micropython": Sources(
        "https://github.com/micropython/micropython",
        "master",
        ("py", "extmod", "shared", "lib", "ports/unix", "tools", "mpy-cross"),
    ),
    "circuitpython": Sources(
        "https://github.com/adafruit/circuitpython",
        "10.2.1",
        (
            *("py", "extmod", "shared", "lib", "ports/unix", "tools", "mpy-cross", "data"),
            *("shared-bindings", "shared-module", "supervisor", "drivers", "locale", "devices"),
        ),
        ("extmod/ulab", "tools/huffman"),
    ),
}
RECIPES = {
    "newest": Recipe(
        "micropython",
        "ports/unix",
        "build-standard/micropython",
        ("VARIANT=standard", *PLAIN),
    ),
    "simheap": Recipe(
        "micropython", "ports/unix", "build-simheap/simheap", (f"VARIANT_DIR={SIMHEAP}",)
    ),
    "circuitpython": Recipe(
        "circuitpython",
        "ports/unix",
        "build-standard/micropython",
        (
            "VARIANT=standard",
            "FROZEN_MANIFEST=",
            "CFLAGS_EXTRA=-Wno-error -DMICROPY_PY_MICROPYTHON_RINGIO=0",
        ),
    ),
    "mpy-cross": Recipe("circuitpython", "mpy-cross", "build/mpy-cross", ()),
}


def cache() -> Path:
    """The folder of what is built: $MAIXMEM_INTERPRETERS, else in the user's cache."""
    named = os.environ.get("MAIXMEM_INTERPRETERS")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(named) if named else Path(base) / "maixmem" / "interpreters"


def run(*command: object, folder: Path | None = None) -> None:
    """Runs a command; ends with its last lines and status 1 when it fails."""
    words = [str(c) for c in command]
    done = subprocess.run(
        words, check=False, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-3000:]}\n{' '.join(words)} failed, see above.")


def fetched(name: str, given: Path | None) -> Path:
    """The folder of the sources: the given one, or a clone in the cache."""
    if given:
        return given / name
    place = cache() / "sources" / name
    wanted = SOURCES[name]
    if not (place / "py").is_dir():
        shutil.rmtree(place, ignore_errors=True)
        print(f"cloning {wanted.url} {wanted.branch} ...", flush=True)
        sparse = ("--filter=blob:none", "--no-checkout", "--depth=1")
        run("git", "clone", "-q", *sparse, "--branch", wanted.branch, wanted.url, place)
        run("git", "sparse-checkout", "set", *wanted.folders, folder=place)
        run("git", "checkout", "-q", wanted.branch, folder=place)
        for module in wanted.submodules:
            run("git", "submodule", "update", "-q", "--init", "--depth=1", module, folder=place)
    return place


def build(name: str, given: Path | None) -> Path:
    """Builds one into the cache; its path."""
    recipe = RECIPES[name]
    folder = fetched(recipe.sources, given) / recipe.folder
    print(f"building {name} ...", flush=True)
    run("make", f"-j{os.cpu_count() or 1}", *recipe.make, folder=folder)
    target = cache() / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(folder / recipe.program, target)
    return target


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all of them")
    parser.add_argument("--sources", type=Path, metavar="FOLDER")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in RECIPES]
    missing = [tool for tool in ("git", "make", "cc") if not shutil.which(tool)]
    if unknown:
        parser.error(f"no interpreter {unknown[0]!r}; there are {', '.join(RECIPES)}")
    if missing:
        parser.error(f"no {missing[0]} here. Next: apt install build-essential git (Debian)")
    for name in given.names or RECIPES:
        print(build(name, given.sources and given.sources.resolve()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
