# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board's C has no warnings: an error here, never on a user's machine."""

from __future__ import annotations

import shutil
import subprocess

import paths
import pytest
from maixmem_cli.emulator import compiler

_WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wno-unused-parameter", "-Werror")
# gcc finds some only where it optimises
_PASS = {"gcc": ("-O1", "-c", "-o", "/dev/null"), "clang": ("-fsyntax-only",)}


@pytest.mark.parametrize("cc", _PASS)
def test_no_warnings(cc: str) -> None:
    if not shutil.which(cc):
        pytest.skip(f"NO {cc} here: its warnings are not known")
    files = sorted((paths.TOOLS / "k210board").rglob("*.c"))
    assert len(files) > 15
    command = [cc, *_PASS[cc], *compiler.FLAGS, *_WARNINGS]
    for file in files:
        done = subprocess.run([*command, str(file)], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_users_get_no_warning_as_an_error() -> None:
    assert not [o for o in compiler.FLAGS if o.startswith("-W")]
