# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which device modules belong to which platform: build, deploy, mip and the board tests read it.

The platforms are the ports of maixmem_report.PORTS, the table by which a board finds its own. A
row there is all that registers a port: the file lib/maixmem_NAME.py, or the folder of that name
for a board with Linux, what it imports, its package for mip and what deploy copies follow from it.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import NamedTuple

import maixmem_report

from maixmem_cli.library import places

_ROLES = (
    "maixmem",
    "maixmem_advice",
    "maixmem_arena",
    "maixmem_image",
    "maixmem_models",
    "maixmem_pool",
)

_FLASH = ("maixmem_flash", "maixmem_kmodel")
_AUTO = (
    "maixmem_auto",
    "maixmem_auto_lcd",
    "maixmem_auto_sensor",
    "maixmem_auto_thread",
    "maixmem_kpu",
)

#: platform -> what its boards get beside the roles, the port itself and the table of its errors
_MORE: dict[str, tuple[str, ...]] = {
    "k210": (*_FLASH, *_AUTO, "maixmem_camera", "maixmem_k210_old"),
    "canmv": _FLASH,
}

#: of no platform: each is a package of its own, and deploy takes it by name
ALONE = ("maixmem_snapshot",)

_PORTS = tuple(row.rpartition(":")[2] for row in maixmem_report.PORTS.split())


def platform_of(port: str) -> str:
    """The platform of a board whose port is maixmem_PORT: k210 for k210 and k210_old."""
    return next((name for name in _PORTS if port.startswith(f"{name}_")), port)


#: each has a package of its name
PLATFORMS = tuple(dict.fromkeys(map(platform_of, _PORTS)))


def on_linux(platform: str) -> bool:
    """Whether its port is a folder: installed by pip, never copied to a board."""
    return (places.lib() / f"maixmem_{platform}").is_dir()


def _errors(platform: str) -> str:
    """The module with the errors of a platform, as maixmem_advice finds it: that of its port, else
    that of all boards with MicroPython or Linux."""
    own = f"maixmem_known_{platform}"
    other = "linux" if on_linux(platform) else "mpy"
    return own if (places.lib() / f"{own}.py").is_file() else f"maixmem_known_{other}"


#: calls that bring a part of the library into memory by its name without maixmem_ -> what they put
#: before that name
_BRING = {"resident": "", "run_once": "", "_part": "kpu_"}


class Part(NamedTuple):
    """A part that a call (`by`) brings into memory, its `name` without maixmem_, and the function
    that it runs, "" where that is no constant."""

    by: str
    name: str
    function: str
    where: str


def parts(path: Path, tree: ast.AST) -> list[Part]:
    """The parts that the calls of a file name."""
    found = []
    for node in ast.walk(tree):
        by = _name(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and by in _BRING:
            name, function = _constant(node.args[:1]), _constant(node.args[1:2])
            if name:
                found.append(Part(by, _BRING[by] + name, function, f"{path.name}:{node.lineno}"))
    return found


def _constant(arguments: list[ast.expr]) -> str:
    """The text of the first argument, "" where there is none or it is no constant."""
    first = arguments[0] if arguments else None
    return str(first.value) if isinstance(first, ast.Constant) else ""


@functools.lru_cache(maxsize=None)
def imports(module: str) -> frozenset[str]:
    """The maixmem modules that a module imports anywhere, also late, by name:
    run_once("report", ...)."""
    found: set[str] = set()
    for path in files(module):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found.update(f"maixmem_{part.name}" for part in parts(path, tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                found.add(node.module or "")
            elif isinstance(node, ast.Import):
                found.update(a.name for a in node.names)
    return frozenset(name.split(".")[0] for name in found if name.split("_")[0] == "maixmem")


def _name(func: ast.expr) -> str:
    return getattr(func, "id", "") or getattr(func, "attr", "")


def files(module: str) -> list[Path]:
    """The files of a module: one, or those of its folder (the packages for Linux boards)."""
    folder = places.lib() / module
    return sorted(folder.glob("*.py")) if folder.is_dir() else [places.lib() / f"{module}.py"]


def closure(wanted: set[str]) -> set[str]:
    """The modules and all that they import."""
    done: set[str] = set()
    todo = set(wanted)
    while todo:
        module = todo.pop()
        done.add(module)
        todo |= imports(module) - done
    return done


@functools.lru_cache(maxsize=None)
def modules(platform: str) -> tuple[str, ...]:
    """Every module of a platform, in order of name."""
    starts = {*_ROLES, f"maixmem_{platform}", _errors(platform), *_MORE.get(platform, ())}
    if on_linux(platform):
        starts.add("maixmem_linux")
    return tuple(sorted(closure(starts)))


def every() -> tuple[str, ...]:
    """The modules of all platforms and of none, each once, in order of name."""
    return tuple(sorted({m for platform in PLATFORMS for m in modules(platform)} | {*ALONE}))


def short(module: str) -> str:
    """The name that --modules takes: pool for maixmem_pool."""
    return module[len("maixmem_") :] if module.startswith("maixmem_") else module


def select(platform: str, names: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What to put on a platform: all its modules, or those named ("pool" or "maixmem_pool") and
    what they need.

    ValueError names the modules that there are.
    """
    known = (*modules(platform), *ALONE)
    if not names:
        return modules(platform)
    full = {name if name.startswith("maixmem") else f"maixmem_{name}" for name in names}
    wrong = sorted(full - set(known))
    if wrong:
        there = ", ".join(short(m) for m in known)
        raise ValueError(f"no module {short(wrong[0])!r} for {platform}; there are {there}")
    port = {m for m in known if m == f"maixmem_{platform}"} | {"maixmem"}
    return tuple(sorted(closure(full if full <= {*ALONE} else full | port)))


def __getattr__(name: str) -> tuple[str, ...]:
    """K210, which takes a tenth of a second to find, and most commands do not ask for."""
    if name == "K210":
        return modules("k210")
    raise AttributeError(name)
