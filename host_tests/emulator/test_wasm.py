# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The WebAssembly module of the board: made of the C that lies beside it, closed, and equal."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import dev
import pytest


@pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None,
    reason="k210.wasm NOT BUILT AGAIN: python3 tools/dev.py wasm brings the compiler, 411 MB",
)
def test_the_module_is_made_of_the_c_beside_it(tmp_path: Path) -> None:
    made = tmp_path / "k210.wasm"
    _, *command = map(str, dev.wasm_command(made))
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    same = made.read_bytes() == (dev.C / "k210.wasm").read_bytes()
    assert same, "Next: python3 tools/dev.py wasm"


def test_no_c_was_changed_without_the_module() -> None:
    """By digests that `dev.py wasm` writes: needs no compiler."""
    assert dev.WASM_OF.read_text(encoding="ascii") == dev.wasm_of(), (
        "Next: python3 tools/dev.py wasm"
    )


def test_it_imports_nothing() -> None:
    wasmtime = pytest.importorskip("wasmtime")
    module = wasmtime.Module(wasmtime.Engine(), (dev.C / "k210.wasm").read_bytes())
    assert module.imports == []
