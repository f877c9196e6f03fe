# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytecode of the device modules with the packages that install it, and which files of the
repository have to be generated again."""

from __future__ import annotations

from pathlib import Path

from maixmem_cli.library import packages, places
from maixmem_cli.library.bytecode import VERSIONS, compile_modules


def stale(top: Path) -> list[str]:
    """The repository files that are not what would be generated now."""
    files = ((name, top / name, text) for name, text in packages.repository_files(top).items())
    return [
        name
        for name, path, text in files
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def build(out: Path, index: bool) -> dict[int, dict[str, Path]]:
    """Writes out/mpyN/ with its packages, and out/index with `index`; {bytecode: {module:
    file}}."""
    made = {}
    every = packages.every()
    for version in VERSIONS:
        folder = out / f"mpy{version}"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.mpy"):
            old.unlink()
        made[version] = compile_modules(every, version, folder)
        for name in packages.PACKAGES:
            text = packages.package_json(
                {f"{m}.mpy": f"{m}.mpy" for m in packages.of_package(name)}
            )
            (folder / f"{name}.json").write_text(text, encoding="utf-8")
            if name == packages.USUAL[version]:
                (folder / "package.json").write_text(text, encoding="utf-8")
    if index:
        kinds = {str(v): dict(files) for v, files in made.items()}
        kinds["py"] = {m: places.lib() / f"{m}.py" for m in every}
        packages.write_index(out / "index", kinds)
    return made
