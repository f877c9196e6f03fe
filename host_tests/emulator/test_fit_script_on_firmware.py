# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `maixmem fit SCRIPT.py` says against how the script ends on the firmware, and whether the
GC heap that it recommends is right. host_tests/kits/fit_truth.py and fit_gc_heap.py do the same of
any folder of scripts.

Needs an image of a known build ($MAIXMEM_FIRMWARE) and MAIXMEM_EMULATOR=1.
"""

from __future__ import annotations

import os
from pathlib import Path

import fit_gc_heap
import fit_truth
import pytest
from emulated import IMAGES
from maixmem_cli.emulator.cores import missing
from maixmem_cli.emulator.readers import signatures
from maixmem_cli.emulator.session import Options
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.flash import image as flash_image
from maixmem_cli.kmodel import example
from maixmem_cli.plan import judge
from maixmem_cli.runs import recorded

_OF_FULL = [p for p in IMAGES if p.stat().st_size == FIRMWARES["full"].image]
pytestmark = [
    pytest.mark.skipif(
        os.environ.get("MAIXMEM_EMULATOR") != "1",
        reason="MAIXMEM_EMULATOR is not 1: verdicts of fit not compared with the firmware",
    ),
    pytest.mark.skipif(
        not _OF_FULL, reason="no image of the full build: verdicts of fit not compared with it"
    ),
    pytest.mark.skipif(missing() is not None, reason=f"fit not compared: {missing()}"),
]
_CAMERA = """import sensor, lcd
import KPU as kpu
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
"""
_LOOP = "while True:\n    img = sensor.snapshot()\n"
_LOADS = "net = kpu.load(0x300000)\n"
_TURNS = """for again in range(3):
    net = kpu.load(0x300000)
    img = sensor.snapshot()
    kpu.deinit(net)
"""
_CAUGHT = """import sys
def main():
    kept = []
    while True:
        kept.append(sensor.snapshot().copy())
try:
    main()
except Exception as e:
    sys.print_exception(e)
"""


@pytest.mark.parametrize(
    ("source", "nbytes", "said", "line"),
    [
        (_CAMERA + _LOADS + _LOOP, 400_000, fit_truth.RUNS, "FITS: it ran on"),
        (_CAMERA + _LOADS + _LOOP, 1_850_000, fit_truth.DIES, "hangs at main.py:6"),
        (_CAMERA + "lcd.init()\n" + _TURNS + _LOOP, 1_000_000, fit_truth.RUNS, "FITS: it ran on"),
        (_CAMERA + _LOADS + _LOADS + _LOOP, 1_200_000, fit_truth.DIES, "main.py:7"),
        (_CAMERA + "k = []\n" + _LOOP + "    k.append(img.copy())\n", 0, fit_truth.DIES, ":9"),
        (_CAMERA + "k = ''\n" + _LOOP + "    k += 'x' * 2000\n", 0, fit_truth.DIES, ":9"),
        (_CAMERA + _CAUGHT, 0, fit_truth.DIES, "main.py:10: kept.append"),
        # the heap has no room for a traceback either
        ("k = None\nwhile True:\n    k = (k,)\n", 0, fit_truth.DIES, "main.py:3: k = (k,)"),
        (_CAMERA + _LOADS + _LOOP, 0, fit_truth.ELSE, "main.py:6: net = kpu.load(0x300000)"),
        ("x = 1\nexec('\\nimport none')\n", 0, fit_truth.ELSE, "main.py:2: exec("),
    ],
)
def test_a_verdict_is_the_end_of_the_run(
    tmp_path: Path, source: str, nbytes: int, said: str, line: str
) -> None:
    (tmp_path / "main.py").write_text(source)
    files: tuple[tuple[int, Path], ...] = ()
    if nbytes:
        (tmp_path / "m.kmodel").write_bytes(example.data(nbytes))
        files = ((0x300000, tmp_path / "m.kmodel"),)
    options = Options(files=files, camera="pattern", frames=50, seconds=60.0, begin=(1, 20.0))
    row = fit_truth.compare(tmp_path / "main.py", _OF_FULL[0], options, stand_in=False)
    assert row.said == said and not row.wrong, row
    assert line in row.why


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_gc_heap_that_is_recommended_runs(seed: int) -> None:
    right, words = fit_gc_heap.row(fit_gc_heap.program(seed), _OF_FULL[0])
    assert right, words


_WITHOUT = {
    "flash": ("net = kpu.load(0x300000)", "model", "0x300000"),
    "library": ("from maixmem_kmodel import read_info; read_info(0x500000)", "model", "0x500000"),
    "file": ("open('/sd/names.txt')", "card", "/sd/names.txt"),
}


@pytest.mark.parametrize("name", _WITHOUT)
def test_what_a_script_went_on_without_is_in_the_record(name: str, tmp_path: Path) -> None:
    line, kind, what = _WITHOUT[name]
    script = tmp_path / "main.py"
    script.write_text(_CAMERA + f"try:\n    {line}\nexcept Exception:\n    pass\n")
    build = FIRMWARES["full"]
    options = Options(camera="pattern", frames=5, seconds=30.0)
    found = recorded.run(script, recorded.Place(build, _OF_FULL[0], options))
    assert found.lacked and found.lacked.missing
    assert (found.lacked.missing.kind, found.lacked.missing.name) == (kind, what)
    assert found.lacked.at[0].line == 7 and judge.judge(found).kind == judge.CANNOT_TELL


@pytest.mark.parametrize("image", IMAGES, ids=lambda p: p.name)
def test_what_raises_exceptions_is_found_in_each_image(image: Path) -> None:
    chip = flash_image.build(image)
    code = bytes(chip[5 : 5 + int.from_bytes(chip[1:5], "little")])
    assert signatures.raises(code)


def test_what_is_kept_now_and_then_is_bytes_a_round(tmp_path: Path) -> None:
    """It was ten times as much: the bytes of each tenth round."""
    script = tmp_path / "main.py"
    script.write_text(
        "import time\nkept = {}\nn = 0\nwhile True:\n    n += 1\n    time.sleep_ms(50)\n"
        "    if n % 10 == 0:\n        kept[n] = bytearray(2400)\n"
    )
    place = recorded.Place(FIRMWARES["full"], _OF_FULL[0], Options(seconds=5.0))
    (grows,) = recorded.once(script, place).growth
    assert 200 < grows.each < 300


@pytest.mark.parametrize("waits", ["time.sleep(1)", "if pins > 2:\n        img = 0"])
def test_a_run_that_is_over_names_the_line_that_waits(waits: str, tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    loop = f"import time\npins = 0\nwhile True:\n    {waits}\nimg = sensor.snapshot()\n"
    script.write_text(_CAMERA + loop)
    options = Options(camera="pattern", frames=5, seconds=10.0, begin=(1, 5.0))
    found = recorded.run(script, recorded.Place(FIRMWARES["full"], _OF_FULL[0], options))
    said = judge.judge(found, script.read_text()).lines[0]
    line = waits.splitlines()[0].rstrip(":")
    assert said.startswith(f"CANNOT TELL: main.py:9: {line}: no picture was taken")


_OVERRUNS = """import _thread, time
def work():
    time.sleep_ms(50)
    with open("/flash/x.txt", "w") as f:
        f.write("abc" * 50)
    {after}
_thread.start_new_thread(work, ())
time.sleep_ms(10)
b = bytearray(10000)
time.sleep(3)
"""


@pytest.mark.parametrize("image", _OF_FULL)
@pytest.mark.parametrize("after", ["time.sleep(9)", "return"])
def test_a_stack_that_was_overrun_does_not_fit_though_nothing_came_of_it(
    after: str, image: Path, tmp_path: Path
) -> None:
    """With more stack it does."""
    script = tmp_path / "main.py"
    place = recorded.Place(FIRMWARES["full"], image, Options(frames=50, seconds=20.0))
    text = _OVERRUNS.format(after=after)
    more = text.replace("_thread.start", "_thread.stack_size(16384)\n_thread.start")
    for source, fits in ((text, False), (more, True)):
        script.write_text(source)
        found = recorded.once(script, place)
        verdict = judge.judge(found, source)
        assert found.end.kind == "done" and verdict.fits == fits, verdict
        assert found.end.overflow != fits
        assert fits or found.end.at[0].line == 4
        assert recorded.once(script, place, brief=True).ends_well == fits


@pytest.mark.parametrize("image", _OF_FULL)
def test_never_fits_on_a_branch_that_was_not_taken(image: Path, tmp_path: Path) -> None:
    """Lines that make a picture take of a heap: it is seen which of them ran."""
    script = tmp_path / "main.py"
    place = recorded.Place(FIRMWARES["full"], image, Options(camera="pattern", frames=5))
    head = _CAMERA + "import image\npad = image.Image(size=(320, 240))\npad.pix_to_ai()\n"
    source = head + "while True:\n    img = sensor.snapshot()\n    if found:\n        {}\n"
    line = source.splitlines().index("        {}") + 1
    cut, small = "part = img.cut(0, 0, int(n), int(n))", "part = img.resize(20, 20)"
    for found, made, kind in (
        (0, cut, judge.CANNOT_TELL),
        (0, small, judge.FITS),
        (1, cut, judge.FITS),
    ):
        text = f"found = {found}\nn = 16\n" + source.format(made)
        script.write_text(text)
        record = recorded.once(script, place)
        verdict = judge.judge(record, text)
        assert verdict.kind == kind, verdict
        assert record.reached and (line + 2 in record.reached) == bool(found)
