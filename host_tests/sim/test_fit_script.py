# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit SCRIPT.py` on the stand-in: the verdict, its status, the project of the record."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import invoke
from fit_kit import run
from maixmem_cli.emulator.session import Options
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.kmodel import example
from maixmem_cli.plan import judge
from maixmem_cli.plan.program import project as projects
from maixmem_cli.record import as_json, record
from maixmem_cli.runs import recorded, run_standin, standin_record

pytestmark = pytest.mark.skipif(
    run_standin.places.micropython() is None,
    reason="no MicroPython unix port: fit has no stand-in here",
)
_CAMERA = """import sensor, lcd
import KPU as kpu
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
"""
_LOOP = "while True:\n    img = sensor.snapshot()\n"
#: no line of the script is in its traceback
_CAUGHT_IN_IT = "import sys\ntry:\n import lvgl\nexcept Exception as e:\n sys.print_exception(e)"
_LOADS = "net = kpu.load(0x300000)\n"


@pytest.fixture(autouse=True)
def _no_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAIXMEM_FIRMWARE", raising=False)


def model(folder: Path, nbytes: int) -> str:
    """--flash with a model of so many bytes that works with little."""
    data = bytearray(example.data(nbytes))
    for at in (20, 32):  # main memory, and the end of the output in it
        data[at : at + 4] = (20000).to_bytes(4, "little")
    (folder / "m.kmodel").write_bytes(data)
    return f"--flash={folder / 'm.kmodel'}@0x300000"


def fitted(folder: Path, source: str, *more: str):
    """What fit says of a script, its record, and what it says of the project of that."""
    (folder / "main.py").write_text(source)
    written = "--record", folder / "r.json", "-o", folder / "p.toml"
    done = run(folder / "main.py", "--frames", 20, *written, *more)
    told = as_json.read((folder / "r.json").read_text())
    project = run(folder / "p.toml") if (folder / "p.toml").exists() else None
    return done, told, project


def test_what_runs_fits_and_its_project_too(tmp_path: Path) -> None:
    source = _CAMERA + "sensor.set_windowing((224, 224))\nlcd.init()\n" + _LOADS + _LOOP
    done, told, project = fitted(tmp_path, source, model(tmp_path, 400_000))
    assert done.exit_code == 0, done.output
    assert done.output.startswith("FITS: it ran on the stand-in with the memory of full, which ")
    assert "20 pictures" in done.output and "system heap: at the least" in done.output
    camera, window, lcd, load = told.steps
    assert (camera.frame, camera.at[0].line) == ("QVGA", 5)
    assert (window.size, lcd.kind, lcd.at[0].line) == ((224, 224), record.LCD, 7)
    assert (
        load.model
        and load.model.address == 0x300000
        and load.model.keeps == 400_000 + 256 + 192 + 1 + 20_000
    )
    assert told.least_of("heap").at[0].text == "net = kpu.load(0x300000)"  # type: ignore[union-attr]
    assert project and project.exit_code == 0, project and project.output


_MANAGED = """
from maixmem_models import ModelManager
models = ModelManager({})
for name, address in (("a", 0x300000), ("b", 0x500000), ("c", 0x700000)):
    models.add(name, address, pin=name == {!r})
for turn in range(12):
    models.use({!r}[turn % {}])
"""
_BARE = """
import KPU as kpu
for turn in range(6):
    for address in (0x300000, 0x500000):
        net = kpu.load(address)
        {}kpu.deinit(net)
"""
_BESIDE = """
import KPU as kpu
for turn in range(6):
    nets = [kpu.load(address) for address in (0x300000, 0x500000)]
    for net in nets:
        kpu.deinit(net)
"""


@pytest.mark.parametrize(
    "source, nbytes, resident, status",
    [
        (_MANAGED.format("", "", "ab", 2), 900_000, {"a": False, "b": False}, 0),
        (
            _MANAGED.format("keep=2", "a", "abc", 3),
            500_000,
            {"a": True, "b": False, "c": False},
            0,
        ),
        (_BARE.format(""), 900_000, {"a": False, "b": False}, 0),
        (_BESIDE, 400_000, {"a": True, "b": True}, 0),
        (_BESIDE, 1_200_000, {"a": True, "b": True}, 1),
    ],
    ids=["manager", "pinned", "bare", "beside", "no room"],
)
def test_a_model_that_is_loaded_again_is_the_same_model(
    tmp_path: Path, source: str, nbytes: int, resident: dict[str, bool], status: int
) -> None:
    flash = []
    for name, at in (("a", 0x300000), ("b", 0x500000), ("c", 0x700000)):
        file = model(tmp_path, nbytes).split("=")[1].split("@")[0]
        flash.append(f"--flash={Path(file).rename(tmp_path / (name + '.kmodel'))}@{at:#x}")
    done, _, project = fitted(tmp_path, source, *flash)
    assert done.exit_code == status, done.output
    assert {m.name: m.resident for m in projects.read(tmp_path / "p.toml").models} == resident
    assert project and (project.exit_code == 0) == (status == 0), project and project.output


def test_a_hang_is_status_3_with_the_numbers_and_what_fits(tmp_path: Path) -> None:
    done, told, project = fitted(tmp_path, _CAMERA + _LOADS + _LOOP, model(tmp_path, 1_850_000))
    assert done.exit_code == 3, done.output
    first, *rest = done.output.splitlines()
    assert first == "DOES NOT FIT: the board hangs at main.py:6: net = kpu.load(0x300000)"
    assert "it requests 256.1 KiB of system heap, " in rest[0]
    assert rest[1] == ("Do this: Set up in this order: models, camera. Line 6 goes before line 3.")
    assert "KiB main.py:5 `sensor.set_framesize(sensor.QVGA)`" in done.output
    assert "Proof: with it " in done.output
    assert told.end.refused and told.end.refused.asked == 262274
    assert project and project.exit_code == 1
    assert "Set up in this order: m, camera." in project.output


def test_a_leak_is_named_with_its_line_and_round(tmp_path: Path) -> None:
    source = _CAMERA + "kept = []\n" + _LOOP + "    kept.append(bytes(1000))\n"
    done, told, project = fitted(tmp_path, source)
    assert done.exit_code == 1, done.output
    assert "main.py:9: kept.append(bytes(1000)) keeps 1.0 KiB more each picture" in done.output
    (grown,) = told.growth
    assert 430 < (grown.dies or 0) < 530
    assert project and project.exit_code == 1 and "the heap is full in round" in project.output


_TICKS = """import utime
kept = []
def keep(n):
    for part in range(2):
        kept.append(bytes(500))
def program():
    while True:
        try:
            keep(1000)
        finally:
            utime.sleep_ms(500)
"""


def test_a_leak_of_a_script_without_a_camera_is_named_too(tmp_path: Path) -> None:
    """Its rounds are those of its outermost loop."""
    done, told, _ = fitted(tmp_path, _TICKS + "program()\n")
    assert done.exit_code == 1, done.output
    assert "main.py:5: kept.append(bytes(500)) keeps 1.0 KiB more each round" in done.output
    (grown,) = told.growth
    assert (told.rounds or 0) > 30 and 430 < (grown.dies or 0) < 530


_BOUNDED = """import utime
kept = []
for n in range(40):
    kept.append(bytes(500))
while True:
    kept.append(bytes(500))
    kept.pop(0)
    utime.sleep_ms(500)
"""


def test_what_is_bounded_in_a_script_without_a_camera_fits(tmp_path: Path) -> None:
    """The loop that ends is not judged, and the one that goes on keeps no more."""
    done, told, _ = fitted(tmp_path, _BOUNDED)
    assert done.exit_code == 0 and "too few" not in done.output, done.output
    assert (told.rounds or 0) > 30 and not told.growth


def test_what_is_kept_each_eighth_picture_needs_more_of_them(tmp_path: Path) -> None:
    each = "    n += 1\n    if n % 8 == 0: kept.append(bytearray(600))\n"
    keeps = "kept, n = [], 0\n" + _LOOP + each
    done, told, _ = fitted(tmp_path, _CAMERA + keeps)
    assert told.too_few and not told.growth and "too few rounds to tell" in done.output
    assert not fitted(tmp_path, _CAMERA + "kept = [1]\n" + _LOOP)[1].too_few


def test_a_loop_that_never_waits_ends_when_its_time_is_over(tmp_path: Path) -> None:
    """An interrupt from outside would often come in a collection, and leave a broken heap."""
    (tmp_path / "main.py").write_text(
        "kept = []\nwhile True:\n    kept.append(bytes(10000))\n    del kept[:-10]\n"
    )
    told = standin_record.run(tmp_path / "main.py", "full", Options(frames=5, seconds=1))
    assert (told.end.kind, told.unknown, told.growth) == (record.LIMIT, (), ())
    assert told.rounds


def test_a_run_that_told_nothing_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped before it had told its figures."""
    monkeypatch.setattr(run_standin, "execute", lambda job: run_standin.Ended(0, []))
    (tmp_path / "main.py").write_text("print(1)\n")
    done = run(tmp_path / "main.py")
    assert done.exit_code == 4 and done.output.startswith("CANNOT TELL: "), done.output


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (_CAMERA + _LOADS + _LOOP, "main.py:6: net = kpu.load(0x300000) needs a model"),
        ("import lvgl\n", "main.py:1: import lvgl needs a module"),
        ("print(unknown)\n", "main.py:1: print(unknown) ends it, and not for want of memory"),
        ("x = 1\nexec('\\nimport lvgl')\n", "main.py:2: exec('\\nimport lvgl') needs a module"),
        (f"exec({_CAUGHT_IN_IT!r})\n", "<string>:3 needs a module"),
    ],
)
def test_what_was_not_reached_cannot_be_told(tmp_path: Path, source: str, said: str) -> None:
    done, _, project = fitted(tmp_path, source)
    assert done.exit_code == 4 and done.output.startswith("CANNOT TELL: " + said), done.output
    assert project is None and "p.toml was not written" in done.output


def test_a_first_picture_that_does_not_come_ends_the_run_early(tmp_path: Path) -> None:
    """With the line that waits; one that came leaves all the time."""
    script = tmp_path / "main.py"
    options = Options(frames=20, seconds=60.0, begin=(1, 2.0))  # 1.6 are the reset
    place = recorded.Place(FIRMWARES["full"], None, options)
    script.write_text(_CAMERA + "n = 0\nwhile n == 0:\n    sensor.get_fb()\n" + _LOOP)
    found = recorded.once(script, place)
    assert not found.pictures and found.seconds < 5 and found.end.at[0].line in (7, 8)
    script.write_text(_CAMERA + _LOOP + "    time.sleep_ms(100)\n")
    assert recorded.once(script, place).pictures == 20


def test_an_error_that_the_script_caught_is_no_end_of_its_own(tmp_path: Path) -> None:
    source = _CAMERA + (
        "import sys\ndef main():\n    kept = []\n    while True:\n"
        "        kept.append(sensor.snapshot().copy())\n"
        "try:\n    main()\nexcept Exception as e:\n    sys.print_exception(e)\n"
    )
    done, told, project = fitted(tmp_path, source)
    assert done.exit_code == 1 and told.end.caught and "main.py:10: kept.append" in done.output
    assert told.end.refused and told.end.refused.heap == "gc" and told.pictures == 4
    first, *steps = [x for x in done.output.splitlines() if x.startswith(("Do this:", "Or:"))]
    assert first.startswith("Do this: Keep the last 2 of kept alone, line 10:"), "3 have room"
    assert steps and not any("Set the GC heap" in x for x in steps), "no GC heap is large enough"
    assert project and project.exit_code == 1


def test_words_that_a_call_left_on_the_stack_keep_objects_as_on_the_board(tmp_path: Path) -> None:
    """print(len(packet)) leaves the packet before: there are three, and no room for a fourth, as
    on v0.6.2_84 full, where the program ends so at this line after two pictures. With a GC heap
    of 610,000 bytes three would have room; 640,000 are enough."""
    source = _CAMERA + "head = b'1234'\nfor n in range(4):\n"
    source += "    raw = sensor.snapshot().to_bytes()\n    packet = head + raw\n"
    source += "    sent = bytearray(packet)\n    print(len(packet))\n"
    script = tmp_path / "main.py"
    script.write_text(source)
    place = recorded.Place(FIRMWARES["full"], None, Options(frames=20, seconds=60.0))
    told = recorded.again(script, place, 610000)
    assert told.end.refused and told.pictures == 2
    assert told.end.at[0].text == "sent = bytearray(packet)"
    assert recorded.again(script, place, 640000).ran


def test_texts_of_pixels_are_as_long_as_those_of_a_cameras(tmp_path: Path) -> None:
    """The numbers of a row and their commas, most of them of two or three digits: what they were
    made of lies between them, and no piece is left for all in one text."""
    source = _CAMERA.replace("RGB565", "GRAYSCALE").replace("QVGA", "QQVGA")
    source += "data = sensor.snapshot().to_bytes()\nlines = []\nfor y in range(120):\n"
    source += "    row = data[y * 160 : y * 160 + 160]\n"
    source += "    lines.append(','.join([str(v) for v in row]))\ntext = '\\n'.join(lines)\n"
    done, told, _ = fitted(tmp_path, source)
    assert done.exit_code == 1 and told.end.at[0].line == 11
    assert told.end.refused and abs(told.end.refused.asked - 68400) < 200  # on v0.6.2_84 full


def test_the_values_of_an_output_take_what_they_take_on_the_board(tmp_path: Path) -> None:
    """v0.6.2_84 full: 32 bytes of a kpu_fmap, 40 of each value, in a tuple made at once."""
    source = _CAMERA + _LOADS + "import gc\nimg = sensor.snapshot()\n"
    source += "for n in range(9):\n    f = kpu.forward(net, img)\n    gc.collect()\n"
    source += "    free = gc.mem_free()\n    kpu.forward(net, img)\n    one = gc.mem_free()\n"
    source += "    values = f[:9000]\n    print('took', free - one, one - gc.mem_free())\n"
    source += "    values = None\n"
    done, told, _ = fitted(tmp_path, source, model(tmp_path, 400000))
    assert done.exit_code == 0 and told.end.kind == record.DONE
    (tmp_path / "main.py").write_text(source)
    ran = invoke("sim", str(tmp_path / "main.py"), model(tmp_path, 400000)).stdout
    took = [line.split()[1:] for line in ran.splitlines() if line[:4] == "took"]
    of_call, of_values = map(int, took[-1])
    assert len(took) == 9 and abs(of_call - 32) <= 64 and abs(of_values - 360064) <= 2048


def test_what_loads_leave_does_not_part_the_heap(tmp_path: Path) -> None:
    """On v0.6.2_84 full and minimum it runs: what the script keeps lies together."""
    source = "held = bytearray(460000)\nimport image\nimport KPU as kpu\nnets = []\n"
    source += "for n in range(3):\n    nets.append(kpu.load(0x300000))\n"
    source += "crop = image.Image(size=(128, 128))\n"
    _, told, _ = fitted(tmp_path, source, model(tmp_path, 400000))
    assert told.end.kind == record.DONE and not told.close


def test_a_model_that_is_lost_is_freed_when_the_board_collects(tmp_path: Path) -> None:
    """Not when the stand-in does: the sixth finds no place, and the first five go then. As on
    v0.6.2_84 full."""
    source = "import KPU as kpu\nfor n in range(7):\n    try:\n        net = kpu.load(0x300000)\n"
    source += "    except ValueError as e:\n        print(n, str(e)[:40])\n        import gc\n"
    source += "        gc.collect()\n"
    (tmp_path / "main.py").write_text(source)
    ran = invoke("sim", str(tmp_path / "main.py"), model(tmp_path, 200000)).stdout.splitlines()
    assert ran.index("5 [MAIXPY]kpu: load error:2009, ERR_MODELS") == 0
    assert ran.count("kpu_net __del__") == 5


@pytest.mark.parametrize(
    ("most", "status", "said"),
    [
        (10, 0, "with JPEGs as large as of pictures full of detail it ran as well"),
        (30, 4, "main.py:9: ring.append(img.compressed(quality=75).to_bytes()): it depends on"),
        (400, 1, "DOES NOT FIT: main.py:9: ring.append(img.compressed(quality=75).to_bytes())"),
    ],
)
def test_a_ring_of_jpegs_fits_where_it_does_with_those_full_of_detail(
    tmp_path: Path, most: int, status: int, said: str
) -> None:
    """Of QVGA at 75 the firmware makes 2 KB of black, 5 KB of a ramp and 28 KB of a circuit board
    (v0.6.2_84 full): whether the heap is full by that is not known here."""
    source = _CAMERA + "ring = []\nwhile True:\n    img = sensor.snapshot()\n"
    source += "    ring.append(img.compressed(quality=75).to_bytes())\n"
    source += f"    if len(ring) > {most}:\n        ring.pop(0)\n"
    done, told, _ = fitted(tmp_path, source)
    assert done.exit_code == status and said in done.output, done.output
    assert told.packs and (told.detail is not None) == (status == 4)
    if told.detail:
        assert told.detail.refused and told.detail.refused.asked == 33011
    smallest = [line for line in done.output.splitlines() if line.startswith("smallest")]
    assert not smallest or "(4" in smallest[0]  # hundreds of KiB: ten of those, and no fewer


def test_an_album_of_jpegs_that_ends_fits_where_it_does_with_those_full_of_detail(
    tmp_path: Path,
) -> None:
    """It grows up to its end: 100 of 4 KB, of which a picture of the firmware's ramp has 12."""
    source = _CAMERA.replace("RGB565", "GRAYSCALE").replace("QVGA", "VGA") + "album = []\n"
    source += "while len(album) < 100:\n"
    source += "    album.append(sensor.snapshot().compressed(quality=95).to_bytes())\n"
    done, told, _ = fitted(tmp_path, source, "--frames", "200")
    assert done.exit_code == 4 and told.end.kind == record.DONE and told.pictures == 100
    assert told.detail and told.detail.at[0].line == 8


@pytest.mark.parametrize(("camera", "says"), [("pattern", True), ("own.ppm", False)])
def test_on_an_image_jpegs_are_of_the_pattern_until_there_is_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, camera: str, says: bool
) -> None:
    """Four of the pattern, of 5 KB, have room where those full of detail have not."""
    script = tmp_path / "main.py"
    source = _CAMERA + "held = bytearray(420000)\nring = []\n" + _LOOP
    source += "    ring.append(img.compressed(quality=75).to_bytes())\n"
    script.write_text(source + "    if len(ring) > 4:\n        ring.pop(0)\n")
    on_image = record.Record(
        "main.py", record.Board(record.IMAGE, "full.bin"), record.End(record.LIMIT), 8, 8, 8
    )
    monkeypatch.setattr(recorded, "_run_on", lambda script, place: on_image)
    options = Options(camera=camera, frames=8, seconds=60.0)
    found = recorded.run(script, recorded.Place(FIRMWARES["full"], Path("full.bin"), options))
    assert found.packs == says and (found.detail is not None) == says
    verdict = judge.judge(found)
    assert verdict.kind == (judge.CANNOT_TELL if says else judge.FITS)
    assert says == ("main.py:10: ring.append" in verdict.lines[0])


def test_the_values_of_an_output_lie_on_no_picture(tmp_path: Path) -> None:
    """A camera's bytes are those that they were before them, as long as text as on the board."""
    source = _CAMERA + _LOADS + "img = sensor.snapshot()\nraw = bytes(img.to_bytes()[:3000])\n"
    source += "values = kpu.forward(net, img)[:9000]\n"
    source += "print(sensor.snapshot().to_bytes()[:3000] == raw, values[:2] == (0.0, 0.0))\n"
    (tmp_path / "main.py").write_text(source)
    ran = invoke("sim", str(tmp_path / "main.py"), model(tmp_path, 400000)).stdout
    assert "True False" in ran


def test_what_a_thread_does_cannot_be_told_where_none_is_run(tmp_path: Path) -> None:
    source = (
        "import _thread\nbox = []\ndef work():\n    while True:\n        box.append(bytes(600))\n"
    )
    source += "_thread.start_new_thread(work, ())\n" + _CAMERA + _LOOP
    done, told, project = fitted(tmp_path, source)
    assert done.exit_code == 4 and told.pictures == 20 and project is None
    assert "main.py:6: _thread.start_new_thread(work, ()) starts a thread" in done.output
    assert "--firmware IMAGE" in done.output


def test_json_has_the_verdict_and_the_record(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(_CAMERA + _LOOP)
    done = run(tmp_path / "main.py", "--frames", 5, "--json")
    told = json.loads(done.stdout)
    assert (told["kind"], told["status"], told["record"]["pictures"]) == ("FITS", 0, 5)
    assert as_json.read(json.dumps(told["record"])).end.kind == record.LIMIT


@pytest.mark.parametrize(
    ("name", "option", "said"),
    [
        ("main.py", "--svg=a.svg", "of a project"),
        ("p.toml", "-oa.toml", "of a script"),
        ("p.toml", "--record=a.json", "of a script"),
    ],
)
def test_options_of_the_other_kind_are_wrong_use(
    tmp_path: Path, name: str, option: str, said: str
) -> None:
    (tmp_path / name).write_text("")
    done = run(tmp_path / name, option)
    assert done.exit_code == 2 and said in done.output


def test_a_script_that_prints_and_ends_has_a_verdict(tmp_path: Path) -> None:
    """What it prints is no error that it caught."""
    script = tmp_path / "a.py"
    script.write_text("print(5)\n")
    done = run(script)
    assert done.exit_code == 0 and done.stdout.startswith("FITS: it ran to its end")


@pytest.mark.parametrize(
    ("file", "step"),
    [("/flash/a.txt", "Put /flash/a.txt on a card"), ("/sd/a.txt", "Give this run the card")],
)
def test_the_step_for_a_missing_file_is_for_where_it_lies(
    tmp_path: Path, file: str, step: str
) -> None:
    done, _, _ = fitted(tmp_path, f"open({file!r})\n")
    assert done.exit_code == 4 and f"Do this: {step}" in done.output, done.output


def test_what_grows_up_to_the_own_end_of_a_script_fits(tmp_path: Path) -> None:
    loop = _LOOP.replace("while True:", "for n in range(150):")
    source = _CAMERA + "kept = []\n" + loop + "    kept.append(bytes(640))\n"
    done, told, project = fitted(tmp_path, source)
    assert done.exit_code == 0 and "it ran to its end" in done.output, done.output
    assert "kept.append(bytes(640)) kept " in done.output
    assert told.end.kind == record.DONE and told.pictures == 150
    assert project and project.exit_code == 0, project and project.output


def test_a_line_that_waits_before_the_first_picture_is_named(tmp_path: Path) -> None:
    loop = "import time\nwhile True:\n    time.sleep(1)\nimg = sensor.snapshot()\n"
    done, _, _ = fitted(tmp_path, _CAMERA + loop)
    assert done.exit_code == 4, done.output
    assert done.output.startswith("CANNOT TELL: main.py:8: time.sleep(1): no picture was taken")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("net = kpu.load(0x300000)", "net = kpu.load(0x300000) needs a model (0x300000)"),
        ("open('/sd/names.txt')", "open('/sd/names.txt') needs a file or a card (/sd/names.txt)"),
        ("read_info(0x500000)", "read_info(0x500000) needs a model (0x500000)"),
    ],
)
def test_what_a_script_went_on_without_cannot_be_told(
    tmp_path: Path, source: str, said: str
) -> None:
    head = _CAMERA + "from maixmem_kmodel import read_info\ntry:\n    "
    done, told, _ = fitted(tmp_path, head + source + "\nexcept Exception as e:\n    print(e)\n")
    assert told.end.kind == record.DONE and done.exit_code == 4, done.output
    assert done.output.startswith(f"CANNOT TELL: main.py:8: {said} that this run does not have")


def test_the_example_with_two_models_is_not_judged_without_them() -> None:
    script = Path(__file__).parents[2] / "examples" / "button_switch.py"
    done = run(script, "--frames", 5)
    assert done.exit_code == 4, done.output
    assert "read_info(address) needs a model (0x300000)" in done.output


@pytest.mark.parametrize(
    ("most", "bound"),
    [(700, "if len(kept) > 700:\n        kept.pop(0)"), (300, "kept = kept[-300:]")],
)
def test_what_is_bounded_behind_the_pictures_that_were_asked_for_fits(
    tmp_path: Path, most: int, bound: str
) -> None:
    source = f"{_CAMERA}kept = []\n{_LOOP}    kept.append([3, 'x' * 40])\n    {bound}\n"
    done, told, _ = fitted(tmp_path, source)
    assert done.exit_code == 0, done.output
    assert told.pictures > most and not told.growth and told.settled


_TIMED = """from machine import Timer
kept = []
def tick(timer):
    kept.append(bytes(800))
    del kept[:-%d]
timer = Timer(Timer.TIMER0, Timer.CHANNEL0, mode=Timer.MODE_PERIODIC, period=100,
              unit=Timer.UNIT_MS, callback=tick)
"""


def test_what_a_timer_keeps_is_seen_beside_a_camera(tmp_path: Path) -> None:
    """It rings in each third picture, in more of them on a busy desk. What fills up is over long
    before its rate would have the heap full, and no run goes so far."""
    done, told, _ = fitted(tmp_path, _CAMERA + _TIMED % 20 + _LOOP)
    assert done.exit_code == 0 and told.pictures in (100, 500), done.output
    source = _CAMERA + _TIMED % 9999 + _LOOP + "    small = img.resize(80, 60)\n"
    done, told, _ = fitted(tmp_path, source)
    assert done.exit_code == 1 and told.later.refused, done.output
    assert "main.py:9: kept.append(bytes(800)) keeps" in done.output
    assert "\nDo this: Keep the last 10 of kept alone, line 9:" in done.output, "not the image"


def test_a_line_that_begins_hundreds_of_times_a_picture_is_named(tmp_path: Path) -> None:
    """Of a loop within a round some passes are looked at; what the others keep is its own, too."""
    fills = "    for i in range(100):\n        v = i * 3\n        kept.append(v)\n        w += 1\n"
    done, told, _ = fitted(tmp_path, _CAMERA + "kept = []\nw = 0\n" + _LOOP + fills)
    assert done.exit_code == 1 and [g.place.text for g in told.growth] == ["kept.append(v)"]


def test_calls_of_images_count_as_what_a_run_takes_time_for(tmp_path: Path) -> None:
    reads = "    for i in range(10):\n        img.get_pixel(i, i)\n"
    _, told, _ = fitted(tmp_path, _CAMERA + _LOOP + reads)
    assert told.statements > 20 * 10 * 100


def test_a_line_that_grows_is_not_the_one_that_takes_the_picture(tmp_path: Path) -> None:
    done, told, _ = fitted(
        tmp_path, f"{_CAMERA}kept = []\n{_LOOP}    kept.append((1, len(kept)))\n"
    )
    assert done.exit_code == 1, done.output
    assert told.growth[0].place.text.startswith("kept.append(")
    assert "gc.collect()" not in done.output


def test_a_heap_that_is_full_to_its_last_bytes_is_too_close_to_tell(tmp_path: Path) -> None:
    """On v0.6.2_84 full 504,000 bytes have room, and then 6,000 more have not."""
    source = "keep = bytearray(503900)\nmore = bytearray(5800)\n"
    done, _, project = fitted(tmp_path, source)
    assert done.exit_code == 4 and done.output.startswith("CANNOT TELL: too close: "), done.output
    assert "within 8.0 KiB" in done.output and project is None


def test_a_line_before_the_loop_is_not_moved_before_the_loop(tmp_path: Path) -> None:
    source = "import sensor\nsensor.reset()\nsensor.set_pixformat(sensor.RGB565)\n"
    source += "sensor.set_framesize(sensor.VGA)\na = sensor.snapshot().copy()\n"
    source += "for i in range(9):\n    pass\n"
    done, _, _ = fitted(tmp_path, source)
    assert done.exit_code == 1 and "before the loop" not in done.output, done.output


@pytest.mark.parametrize(
    ("before", "loop", "said"),
    [
        ('log = ""', 'log += "%s" % img', 'log += "%s" % img'),
        (
            "rows = []",
            "c = img.copy((0, 0, 99, 99))\nrows.append(bytes(60))\ndel c",
            "rows.append",
        ),
    ],
    ids=["a picture in a text", "a copy that is freed"],
)
def test_what_is_freed_in_the_same_round_is_not_what_grows(
    tmp_path: Path, before: str, loop: str, said: str
) -> None:
    """Nor is what the interpreter's stack still has of the statement before."""
    script = tmp_path / "main.py"
    script.write_text(
        _CAMERA + before + "\n" + _LOOP + "".join(f"    {x}\n" for x in loop.split("\n"))
    )
    (grows,) = standin_record.run(script, "full", Options(camera="pattern", frames=30)).growth
    assert grows.place.text.startswith(said), grows


def test_a_long_run_that_saw_no_lines_is_no_proof_that_nothing_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the machine is busy: the long run ends before the heap is full, and the second one,
    which has the lines, comes not so far."""
    same = standin_record._Run.same
    monkeypatch.setattr(standin_record._Run, "same", lambda a, b: a.rounds < 200 and same(a, b))
    monkeypatch.setattr(recorded, "_FAR", 400)
    script = tmp_path / "main.py"
    script.write_text(f'{_CAMERA}log = ""\n{_LOOP}    log += "%s" % img\n')
    options = Options(camera="pattern", frames=20)
    found = recorded.run(script, recorded.Place(FIRMWARES["full"], None, options))
    assert [g.place.text for g in found.growth] == ['log += "%s" % img']


def test_a_heap_that_has_no_room_for_a_traceback_names_its_line(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text("keep = None\nwhile True:\n    keep = (keep, 1.5)\n")
    end = standin_record.run(script, "full", Options(gc_heap=128 << 10)).end
    assert end.refused and [p.line for p in end.at] == [3], end


@pytest.mark.parametrize(("last", "runs"), [("[][1]\n", 1), (_LOOP, 2)], ids=["dies", "runs"])
def test_a_trial_that_dies_is_run_once(
    last: str, runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lines would tell no more of it than that it is no cure."""
    execute, ran = run_standin.execute, []
    monkeypatch.setattr(run_standin, "execute", lambda job: ran.append(job) or execute(job))
    script, options = tmp_path / "main.py", Options(camera="pattern", frames=3)
    script.write_text(_CAMERA + last)
    found = standin_record.run(script, "full", options, brief=True)
    assert len(ran) == runs and found.ends_well == (runs > 1)
    assert found.end.at[0].line == len(script.read_text().splitlines())


def test_how_long_the_long_run_is_depends_on_the_script_alone() -> None:
    ran = record.Record("main.py", record.Board(record.STAND_IN, "full"), record.End(record.LIMIT))
    plain, pixels = (replace(ran, pictures=40, statements=n) for n in (400, 400_000))
    assert recorded._affordable(plain) > 20_000 and recorded._affordable(pixels) == 588


@pytest.mark.parametrize(
    ("asked", "most", "frames", "seconds"),
    [
        ((100, 10.0), None, 110, 11.0),  # as floats 1.1 * 100 is above 110
        ((100, 10.0), 5.0, 110, 5.0),
        ((100, None), 60.0, 110, 60.0),
        ((30, None), None, 33, None),
        ((None, 10.0), 60.0, None, 11.0),
    ],
)
def test_a_longer_run_has_all_in_proportion_and_shows_nothing(
    tmp_path: Path,
    asked: tuple[int | None, float | None],
    most: float | None,
    frames: int | None,
    seconds: float | None,
) -> None:
    options = Options(frames=asked[0], seconds=asked[1], camera="pattern", save_lcd=tmp_path)
    place = recorded.Place(FIRMWARES["full"], None, options)
    longer = recorded._longer(place, 110, 100, most)
    assert longer == replace(
        place, options=replace(options, frames=frames, seconds=seconds, save_lcd=None)
    )


def test_never_fits_on_a_branch_that_was_not_taken(tmp_path: Path) -> None:
    """The model finds nothing on the stand-in: what is cut out of a picture was not run."""
    source = _CAMERA + "import image\npad = image.Image(size=(320, 240))\npad.pix_to_ai()\n"
    source += _LOOP + "    for d in found(img):\n        cut = img.cut(d, d, d, d)\n"
    source = "def found(img):\n    return ()\n" + source
    done, told, project = fitted(tmp_path, source)
    assert done.exit_code == 4 and project is None, done.output
    line = source.splitlines().index("        cut = img.cut(d, d, d, d)") + 1
    said = (
        f"CANNOT TELL: main.py:{line}: cut = img.cut(d, d, d, d) did not run, and may take up to"
    )
    assert done.output.startswith(f"{said} 150.0 KiB of the GC heap\n")
    assert told.reached and line not in told.reached and line - 1 in told.reached
    done, told, _ = fitted(tmp_path, source.replace("return ()", "return (8,)"))
    assert done.exit_code == 0 and told.reached and line in told.reached, done.output


def test_pictures_lie_as_on_the_board_where_they_are_garbage(tmp_path: Path) -> None:
    """The firmware refuses the 19th: each resize() left a hole below one that is kept, as nothing
    was collected before. The stand-in collected its own garbage, and those with it."""
    source = _CAMERA + "kept = []\n" + _LOOP
    source += "    kept.append(img.resize(80, 60).to_grayscale(1))\n"
    source += "    if len(kept) > 20:\n        kept.pop(0)\n"
    done, told, _ = fitted(tmp_path, source)
    assert done.exit_code == 1 and (told.end.kind, told.pictures) == (record.RAISED, 18)


def test_the_last_line_counts_too(tmp_path: Path) -> None:
    source = "import image\nmade = image.Image(size=(320, 240))\n"
    _, told, _ = fitted(tmp_path, source + "last = image.Image(size=(320, 240))\n")
    least = told.least_of("gc")
    assert least and least.at[0].line == 3 and least.level.free < least.level.total - 2 * 153600


@pytest.mark.parametrize(
    ("hold", "said"), [(60, "DOES NOT FIT"), (48, "too close"), (40, "too close"), (8, "FITS")]
)
def test_a_picture_that_hardly_has_room_is_too_close(hold: int, said: str, tmp_path: Path) -> None:
    """Three pictures of 150 KiB: two lie in the heap, and a part of it is held."""
    source = _CAMERA + "import image\nmade = [image.Image(size=(320, 240)) for n in range(2)]\n"
    source += f"held = bytearray({hold} * 1024)\nlast = image.Image(size=(320, 240))\n"
    source += "print('made all')\n"
    done, told, _ = fitted(tmp_path, source)
    assert said in done.output.splitlines()[0], done.output
    refused = told.end.refused
    assert refused is None or (refused.asked == 153600 and (refused.level.largest or 0) < 153600)
    assert told.close == (said == "too close")


@pytest.mark.parametrize(
    ("kept", "spare"), [(12, "CANNOT TELL: too close"), (10, "FITS")], ids=["none", "one"]
)
@pytest.mark.parametrize(
    "keeps",
    [
        "ring[n % {0}] = img.copy()\n    n += 1\n",
        "ring.append(img.copy())\n    ring.pop(0)\n",
    ],
    ids=["oldest", "last"],
)
def test_a_ring_without_room_for_a_lost_picture(
    keeps: str, kept: int, spare: str, tmp_path: Path
) -> None:
    """Of 36 such programs without room for one picture more nine died on the firmware in their
    first pictures (v0.6.2_84, full), most beside find_blobs(): a word on its C stack kept a
    picture that was lost, the oldest or the last."""
    source = _CAMERA.replace("QVGA", "QQVGA") + f"n = 0\nring = [None] * {kept}\n"
    done, record, _ = fitted(tmp_path, source + _LOOP + "    " + keeps.format(kept))
    assert done.output.startswith(spare), done.output
    assert (record.lingers or record.close) == (kept == 12)


@pytest.mark.parametrize(("kept", "told"), [(44, "CANNOT TELL: too close"), (40, "FITS")])
def test_a_picture_that_is_lost_may_still_be_there(kept: int, told: str, tmp_path: Path) -> None:
    """With 44 the firmware dies in its fifth picture or runs on, as a word on its C stack happens
    to keep the picture before the last; 34 KiB are left then, twice what one takes."""
    source = f"{_CAMERA}blocks = [bytearray(10400) for i in range({kept})]\n"
    source += _LOOP + "    small = img.copy((0, 0, 120, 70))\n"
    done, record, _ = fitted(tmp_path, source, "--firmware", "minimum")
    assert done.output.startswith(told), done.output
    assert record.lingers == (kept == 44)
    assert ("picture still in it" in done.output) == record.lingers


def test_what_is_free_is_of_the_moment_of_the_failure(tmp_path: Path) -> None:
    """A function that ends in an error has lost what it had: 350,000 bytes."""
    source = "def work():\n    a, b = bytearray(100000), bytearray(250000)\n"
    source += "    return a, b, bytearray(190000)\nwork()\n"
    done, told, _ = fitted(tmp_path, source)
    refused = told.end.refused
    assert done.exit_code == 1, done.output
    assert refused.asked == 190000 and 140_000 < refused.level.largest < 160_000
    assert refused.level.largest <= refused.level.free < 170_000


@pytest.mark.parametrize(("picture", "status"), [("img", 3), ("img.to_grayscale()", 1)])
def test_histograms_that_fill_the_heap(picture: str, status: int, tmp_path: Path) -> None:
    """v0.6.2_84 full: a null pointer some pictures later with a colored one, else MemoryError."""
    source = f"{_CAMERA}kept = []\n{_LOOP}    kept.append({picture}.get_histogram())\n"
    done, told, _ = fitted(tmp_path, source, "--frames", "80")
    assert done.exit_code == status, done.output
    assert "main.py:9: kept.append(" in done.output.splitlines()[0]
    assert told.end.hangs == (status == 3)


_TIMER = """from machine import Timer
tim = Timer(Timer.TIMER0, Timer.CHANNEL0, mode=Timer.MODE_PERIODIC, period=50, callback=tick)
"""


@pytest.mark.parametrize("lines", [True, False])
def test_a_callback_that_finds_the_heap_full_is_no_bound(
    lines: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The firmware prints its error, and the program goes on: nothing grows from there on. Not
    `lines`: the second run, which has them, ends otherwise in a heap that is full."""
    same = standin_record._Run.same
    near = lambda a, b: (lines or a.rounds < 150) and same(a, b)  # noqa: E731
    monkeypatch.setattr(standin_record._Run, "same", near)
    source = (
        f"{_CAMERA}seen = []\ndef tick(timer):\n    seen.append(bytearray(5000))\n{_TIMER}{_LOOP}"
    )
    done, told, _ = fitted(tmp_path, source)
    assert (
        done.exit_code == 1 and "seen.append(bytearray(5000)) keeps" in done.output.splitlines()[0]
    ), done.output
    assert told.later and told.later.refused and told.later.refused.heap == record.GC
    assert "\nDo this: Keep the last 10 of seen alone, line 8:" in done.output, "of 14 pictures"
