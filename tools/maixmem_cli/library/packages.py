# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The texts of package.json (for mip), of manifest.py (for firmware builders), and a mip index."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from maixmem import __version__

from maixmem_cli.errors import made
from maixmem_cli.library import modules, stub

NAME = "maixmem"
DESCRIPTION = "Memory on edge-AI vision boards: report, model switching, flash map, buffer pools"
#: packages that mip installs for the boards of a platform: file beside the modules -> platform.
#: The folder's package.json is that of the boards which take its bytecode: 4 is MaixPy's and
#: CanMV's, no other's
PLATFORMS = {
    {"generic": "micropython"}.get(platform, platform): platform
    for platform in modules.PLATFORMS
    if not modules.on_linux(platform)
}
#: all that mip installs -> the platform, "" of a module alone
PACKAGES = {**PLATFORMS, **{modules.short(name): "" for name in modules.ALONE}}
USUAL = {4: "k210", 5: "micropython", 6: "micropython"}
_MANIFEST = """\
# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
# For MicroPython 1.12 and later, in a board's manifest: include("path/to/maixmem/manifest.py")
# MaixPy v1 has no manifests: copy the files that package.json names to
# components/micropython/port/builtin_py of its source.
# Made by `maixmem build`, not by hand.
metadata(description={description!r}, version={version!r}, license="MIT")
"""


def package_json(files: dict[str, str]) -> str:
    """A package of {name on the board: url relative to the file}. Flat names: MaixPy's /flash has
    no folders."""
    package = {
        "urls": [[name, url] for name, url in sorted(files.items())],
        "version": __version__,
    }
    return json.dumps(package, indent=2) + "\n"


def of_package(name: str) -> tuple[str, ...]:
    """The modules of a package that mip installs."""
    platform = PACKAGES[name]
    return modules.modules(platform) if platform else (f"{NAME}_{name}",)


def every() -> tuple[str, ...]:
    """The modules of all these packages, each once, in order of name."""
    return tuple(sorted({m for name in PACKAGES for m in of_package(name)}))


def repository_files(top: Path) -> dict[str, str]:
    """{file of the repository: its text}: what must be generated again when the modules change. At
    the top lies the K210's package, the others beside the modules."""
    manifest = _MANIFEST.format(description=DESCRIPTION, version=__version__)
    manifest += "".join(
        f'module("{m}.py", base_path="lib", opt=3)\n' for m in of_package("micropython")
    )
    beside = {
        f"lib/{name}.json": package_json({f"{m}.py": f"{m}.py" for m in of_package(name)})
        for name in PACKAGES
        if name != "k210"
    }
    return {
        "package.json": package_json({f"{m}.py": f"lib/{m}.py" for m in of_package("k210")}),
        **beside,
        "manifest.py": manifest,
        "pyproject.toml": _project(top),
        "lib/maixmem.pyi": stub.text(),
        "docs/errors.md": made.page(),
        **{f"lib/{name}.py": made.device_module(boards) for name, boards in made.MODULES.items()},
    }


def _project(top: Path) -> str:
    """pyproject.toml with its list made anew: the folders of Python beside the library."""
    text = (top / "pyproject.toml").read_text(encoding="utf-8")
    folders = {
        "maixmem_cli": top / "tools" / "maixmem_cli",
        "maixmem_cli.device_tests": top / "host_tests" / "device",
        "maixmem_cli.k210board": top / "tools" / "k210board",
        "maixmem_shims": top / "port_shims",
    }
    found = set(folders)  # one may have no Python of its own
    found |= {
        ".".join((name, *path.parent.relative_to(folder).parts))
        for name, folder in folders.items()
        for path in folder.rglob("*.py")
    }
    rows = "".join(f'  "{name}",\n' for name in sorted(found))
    return re.sub(
        r"^packages = \[.*?\]",
        f"packages = [\n{rows}]",
        text,
        count=1,
        flags=re.DOTALL | re.MULTILINE,
    )


def write_index(folder: Path, kinds: dict[str, dict[str, Path]]) -> None:
    """A static mip index: kinds is {"py" or the bytecode: {module: file}}. Any web server serves
    it. `maixmem` is the package of the boards with that bytecode; maixmem-NAME is each by name."""
    shutil.rmtree(folder, ignore_errors=True)
    for kind, files in kinds.items():
        hashes = {m: [path.name, _store(folder, path)] for m, path in sorted(files.items())}
        usual = USUAL[int(kind)] if kind.isdigit() else "k210"
        for name in ("", *PACKAGES):
            chosen = [hashes[m] for m in of_package(name or usual)]
            package: dict[str, Any] = {"v": 1, "version": __version__, "hashes": chosen}
            where = folder / "package" / kind / f"{NAME}-{name}".rstrip("-")
            where.mkdir(parents=True)
            for version in ("latest", __version__):
                (where / f"{version}.json").write_text(
                    json.dumps(package) + "\n", encoding="utf-8"
                )


def _store(folder: Path, path: Path) -> str:
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()[:8]
    place = folder / "file" / digest[:2] / digest
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return digest
