# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem cure` where there is no firmware: on the stand-in, and it says so. On firmware:
emulator/test_cure_on_firmware.py."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import broken_scripts
import pytest
from commands import invoke
from emulated import THOROUGH
from maixmem_cli.answer.tables import board_text
from maixmem_cli.commands import cure as cure_command
from maixmem_cli.emulator.session import Options
from maixmem_cli.emulator.watched import Watched
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.kmodel import example
from maixmem_cli.plan import tried
from maixmem_cli.plan.edits import edits
from maixmem_cli.plan.pairs import pairs
from maixmem_cli.record.record import (
    CAMERA,
    DONE,
    INTERRUPTED,
    LIMIT,
    RAISED,
    Board,
    End,
    Growth,
    Level,
    Place,
    Record,
    Refused,
    Step,
    Work,
)
from maixmem_cli.runs import recorded, trials
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
    done = invoke("cure", str(script), "--frames=6", "--json", *flash)
    return done.exit_code, done.stdout


@pytest.mark.parametrize(
    "broken", [b for b in _FIRST if THOROUGH or b.name in _QUICK], ids=lambda b: b.name
)
def test_a_change_that_runs_on_the_stand_in(
    broken: broken_scripts.Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out = cure(monkeypatch, tmp_path, broken)
    assert status == 0, out
    assert broken_scripts.kind_of(out) in broken.cured_by, out
    (told,) = json.loads(out)
    assert told["proof"].endswith("on the stand-in with the memory of full, which is no firmware")
    assert told["sure"] == told["step"]["sure"] == "proved" and "\n+" in told["step"]["diff"]


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
    place = on_full(files=tuple(last.files(tmp_path)))
    made = edits(last.source, (), place.place.options.files, [("firmware", "minimum")])
    edit = next(e for e in made if e.kind == kind and told[1:] in e.source.splitlines())
    assert place.run(tmp_path / "main.py", edit, 2, ended(RAISED, 0)).ends_well


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
    assert on_full().run(tmp_path / "main.py", edit, 3, ended(RAISED, 0)).ends_well


def test_a_copy_of_each_round_comes_from_a_pool() -> None:
    source = "sensor.set_framesize(sensor.QVGA)\nwhile True:\n    b = img.copy()\n    use(b)\n"
    (edit,) = [e for e in edits(source) if e.kind == "pool"]
    assert "pool = ImagePool(320, 240, count=1)\nwhile True:\n    b = pool.take(img)\n" in (
        edit.source
    )


def on_full(**options: Any) -> trials.Trials:
    place = recorded.Place(FIRMWARES["full"], None, Options(**{"seconds": 120.0, **options}))
    return trials.Trials(place)


def ended(kind: str, pictures: int) -> Record:
    return Record("main.py", Board("image", "full.bin"), End(kind), pictures, pictures, pictures)


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
        ("import sensor\nsensor.rest()\n", ("main.py:2", "no attribute", "Correct line 2")),
        ("def f(:\n", ("main.py:1", "SyntaxError", "Correct line 1")),
        ("\ufeffprint(1)\n", ("byte order mark",)),
        ("[][1]\n", ("main.py:1 `[][1]`", "Do this: ")),
    ],
)
def test_what_is_no_want_of_memory_is_said(
    source: str, told: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_bytes(source.encode())
    monkeypatch.setattr(tried, "candidates", lambda *rest: 1 / 0)  # none is tried
    status, out = on_stand_in(monkeypatch, tmp_path / "main.py")
    assert status == 1 and "Proof" not in out
    assert [t for t in told if t not in out] == [], out


@pytest.mark.parametrize(
    ("camera", "asked"), [(False, [(100, 2.0)]), (True, [(100, 2.0), (100, 120.0)])]
)
def test_a_script_without_a_camera_runs_once_and_not_for_long(
    camera: bool, asked: list[tuple[int, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = on_full(begin=(5, 20.0))
    ran = []

    def run(script: Path, edit: Edit, frames: int, seconds: float) -> Record:
        ran.append((frames, seconds))
        return replace(ended(LIMIT, 0), steps=(Step(CAMERA),) if camera else ())

    monkeypatch.setattr(place, "_run", run)
    before = ended(LIMIT, 0)
    assert place.run(Path("main.py"), Edit("", (), ""), 100, before).ends_well and ran == asked


@pytest.mark.parametrize(
    ("pictures", "asked"), [([9, 9], [2.0, 8.0]), ([9, 30, 60, 60], [2.0, 8.0, 32.0, 120.0])]
)
def test_a_change_runs_on_as_long_as_pictures_come(
    pictures: list[int], asked: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop behind its pictures took a minute of the desk."""
    place, ran = on_full(), []

    def run(script: Path, edit: Edit, frames: int, seconds: float) -> Record:
        ran.append(seconds)
        came = ended(LIMIT, pictures[len(ran) - 1])
        return replace(came, steps=(Step(CAMERA),), asked=frames)

    monkeypatch.setattr(place, "_run", run)
    before = ended(LIMIT, 50)
    found = place.run(Path("main.py"), Edit("", (), ""), 100, before)
    assert ran == asked and trials.cured(ended(RAISED, 37), found) == (found.pictures >= 37)


@pytest.mark.parametrize(
    ("before", "pictures"),
    [
        (replace(ended(RAISED, 3), asked=50), 20),
        (replace(ended(RAISED, 9), asked=50), 27),
        (replace(ended(RAISED, 38), asked=50), 50),
        (replace(ended(RAISED, 3), asked=10), 10),
        (replace(ended(RAISED, 0), asked=50), 50),
        (
            replace(
                ended(LIMIT, 50), asked=50, growth=(Growth("gc", Place("main.py", 1), 100, 90),)
            ),
            50,
        ),
    ],
)
def test_a_change_runs_as_far_as_it_has_to(before: Record, pictures: int) -> None:
    assert tried.enough(before) == pictures
    after = replace(ended(LIMIT, pictures - 1), asked=pictures, too_few=False)
    assert trials.cured(before, after)
    assert not trials.cured(
        replace(before, pictures=pictures), replace(after, pictures=pictures - 2)
    )


def test_a_change_runs_past_the_time_at_which_the_script_died(tmp_path: Path) -> None:
    """The same text, which a shorter run would call cured."""
    source = "import utime\nutime.sleep(5)\nx = bytearray(10 ** 6)\n"
    died = replace(ended(RAISED, 0), seconds=5.1)
    after = on_full().run(tmp_path / "main.py", Edit("", (), source), 15, died)
    assert after.end.kind == RAISED and not trials.cured(died, after)


@pytest.mark.parametrize(
    "short", [replace(ended(LIMIT, 0), statements=3), ended(INTERRUPTED, 0)], ids=["limit", "cut"]
)
def test_a_change_that_did_less_than_the_script_runs_on(
    short: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy desk takes long for the library's own modules."""
    place = on_full()
    runs = iter([short, replace(ended(LIMIT, 0), statements=9)])
    monkeypatch.setattr(place, "_run", lambda *rest: next(runs))
    before = replace(ended(RAISED, 0), statements=7)
    found = place.run(Path("main.py"), Edit("", (), ""), 100, before)
    assert found.statements == 9 and trials.cured(before, found)
    assert not trials.cured(before, short)


class Places:
    """Where changes are said to run: those that are named so are good, after a while or never."""

    at_once = 2

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.went_on: list[str] = []
        self.over = threading.Event()

    def run(
        self, script: Path, edit: Edit, frames: int, before: Record, its_turn: Callable[[], object]
    ) -> Record:
        self.asked.append(edit.kind)
        its_turn()
        self.went_on.append(edit.kind)
        if edit.kind == "endless":
            assert self.over.wait(20)
        return ended(LIMIT if edit.kind == "good" else RAISED, frames)

    def stop(self) -> None:
        self.over.set()


def test_what_still_runs_is_ended_when_a_change_was_found() -> None:
    """Two begin at a time; the foremost alone goes on past its first pictures."""
    place = Places()
    kinds = ("bad", "good", "endless", "late")
    changes = [Edit(kind, (), str(i)) for i, kind in enumerate(kinds)]
    before, bench = ended(RAISED, 3), tried.Bench(place)  # type: ignore[arg-type]
    runs = tried.runs([changes], Path("main.py"), before, bench, 100)
    assert next((edit.kind, run.pictures) for edit, run in runs if run.ends_well) == ("good", 100)
    runs.close()
    assert place.over.wait(20) and set(place.asked) <= {"bad", "good", "endless"}
    assert place.went_on[:2] == ["bad", "good"]


def short_of(nbytes: int, heap: str = "heap") -> Record:
    """A run that ended because a heap had so many bytes too few in one piece."""
    refused = Refused(heap, 1000 + nbytes, Level(10_000, 5000, 1000))
    return replace(ended(RAISED, 0), end=End(RAISED, refused=refused))


@pytest.mark.parametrize(
    ("after", "together"),
    [
        ({"auto": 300, "order": 700, "stream": 400}, ["order+auto", "auto+stream"]),
        ({"auto": 300, "order": 900}, []),
        ({"auto": 300, "order": 1000, "gc": 1200}, []),
    ],
)
def test_two_changes_that_bring_what_is_missing_together(
    after: dict[str, int], together: list[str]
) -> None:
    """The cheapest first; none that brought nothing, no two that bring too little."""
    failed = [(Edit(kind, (), kind), short_of(n)) for kind, n in after.items()]
    found = pairs(failed, short_of(1000), lambda text: [edit for edit, _ in failed])
    assert [edit.kind for edit in found] == together


@pytest.mark.parametrize("other", [short_of(0, "gc"), ended(RAISED, 0), ended(LIMIT, 9)])
def test_what_died_of_something_else_has_brought_nothing(other: Record) -> None:
    failed = [(Edit("auto", (), "auto"), short_of(300)), (Edit("order", (), "order"), other)]
    assert [*pairs(failed, short_of(1000), lambda text: [edit for edit, _ in failed])] == []


_TOO_LARGE = """\
import KPU as kpu, sensor
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
classes = kpu.load(0x300000)
faces = kpu.load(0x600000)
"""
_BOTH = """\
import maixmem_auto
import KPU as kpu, sensor
classes = kpu.load(0x300000)
faces = kpu.load(0x600000)
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
"""


def test_where_no_change_runs_alone_two_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One diff, and its steps in order."""
    files = []
    for address, nbytes in ((0x300000, 1_536_936), (0x600000, 1_882_056)):
        files.append((address, tmp_path / f"{address:x}.kmodel"))
        files[-1][1].write_bytes(example.data(nbytes))
    script = tmp_path / "main.py"
    script.write_text(_TOO_LARGE)
    alone = [e for e in edits(_TOO_LARGE, (), files) if e.kind in ("auto", "order")]
    monkeypatch.setattr(cure_command, "bench_of", lambda place: tried.Bench(trials.Trials(place)))
    seen = tried.candidates
    monkeypatch.setattr(
        tried, "candidates", lambda *a: [e for e in seen(*a) if e.kind in ("auto", "order")]
    )
    flash = [f"--flash={path}@{address:#x}" for address, path in files]
    status, out = on_stand_in(monkeypatch, script, "--json", "--write", *flash)
    assert status == 0 and script.read_text() == _BOTH, out
    (told,) = json.loads(out)
    assert told["step"]["key"] == "order+auto" and told["step"]["diff"].count("@@ -") == 1
    order, auto = (next(e.text() for e in alone if e.kind == kind) for kind in ("order", "auto"))
    assert told["step"]["text"] == f"1. {order} 2. {auto}"
    assert told["proof"].startswith("with it the script ran to its end on the stand-in")


_WHERE = Place("main.py", 3, text="a = kpu.load(0x300000)")
_GROWS = Growth("gc", _WHERE, 300, 1700)
_LEAKING = replace(ended(LIMIT, 100), growth=(_GROWS,))
_WELL = ended(LIMIT, 100)


def on_leaking(
    after: dict[str, Record], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, list[dict[str, Any]], list[str]]:
    """What cure says of a script that leaks, where changes of these kinds end so and others leak;
    and what it tried."""
    ran = []

    class Leaking:
        at_once, board = 1, Board("image", "full.bin")

        def run(self, script: Path, edit: Edit, *more: Any) -> Record:
            ran.append(edit.kind)
            return after.get(edit.kind, _LEAKING)

        def stop(self) -> None:
            ran.append("stop")

    found = replace(_LEAKING, pictures=98)
    monkeypatch.setattr(recorded, "once", lambda *rest: found)
    bench = tried.Bench(Leaking())  # type: ignore[arg-type]
    monkeypatch.setattr(cure_command, "bench_of", lambda *rest: bench)
    script = folder / "main.py"
    script.write_text("import KPU as kpu\nwhile True:\n    a = kpu.load(0x300000)\n    use(a)\n")
    done = invoke("cure", str(script), "--json")
    return done.exit_code, json.loads(done.stdout), ran


def test_a_leak_is_said_and_cured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, told, ran = on_leaking({"loop": _WELL}, tmp_path, monkeypatch)
    assert status == 0 and told[0]["cause"].startswith(
        "main.py:3 `a = kpu.load(0x300000)` keeps 300 B more of the GC heap each round"
    )
    assert told[0]["step"]["key"] == "loop" and ran == ["loop", "stop"]
    assert told[0]["proof"] == "with it 100 pictures were taken on full.bin"


@pytest.mark.parametrize(
    "after",
    [
        {},
        {"loop": replace(_WELL, too_few=True)},
        {"loop": replace(_WELL, unknown=("what is in use",))},
        {"loop": replace(_WELL, pictures=40)},
        {"loop": ended(RAISED, 100)},
        dict.fromkeys(("gc_heap", "order", "frame", "window", "card", "stream"), _WELL),
    ],
)
def test_what_does_not_prove_that_a_leak_is_gone(
    after: dict[str, Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that leaks as well, is not judged, sees fewer pictures, or ends it by itself; and
    what makes room alone is not tried."""
    status, told, ran = on_leaking(after, tmp_path, monkeypatch)
    assert status == 1 and told[0]["step"]["sure"] != "proved"
    assert told[0]["proof"] == f"none of {len(ran) - 1} changes that were tried runs on full.bin"
    assert {"loop", "gc"} <= set(ran)
    assert not set(ran) & {"gc_heap", "order", "frame", "window", "card", "stream"}


def test_a_script_that_ends_by_itself_has_no_leak() -> None:
    assert trials.cured(_LEAKING, replace(ended(DONE, 3), growth=(_GROWS,)))
    assert not trials.cured(_LEAKING, _LEAKING) and not _LEAKING.ends_well
    assert trials.cured(ended(RAISED, 3), replace(_WELL, too_few=True))


def test_the_project_beside_a_script_gives_its_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Firmware, models and card, as in profile; an option counts before them."""
    (tmp_path / "m.kmodel").write_bytes(example.data(200_000))
    (tmp_path / "card").mkdir()
    (tmp_path / "project.toml").write_text(
        'firmware = "minimum"\nsd = "card"\n[[model]]\nfile = "m.kmodel"\naddress = 0x300000\n'
    )
    script = tmp_path / "main.py"
    script.write_text("import KPU as kpu\nkpu.load(0x300000)\nopen('/sd/x', 'w').write('x')\n")
    status, out = on_stand_in(monkeypatch, script)
    assert status == 0 and "with the memory of minimum" in out, out
    status, out = on_stand_in(monkeypatch, script, "--firmware=full")
    assert status == 0 and "with the memory of full" in out


def test_the_first_pictures_have_less_time_than_all() -> None:
    """Once they came in time, what is left counts."""
    state = {"frames": 3, "microseconds": 1_000_000, "limited": 0, "resets": 0}
    limits = []

    class Board:
        def state(self) -> dict[str, int]:
            return dict(state)

        def limit(self, frames: int, seconds: float) -> None:
            limits.append((frames, seconds))

        def run(self, rounds: int) -> int:
            state["frames"] += 1
            state["microseconds"] += 1_500_000
            return 0

    port = Watched(Board(), None)  # type: ignore[arg-type]
    past = []
    port.past_first = lambda: past.append(state["frames"])
    port.limit(100, 120.0, (5, 20.0))
    for _ in range(9):
        port.step()
    assert limits == [(100, 20.0), (95, 112.5)] and past == [8]
    port.limit(4, 120.0, (5, 20.0))
    for _ in range(9):
        port.step()
    assert limits[2:] == [(4, 20.0)]


def test_what_computes_less_is_no_cure() -> None:
    before = replace(ended(RAISED, 3), work=Work(1, (2, 2)))
    after = replace(_WELL, work=Work(1, (2,) * 99))
    assert trials.cured(before, after)
    assert not trials.cured(before, replace(after, work=Work(1, (1,) * 99)))
    assert not trials.cured(before, replace(after, work=Work(0, ())))


_WITHOUT = """
import sys
sys.modules["libcst"] = None
from maixmem_cli.__main__ import main
main()
"""
_TWO = "import KPU as kpu\na = kpu.load(0x300000)\nb = kpu.load(0x500000)\n"


def _without_libcst(*words: str) -> tuple[int, str]:
    command = [sys.executable, "-c", _WITHOUT, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("command", ["sim", "fit"])
def test_without_the_extra_the_answer_is_not_tried(command: str, tmp_path: Path) -> None:
    """The plain package and the page have no libcst: nothing is changed, and all else works."""
    script, model = tmp_path / "two.py", tmp_path / "m.kmodel"
    script.write_text(_TWO)
    model.write_bytes(example.data(1_300_000))
    flash = [f"--flash={model}@{at:#x}" for at in (0x300000, 0x500000)]
    status, said = _without_libcst(command, str(script), *flash)
    assert status == 1, said
    assert "Do this: " in said and "Proof: " not in said and "libcst" not in said


def test_cure_names_the_extra_that_it_needs(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(_TWO)
    status, said = _without_libcst("cure", str(tmp_path / "two.py"))
    assert status == 2 and 'Next: pip install "maixmem[board]"' in said


def test_a_chinese_reader_gets_the_stand_in_in_chinese():
    board = Board("stand-in", "full")
    assert board_text(board) == "the stand-in with the memory of full, which is no firmware"
    assert "模拟板" in board_text(board, "zh") and "stand-in" not in board_text(board, "zh")
    assert board_text(Board("image", "full.bin"), "zh") == "full.bin"


def test_a_script_that_ran_too_short_a_time_is_no_clean_one(tmp_path: Path) -> None:
    script = tmp_path / "grows.py"
    script.write_text(
        "import sensor\nsensor.reset()\nsensor.set_framesize(sensor.QVGA)\nkept = []\n"
        "while True:\n    sensor.snapshot()\n    kept.append(bytearray(600))\n"
    )
    done = invoke("cure", str(script), "--frames=6")
    assert done.exit_code == 0 and "runs as it is on " in done.stdout
    assert "too few rounds to tell whether something grows" in done.stdout
