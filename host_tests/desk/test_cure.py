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
from maixmem_cli.commands import cure as cure_command
from maixmem_cli.emulator.session import Options
from maixmem_cli.plan.edits import edits
from maixmem_cli.runs import trial
from maixmem_cli.runs.change import Edit

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
        "100 * 1024",
        "64 * 1024",  # 88 on firmware; here parts are compiled, which leaves pieces
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


def on_stand_in(monkeypatch: pytest.MonkeyPatch, script: Path, *more: str) -> tuple[int, str]:
    monkeypatch.delenv("MAIXMEM_FIRMWARE", raising=False)
    done = invoke("cure", str(script), "--frames=2", *more)
    return done.exit_code, done.stdout


def test_line_ends_stay_and_no_old_file_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = next(b for b in _FIRST if b.name == "last0")
    script = tmp_path / "main.py"
    before = broken.source.replace("\n", "\r\n").encode()
    script.write_bytes(before)
    (tmp_path / "main.py.orig").write_text("of another day")
    flash = [f"--flash={path}@{address:#x}" for address, path in broken.files(tmp_path)]
    status, out = on_stand_in(monkeypatch, script, "--write", *flash)
    assert status == 0 and "as it was: main.py.orig1" in out, out
    assert (tmp_path / "main.py.orig").read_text() == "of another day"
    assert (tmp_path / "main.py.orig1").read_bytes() == before
    after = script.read_bytes()
    assert after != before and after.count(b"\n") == after.count(b"\r\n")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import sensor\nsensor.rest()\n", ("line 2", "no such name", "Next: mend that line")),
        ("def f(:\n", ("SyntaxError", "no change was tried", "Next: mend that line")),
        ("\ufeffprint(1)\n", ("no change was tried", "byte order mark")),
        ("[][1]\n", ("None of the 0", "Next: mend that line")),
    ],
)
def test_what_is_no_want_of_memory_is_said(
    source: str, told: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_bytes(source.encode())
    monkeypatch.setattr(cure_command, "_edits", lambda *rest: [])  # none of them would help
    status, out = on_stand_in(monkeypatch, tmp_path / "main.py")
    assert status == 1 and 'File "main.py", line' in out
    assert [t for t in told if t not in out] == [], out


def test_a_script_without_a_camera_runs_once_and_not_for_long() -> None:
    asked = []

    class Place:
        at_once = 1

        def run(self, script, edit, frames, seconds=None):
            asked.append((edit.kind, frames, seconds))
            return trial.Trial("limit", frames=5 if edit.kind == "pictures" else 0)

    tried = [Edit("none", "", "1"), Edit("pictures", "", "2")]
    found = list(cure_command._cures(Place(), Path("main.py"), tried, 100))
    assert [edit.kind for edit, _ in found] == ["none", "pictures"]
    short = cure_command._WITHOUT
    assert asked == [("none", 5, short), ("pictures", 5, short), ("pictures", 100, None)]
