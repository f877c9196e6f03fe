# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem selftest` on firmware in software: nothing to complain of, nothing left."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import emulated
import pytest
from commands import maixmem
from emulated import each_image, needs_cc, only_thorough
from maixmem_cli.emulator.connect import connect

pytestmark = [needs_cc, only_thorough]
MODELS = {0x300000: "v3_face_ld5.kmodel", 0x400000: "v3_mnist_maixpy.kmodel"}


@each_image
@pytest.mark.parametrize("auto", [False, True])
def test_all_is_as_foretold(
    image: Path, auto: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # a board that no other test has
    models = [f"{emulated.model(name)}@{address:#x}" for address, name in MODELS.items()]
    file = tmp_path / "selftest.json"
    port = ",".join([f"emu:{image}", *([] if auto else ["new"]), *models])
    if auto:
        with connect(f"emu:{image},new"):
            pass
        commands.invoke("auto", "--install", "--port", port)
    said = maixmem("selftest", "test_image_bytes", "--port", port, "--json", str(file))
    told = json.loads(file.read_text(encoding="utf-8"))
    assert "FAULT" not in said and told["left"] == []
    if image in emulated.modern():
        assert [m["address"] for m in told["models"]] == list(MODELS)
        assert all(m["exact"] and m["took"] == m["need"] for m in told["models"])
    for look in told["heap"].values():
        assert look["exact"] and look["said"] in (None, look["heap_free"])
