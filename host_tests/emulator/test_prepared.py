# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The library in the user's cache, as bytecode for boards in software: made once, also by two
commands at a time."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from maixmem_cli.emulator import prepared
from maixmem_cli.library import bytecode
from maixmem_cli.library.modules import K210


def test_two_commands_that_start_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "cache", lambda: tmp_path / "cache")
    compile_modules = bytecode.compile_modules

    def faster(names: Any, version: int, folder: Path) -> dict[str, Path]:
        """Between this one's compiling and its end the other has put its own in place."""
        made = compile_modules(names, version, folder)
        monkeypatch.setattr(bytecode, "compile_modules", compile_modules)
        shutil.copytree(
            folder, next(iter(prepared.files_of_library().values())).parent, dirs_exist_ok=True
        )
        return made

    monkeypatch.setattr(bytecode, "compile_modules", faster)
    files = prepared.files_of_library()
    assert sorted(files) == sorted(f"{m}.mpy" for m in K210)
    assert all(path.read_bytes()[:2] == b"M\x04" for path in files.values())
    assert [p.name[:8] for p in (tmp_path / "cache").iterdir()] == ["library-"]
