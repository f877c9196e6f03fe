# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What pyproject.toml cannot say: types for installed copies, and a README that renders elsewhere.

Flat modules take no py.typed (PEP 561), so each gets a stub package, made from its source.
"""

import re
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithStubs(build_py):
    """build_py, and NAME-stubs/__init__.pyi beside every flat module: its stub where it has one,
    else the source itself, whose signatures have the types."""

    def run(self):
        super().run()
        if not getattr(self, "editable_mode", False):
            for name in self.py_modules or ():
                self.make_stub(name)

    def make_stub(self, name):
        source = Path(self.package_dir[""]) / f"{name}.py"
        if source.with_suffix(".pyi").is_file():
            source = source.with_suffix(".pyi")
        folder = Path(self.build_lib) / f"{name}-stubs"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.pyi").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")


def readme():
    """README.md with links that lead to the repository, whose address pyproject.toml has."""
    project = Path("pyproject.toml").read_text(encoding="utf-8")
    address = re.search('^Repository = "(.+)"$', project, re.MULTILINE)[1]

    def absolute(link):
        kind = "raw" if link[1].startswith("!") else "blob"
        return f"{link[1]}({address}/{kind}/HEAD/{link[2]})"

    text = Path("README.md").read_text(encoding="utf-8")
    text = text.replace("https://github.com/OWNER/maixmem", address)
    return re.sub(r"(!?\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)", absolute, text)


setup(
    cmdclass={"build_py": BuildWithStubs},
    long_description=readme(),
    long_description_content_type="text/markdown",
)
