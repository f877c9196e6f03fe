# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem cure` where there is no firmware: on the stand-in, and it says so. On firmware:
emulator/test_cure_on_firmware.py."""

from __future__ import annotations

from pathlib import Path

import broken_scripts
import pytest
from commands import invoke
from emulated import THOROUGH
from maixmem_cli.emulator.session import Options
from maixmem_cli.plan.edits import edits
from maixmem_cli.runs import trial

_QUICK = ("last0", "window0")
_FIRST = [b for b in broken_scripts.scripts() if b.name.endswith("0")]


def cure(
    monkeypatch: pytest.MonkeyPatch, folder: Path, broken: broken_scripts.Broken
) -> tuple[int, str]:
    monkeypatch.delenv("MAIXMEM_FIRMWARE", raising=False)
    script = folder / f"{broken.name}.py"
    script.write_text(broken.source)
    flash = [f"--flash={path}@{address:#x}" for address, path in broken.files(folder)]
    done = invoke("cure", str(script), "--frames=6", *flash)
    return done.exit_code, done.stdout


@pytest.mark.parametrize(
    "broken", [b for b in _FIRST if THOROUGH or b.name in _QUICK], ids=lambda b: b.name
)
def test_a_change_that_runs_on_the_stand_in(
    broken: broken_scripts.Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out = cure(monkeypatch, tmp_path, broken)
    assert status == 0, out
    assert out.startswith("On the stand-in with the memory of full, which is no firmware:")
    assert broken_scripts.kind_of(out) in broken.cured_by, out


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("card", '+a = kpu.load("/sd/last0_300000.kmodel")  # the model'),
        ("stream", "+a = kpu.load_flash(0x300000, 0, 8, 80000000)  # the model"),
        ("firmware", ""),
        ("gc_heap", "+    utils.gc_heap_size(262144)"),
    ],
)
def test_a_change_of_the_board(kind: str, told: str, tmp_path: Path) -> None:
    """A model from the card or streamed, a smaller firmware, another GC heap: each with what else
    it takes."""
    last = _FIRST[0]
    (tmp_path / "main.py").write_text(last.source)
    place = trial.OnStandIn("full", Options(files=tuple(last.files(tmp_path)), seconds=120.0))
    made = edits(last.source, (), place.options.files, ["minimum"])
    edit = next(e for e in made if e.kind == kind and told[1:] in e.source.splitlines())
    assert place.run(tmp_path / "main.py", edit, 2).good


def test_an_image_of_each_round_comes_from_a_pool(tmp_path: Path) -> None:
    source = next(b.source for b in _FIRST if b.name == "image0").replace(
        "100 * 1024", "80 * 1024"
    )
    (tmp_path / "main.py").write_text(source)
    (edit,) = [e for e in edits(source) if e.kind == "pool"]
    changed = edit.source.splitlines()
    assert "from maixmem_pool import ImagePool" == changed[0]
    assert "pool = ImagePool(280, 240, count=1)" in changed
    assert "    big = pool.acquire()" in changed and "    pool.release(big)" in changed
    place = trial.OnStandIn("full", Options(seconds=120.0))
    assert place.run(tmp_path / "main.py", edit, 3).good


def test_a_copy_of_each_round_comes_from_a_pool() -> None:
    source = "sensor.set_framesize(sensor.QVGA)\nwhile True:\n    b = img.copy()\n    use(b)\n"
    (edit,) = [e for e in edits(source) if e.kind == "pool"]
    assert "pool = ImagePool(320, 240, count=1)\nwhile True:\n    b = pool.take(img)\n" in (
        edit.source
    )
