# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `maixmem profile --json` prints is as its schema says; the gate by the command line, by
pytest's fixture and by project.toml is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import emulated
import jsonschema
import pytest
from click.testing import Result
from commands import invoke
from emulated import needs_cc, needs_image, only_thorough
from maixmem_cli.answer.answer import Answer, Step
from maixmem_cli.answer.as_json import data
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.profiler import compare, page, plain, profile

SCHEMA = json.loads(Path(plain.__file__).with_name("profile.schema.json").read_text("utf-8"))
LEAK = "kept = []\nfor i in range(40):\n  kept.append(bytearray(500))\n"
SCRIPTS = {
    "a leak": LEAK,
    "few rounds": LEAK.replace("40", "9"),
    "a cache": "c = {}\nfor i in range(400):\n  c[i % 9] = bytearray(900)\n",
    "raises": "a = bytearray(90000)\nraise ValueError('mine')\n",
    "a thread": (
        "import _thread, time\nfor i in range(20):\n"
        "  _thread.start_new_thread(print, (i,))\n  time.sleep_ms(20)\n"
    ),
    "the firmware's own words": "import gc\ngc.collect()\nprint('ok')\n",
}


def profiled(folder: Path, source: str, *words: str) -> Result:
    script = folder / "main.py"
    script.write_text(source)
    return invoke("profile", str(script), "--firmware", str(emulated.IMAGES[0]), *words)


def told(folder: Path, source: str, *words: str) -> dict[str, Any]:
    out: dict[str, Any] = json.loads(profiled(folder, source, "--json", *words).stdout)
    return out


def test_the_schema_is_one_and_of_this_version() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["version"]["const"] == compare.VERSION


def test_an_answer_is_as_the_schema_says() -> None:
    made = Answer("it grows", step=Step("bound", "Keep ten"), others=(Step("less", "Use less"),))
    as_printed = json.loads(json.dumps(data(made)))
    jsonschema.validate(as_printed, SCHEMA["properties"]["answer"])


@needs_cc
@needs_image
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_json_is_as_the_schema_says(tmp_path: Path, name: str) -> None:
    jsonschema.validate(told(tmp_path, SCRIPTS[name]), SCHEMA)


@needs_cc
@needs_image
def test_without_looks_the_json_is_that_too(tmp_path: Path) -> None:
    found = told(tmp_path, LEAK, "--no-live")
    jsonschema.validate(found, SCHEMA)
    assert not found["leaks_looked_for"] and found["grows"] == []


@needs_cc
@needs_image
@pytest.mark.parametrize("bound, ran", [(70, True), (700, False)])
def test_what_has_a_bound_further_on_is_no_leak(tmp_path: Path, bound: int, ran: bool) -> None:
    source = "import sensor\nsensor.reset()\nsensor.set_pixformat(sensor.GRAYSCALE)\n"
    source += "sensor.set_framesize(sensor.QQVGA)\nlog = []\nwhile True:\n  sensor.snapshot()\n"
    source += f"  log.append(bytearray(90))\n  if len(log) > {bound}:\n    log.pop(0)\n"
    found = told(tmp_path, source, "--camera=pattern", "--frames=40")
    jsonschema.validate(found, SCHEMA)
    assert found["grows"] == [] and found["ends"] is None
    (full,) = found["full"]
    assert full["kind"] == "bounded" and full["line"] == 8
    assert full["bound"]["ran"] == ran and abs(full["bound"]["until"] - bound) <= 30


@needs_cc
@needs_image
def test_a_ring_that_another_line_replaces_is_no_leak(tmp_path: Path) -> None:
    source = "import sensor\nsensor.reset()\nsensor.set_pixformat(sensor.GRAYSCALE)\n"
    source += "sensor.set_framesize(sensor.QQVGA)\nring, n = [], 0\nwhile True:\n"
    source += "  sensor.snapshot()\n  if n < 70:\n    ring.append(bytearray(90))\n"
    source += "  else:\n    ring[n % 70] = bytearray(90)\n  n += 1\n"
    found = told(tmp_path, source, "--camera=pattern", "--frames=40")
    (full,) = found["full"]
    assert (found["grows"], full["line"], full["kind"]) == ([], 9, "bounded")
    assert full["bound"]["ran"] and abs(full["bound"]["until"] - 70) <= 30


@needs_cc
@needs_image
def test_against_a_leak_nothing_is_tried(tmp_path: Path) -> None:
    """That is for cure: a profile costs as much as a run."""
    source = "import time\nkept = []\nwhile True:\n  kept.append(bytearray(500))\n"
    answer = told(tmp_path, source + "  time.sleep_ms(9)\n", "--seconds", "0.5")["answer"]
    assert answer["step"]["key"] == "bound" and answer["proof"] == ""
    assert [step["key"] for step in answer["others"]] == ["cure"]


@needs_cc
@needs_image
@only_thorough
@pytest.mark.parametrize("end", ["log.pop(0)", "log = []"])
def test_what_has_a_bound_is_told_from_the_leak_beside_it(tmp_path: Path, end: str) -> None:
    source = "import sensor\nsensor.reset()\nsensor.set_pixformat(sensor.GRAYSCALE)\n"
    source += "sensor.set_framesize(sensor.QQVGA)\nlog, kept = [], []\nwhile True:\n"
    source += "  sensor.snapshot()\n  kept.append(bytearray(200))\n  log.append(bytearray(90))\n"
    source += f"  if len(log) > 70:\n    {end}\n"
    found = told(tmp_path, source, "--camera=pattern", "--frames=40")
    (leak,), (full,) = found["grows"], found["full"]
    assert (leak["line"], full["line"], full["kind"]) == (8, 9, "bounded")
    assert full["bound"]["ran"] and abs(full["bound"]["until"] - 70) <= 30


@needs_cc
@needs_image
def test_a_leak_is_accepted_by_a_baseline_and_by_max_growth(tmp_path: Path) -> None:
    done = profiled(tmp_path, LEAK)
    assert done.exit_code == 1
    assert "maixmem: leak: main.py:3: GC heap: grows 544 bytes a round: kept" in done.stderr
    assert profiled(tmp_path, LEAK, "--max-growth", "1K").exit_code == 0
    old = tmp_path / "old.json"
    old.write_text(json.dumps(told(tmp_path, LEAK)))
    assert profiled(tmp_path, "x = 1\n" + LEAK, "--baseline", str(old)).exit_code == 0
    more = LEAK.replace("500", "900")
    done = profiled(tmp_path, more, "--baseline", str(old))
    assert done.exit_code == 1 and "maixmem: leak: main.py:3" in done.stderr


@needs_cc
@needs_image
def test_too_few_rounds_blame_nobody(tmp_path: Path) -> None:
    done = profiled(tmp_path, SCRIPTS["few rounds"])
    assert done.exit_code == 0, done.stderr
    assert "too few rounds to judge (" in done.stdout and "; 30 are enough)" in done.stdout


@needs_cc
@needs_image
def test_the_live_peak_includes_the_end(tmp_path: Path) -> None:
    source = "a = bytearray(300000)\nprint('ok')\n"
    assert told(tmp_path, source)["gc"]["live_peak"] > 300000
    done = profiled(tmp_path, source, "--max-gc-live", "50K")
    assert done.exit_code == 1 and "main.py:1: GC heap: live peak" in done.stderr, done.stderr


@needs_cc
@needs_image
def test_an_interpreter_whose_state_is_not_found_is_profiled_without_looks(tmp_path: Path) -> None:
    """As on images of 2019."""
    script = tmp_path / "main.py"
    script.write_text(LEAK)
    with Session(emulated.IMAGES[0], script, Options()) as session:
        session.known.state = 0
        session.known.missing.append("the interpreter's state")
        found = profile.run(session, lambda text: None)
    seen = plain.data(found)
    jsonschema.validate(seen, SCHEMA)
    assert not seen["leaks_looked_for"] and "the interpreter's state" in seen["not_found"]
    assert any(n["line"] == 3 and n["at_end"] > 20000 for n in seen["lines"])
    assert "<svg" in page.timeline(found)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[budget]\nmax_heap = -1\n", "[budget] max_heap"),
        ("[budget]\nmax_heep = 1\n", "[budget] has no"),
        ('sd = "nowhere"\n', "no such folder"),
    ],
)
def test_a_wrong_project_is_wrong_use(tmp_path: Path, toml: str, words: str) -> None:
    (tmp_path / "main.py").write_text("print(1)\n")
    (tmp_path / "project.toml").write_text(toml)
    for command in (("profile", "--firmware", str(Path(__file__))), ("sim",)):
        done = invoke(command[0], str(tmp_path / "main.py"), *command[1:])
        assert done.exit_code == 2 and words in done.stderr, done.stderr


@needs_cc
@needs_image
def test_the_project_gives_firmware_card_and_camera(tmp_path: Path) -> None:
    (tmp_path / "card").mkdir()
    (tmp_path / "card" / "a.txt").write_text("seen")
    image = tmp_path / "maixpy.bin"
    image.write_bytes(emulated.IMAGES[0].read_bytes())
    (tmp_path / "project.toml").write_text(
        'firmware = "maixpy.bin"\nsd = "card"\n[camera]\nsize = "QQVGA"\n'
    )
    script = tmp_path / "main.py"
    script.write_text(
        "import sensor\nprint(open('/sd/a.txt').read())\nsensor.reset()\n"
        "sensor.set_pixformat(sensor.RGB565)\nsensor.set_framesize(sensor.QQVGA)\n"
        "sensor.run(1)\nprint(sensor.snapshot().size() > 0)\n"
    )
    for command in ("profile", "sim"):
        done = invoke(command, str(script))
        assert done.exit_code == 0, done.stderr
        assert "project.toml: --sd card, --camera pattern" in done.stderr
        said = (done.stderr if command == "profile" else done.stdout).splitlines()
        assert "seen" in said and "True" in said
