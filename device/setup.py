# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What pyproject.toml cannot say: the library comes from the folder lib/ of the repository."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).resolve().parent))

from build_library import BuildLibrary, WithLibrary, version

setup(version=version(), cmdclass={"build_py": BuildLibrary}, distclass=WithLibrary)
