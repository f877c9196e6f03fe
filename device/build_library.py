# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The library of lib/ in both packages, `maixmem` and `maixmem-device`: for the two setup.py.

Its modules have names at the top level, as on a board. They lie in one folder of the package, and
a .pth file has Python find them there: beside it site-packages gets no name of ours. Both packages
may be installed: each has its own folder.
"""

import os
import re
import shutil
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

_HERE = Path(__file__).resolve().parent
#: beside this folder in a clone, in it in the sdist of maixmem-device
LIB = next(p for p in (_HERE / "lib", _HERE.parent / "lib") if p.is_dir())


def version():
    """The version of the library, which is that of both packages."""
    text = (LIB / "maixmem.py").read_text(encoding="utf-8")
    return re.search('^__version__ = "(.+)"$', text, re.MULTILINE)[1]


class WithLibrary(Distribution):
    """Always has Python to build, though pyproject.toml may list none."""

    def has_pure_modules(self):
        return True


class BuildLibrary(build_py):
    """build_py, and the library in `folder` with a stub package for each flat module, as those
    cannot have a py.typed (PEP 561): its stub where it has one, else the source itself, whose
    signatures have the types."""

    folder = "maixmem_device"

    def run(self):
        super().run()
        if getattr(self, "editable_mode", False):
            return
        top = Path(self.build_lib)
        to = top / self.folder
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        name = self.distribution.get_name()
        (top / f"{name}.pth").write_text(f"{self.folder}\n", encoding="ascii")
        for path in sorted(LIB.iterdir()):
            if path.suffix == ".py":
                shutil.copyfile(path, to / path.name)
                self._stub(path, to / f"{path.stem}-stubs")
            elif (path / "__init__.py").is_file():
                shutil.copytree(
                    path, to / path.name, ignore=shutil.ignore_patterns("*.pyc", "__*__")
                )

    def _stub(self, source, folder):
        if source.with_suffix(".pyi").is_file():
            source = source.with_suffix(".pyi")
        folder.mkdir()
        shutil.copyfile(source, folder / "__init__.pyi")
