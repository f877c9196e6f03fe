# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What pyproject.toml cannot say: the library's own folder, a README that renders elsewhere."""

import re
import sys
import zipfile
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).resolve().parent / "device"))

from build_library import BuildLibrary, version

#: the page for browsers as `dev.py web` made it; a release has it, in the sdist too
PAGE = Path("dist/web")


class BuildDesk(BuildLibrary):
    """The library as a part of the command, and the page where it was made."""

    folder = "maixmem_cli/lib"

    def run(self):
        super().run()
        if getattr(self, "editable_mode", False):
            return
        archive = Path(self.build_lib) / "maixmem_cli" / "page" / "site.zip"
        archive.unlink(missing_ok=True)
        if PAGE.is_dir():
            pack(PAGE, archive)


def pack(folder, archive):
    """The files of a folder: the same bytes whenever it is built."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            name = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            made.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)


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
    version=version(),
    cmdclass={"build_py": BuildDesk},
    long_description=readme(),
    long_description_content_type="text/markdown",
)
