# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem cure` on scripts broken in ten ways, on the full build; one of each way, or with
dev.py test --emulator all thirty with 100 frames; and on scripts that leak slowly."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import broken_scripts
import paths
import pytest
from click.testing import CliRunner
from emulated import IMAGES, THOROUGH, needs_cc, needs_image
from maixmem_cli.cli import main
from maixmem_cli.firmware.builds import FIRMWARES

pytestmark = [needs_cc, needs_image]
_FULL = [p for p in IMAGES if p.stat().st_size == FIRMWARES["full"].image]
_no_full = pytest.mark.skipif(
    not _FULL, reason="NO FIRMWARE: cure not run, no full build of v0.6.2_84"
)
_LEAKING = [b for b in broken_scripts.leaking() if THOROUGH or b.name in ("classes", "log")]
_STEADY = [b for b in broken_scripts.steady() if THOROUGH or b.name in ("bounded", "ends")]
_SCRIPTS = [b for b in broken_scripts.scripts() if THOROUGH or b.name in ("last0", "window0")]


def cure(
    broken: broken_scripts.Broken, folder: Path, *more: str, frames: int = 10
) -> tuple[int, str]:
    script = folder / f"{broken.name}.py"
    script.write_text(broken.source)
    flash = [f"--flash={path}@{address:#x}" for address, path in broken.files(folder)]
    arguments = [str(script), f"--firmware={_FULL[0]}", *flash, *more]
    arguments.append(f"--frames={100 if THOROUGH else frames}")
    done = CliRunner().invoke(main, ["cure", *arguments])
    return done.exit_code, done.output


@_no_full
@pytest.mark.parametrize("broken", _SCRIPTS, ids=lambda b: b.name)
def test_a_broken_script_gets_a_change_that_runs(broken, tmp_path: Path) -> None:
    status, out = cure(broken, tmp_path, "--write", "--json")
    assert status == 0, out
    assert json.loads(out)[0]["facts"]["end"] in broken.ends
    assert broken_scripts.kind_of(out) in broken.cured_by
    script = tmp_path / f"{broken.name}.py"
    assert (tmp_path / f"{broken.name}.py.orig").read_text() == broken.source
    changed = [
        line
        for line in difflib.ndiff(broken.source.splitlines(), script.read_text().splitlines())
        if line[:1] in "+-"
    ]
    assert changed
    assert "runs as it is" in cure_again(script, broken, tmp_path)


@_no_full
@pytest.mark.parametrize("broken", _LEAKING, ids=lambda b: b.name)
def test_a_leak_that_outlives_the_pictures(broken, tmp_path: Path) -> None:
    """It is told with its line; a change is shown when there is none with it any more."""
    status, out = cure(broken, tmp_path, "--json", frames=40)
    (told,) = json.loads(out)
    number, line = len(broken.source.splitlines()), broken.source.splitlines()[-1].strip()
    assert told["key"] == "grows" and told["facts"]["grows_dies"] > 0, out
    assert told["facts"]["grows_at"] == f"{broken.name}.py:{number} `{line}`"
    assert status == (not broken.kinds)
    assert not broken.kinds or broken_scripts.kind_of(out) in broken.kinds


@_no_full
@pytest.mark.parametrize("broken", _STEADY, ids=lambda b: b.name)
def test_what_is_kept_within_bounds_is_no_leak(broken, tmp_path: Path) -> None:
    status, out = cure(broken, tmp_path, frames=40)
    assert status == 0 and out.startswith(f"{broken.name}.py runs as it is on "), out


_OVERFLOWS = broken_scripts.Broken(
    "overflows",
    """\
import _thread, image, time
_thread.stack_size(4096)
img = image.Image(size=(320, 240))
def work():
    img.save("/flash/a.jpg")
_thread.start_new_thread(work, ())
time.sleep(3)
print("end")
""",
    {},
    ("hangs",),
    ("stack",),
)


@_no_full
def test_a_thread_gets_the_stack_that_it_overflows(tmp_path: Path) -> None:
    status, out = cure(_OVERFLOWS, tmp_path, "--json")
    (found,) = json.loads(out)
    assert status == 0 and found["key"] == "stack" and found["step"]["key"] == "stack", out
    assert "+_thread.stack_size(16384)\n _thread.start_new_thread" in found["step"]["diff"]


_TWO = """\
import KPU as kpu, sensor
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
classes = kpu.load(0x300000)
trash = kpu.load(0x600000)
"""


@_no_full
def test_where_no_change_runs_alone_two_do(tmp_path: Path) -> None:
    folder, script = paths.models(), tmp_path / "two.py"
    if folder is None:
        pytest.skip("NO REAL MODELS: set MAIXMEM_MODELS")
    script.write_text(_TWO)
    models = ("v3_voc20_detect.kmodel@0x300000", "v3_trash.kmodel@0x600000")
    flash = [f"--flash={folder / model}" for model in models]
    arguments = ["cure", str(script), f"--firmware={_FULL[0]}", "--json", *flash]
    done = CliRunner().invoke(main, arguments)
    (found,) = json.loads(done.output)
    assert done.exit_code == 0 and found["step"]["key"] == "order+auto", done.output
    assert found["step"]["sure"] == "proved" and "+import maixmem_auto" in found["step"]["diff"]


def cure_again(script: Path, broken, folder: Path) -> str:
    """What cure says of the cured script."""
    flash = [f"--flash={path}@{address:#x}" for address, path in broken.files(folder)]
    done = CliRunner().invoke(
        main, ["cure", str(script), f"--firmware={_FULL[0]}", *flash, "--frames=5"]
    )
    return done.output
