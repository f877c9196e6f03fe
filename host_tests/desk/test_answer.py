# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The room of answers: its tables and conditions, the facts of a record, how an answer looks."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import kmodel_build
import pytest
from maixmem_cli.answer import as_html, as_json, as_text, facts, tables, values
from maixmem_cli.answer.answer import Answer, Step, answer
from maixmem_cli.plan import tried
from maixmem_cli.plan.edits import KINDS
from maixmem_cli.record.record import (
    CAMERA,
    CARD,
    GC,
    HANGS,
    HEAP,
    MODEL,
    RAISED,
    Board,
    End,
    Growth,
    Level,
    Line,
    Missing,
    Place,
    Record,
    Refused,
)
from maixmem_cli.record.record import Step as Did
from maixmem_cli.runs.change import Edit
from maixmem_cli.text import language

_LOAD = (Place("main.py", 8, text="head = kpu.load(0x600000)  # the second"),)
_CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.mark.parametrize(
    "row", [*tables.causes(), *tables.remedies().values()], ids=lambda r: r.key
)
def test_each_sentence_is_in_both_languages(row) -> None:
    assert len(row.row["en"]) == len(row.row["zh"])
    for english, chinese in zip(row.row["en"], row.row["zh"]):
        assert values.names(english) >= values.names(chinese)
        assert _CHINESE.search(chinese) or not re.search("[a-z]", re.sub("{.*?}", "", english))
        assert not _CHINESE.search(english)


def test_a_remedy_that_is_tried_is_a_change_of_a_script_and_each_change_a_remedy() -> None:
    assert KINDS == {key for key, remedy in tables.remedies().items() if remedy.tried}


@pytest.mark.parametrize(
    ("condition", "true"),
    [
        ("asked > free", True),
        ("asked <= 99", False),
        ("heap = gc|heap", True),
        ("heap != gc", True),
        ("heap = gc", False),
        ("model|asked", True),
        ("model|heap = gc|heap", True),
        ("asked", True),
        ("no asked", False),
        ("no model", True),
        ("model = a", False),
        ("model != a", False),
        ("asked > largest", False),
    ],
)
def test_conditions(condition: str, true: bool) -> None:
    assert values.holds(condition, {"heap": "heap", "asked": 100, "free": 50}) == true


def test_the_first_sentence_whose_values_are_known() -> None:
    texts = ["{size} at {address} of {names}", "{size}", "none"]
    known = {"size": values.Bytes(2048), "names": ("camera", "x.kmodel")}
    assert values.sentence(texts, known, {}, ", ") == "2.0 KiB"
    known["address"] = values.Address(0x300000)
    shown = values.sentence(texts, known, {"camera": "摄像头"}, "、")
    assert shown == "2.0 KiB at 0x300000 of 摄像头、x.kmodel"


def record(end: End, flash: dict[str, str] | None = None) -> Record:
    return Record("main.py", Board("image", "full.bin", flash=flash or {}), end)


@pytest.mark.parametrize(
    ("line", "error", "missing", "step"),
    [
        ("kpu.load('/sd/m')", "x", Missing(MODEL, "/sd/m"), "--sd FOLDER, with /sd/m in it."),
        ("kpu.load('/flash/m')", "x", Missing(MODEL, "/flash/m"), "Put /flash/m on a card, --sd"),
        ("open('/sd/a')", "x", Missing(CARD, "/sd/a"), "--sd FOLDER, with /sd/a in it."),
        ("os.listdir('/sd')", "x", Missing(CARD), "Give this run the card: --sd FOLDER."),
        ("print(f'{x}')", "SyntaxError: x", None, "Write line 3 without f-strings, "),
        ("if n := f():", "SyntaxError: x", None, "Write line 3 without :=, "),
        ("print(x", "SyntaxError: x", None, "Correct line 3: "),
    ],
)
def test_what_a_run_lacks_is_given_where_the_script_wants_it(line, error, missing, step) -> None:
    end = End(RAISED, (Place("main.py", 3, text=line),), error, missing=missing)
    found = answer(facts.of_record(record(end)))
    assert found.step and step in found.step.text, found


def test_the_address_where_the_model_really_lies() -> None:
    end = End(RAISED, _LOAD, "ValueError: load error:2002", missing=Missing(MODEL, "0x600000"))
    found = answer(facts.of_record(record(end, {"0x400000": "/models/head.kmodel"})))
    assert found.cause == "head.kmodel lies at 0x400000, the script loads 0x600000."
    assert found.step and found.step.key == "address" and "line 8" in found.step.text
    nothing = answer(facts.of_record(record(end)))
    assert nothing.step and nothing.step.text.endswith("--flash MODEL@0x600000.")
    two = {"0x400000": "head.kmodel", "0x500000": "body.kmodel"}
    assert "lies_at" not in facts.of_record(record(end, two))


def hang() -> Answer:
    level = Level(2 << 20, 300 << 10, 200 << 10)
    end = End(HANGS, _LOAD, refused=Refused(HEAP, 262274, level, _LOAD))
    return answer(facts.of_record(record(end, {"0x600000": "/models/head.kmodel"})))


def test_an_image_that_is_kept_each_round_gets_a_bound_and_nothing_that_only_delays() -> None:
    line = Place("main.py", 9, text="kept.append(img.resize(80, 60))")
    camera = Did(CAMERA, (Place("main.py", 4),), frame="QVGA")
    end = End(
        RAISED, (line,), "MemoryError", refused=Refused(GC, 9600, Level(524288, 900), (line,))
    )
    of = replace(record(end), growth=(Growth(GC, line, 9700, 52),), pictures=52, steps=(camera,))
    found = answer(facts.of_record(of))
    keys = [s.key for s in (found.step, *found.others) if s]
    assert keys[0] == "bound" and not {"image", "del", "pool", "frame", "small_frame"} & {*keys}


@pytest.mark.parametrize("doing", ["camera", "picture", "image", "load"])
def test_an_error_that_is_not_of_memory_gets_no_change_for_memory(doing: str) -> None:
    """A TypeError at a picture, with a second camera buffer: nothing to be tried."""
    known = {"end": RAISED, "doing": doing, "dual_buff": True, "frame": "QVGA", "line": 5}
    helping = [key for key, r in tables.remedies().items() if r.tried and r.applies(known)]
    assert helping == []
    short = {**known, "heap": HEAP, "requested": 100, "largest": 50}
    assert [key for key, r in tables.remedies().items() if r.tried and r.applies(short)]


def test_a_window_that_is_there_is_changed_and_another_added() -> None:
    row = tables.remedies()["window"]
    known = {"model_w": 224, "model_h": 224, "camera_line": 3}
    assert row.text(known, "en").startswith("Add sensor.set_windowing((224, 224)) after ")
    there = {**known, "window_line": 4}
    assert row.text(there, "en").startswith("Change line 4 to sensor.set_windowing((224, 224))")


def test_a_hang() -> None:
    found = hang()
    assert found.cause == (
        "The board hangs while main.py:8 `head = kpu.load(0x600000)` loads head.kmodel: it "
        "requests 256.1 KiB of system heap, 200.0 KiB are free in one piece."
    )
    assert found.sure == "proved" and found.step and found.step.key == "order"


def test_free_remedies_come_first_and_a_firmware_before_what_slows() -> None:
    steps = [s.key for s in (hang().step, *hang().others) if s]
    assert steps.index("order") < steps.index("gc_heap") < steps.index("firmware")
    assert steps.index("firmware") < steps.index("stream")
    costs = [remedy.cost for remedy in tables.remedies().values()]
    assert costs == sorted(costs)


@pytest.mark.parametrize("name", language.LANGUAGES)
def test_an_answer_is_read_back_from_a_log(name: str) -> None:
    made = answer(dict(hang().facts), name).first(Step("order", "x"), "a run took 10 pictures")
    lines = as_text.lines(made)
    assert len(lines) <= 7 and lines[1].endswith("x")
    read = as_text.read("noise\n" + "\n".join(f"maixmem: {x}" for x in lines) + "\n")
    assert read and as_text.lines(read) == lines
    assert as_text.read("ValueError: no answer of ours\nDo this: no cause") is None


def test_the_last_answer_of_a_log_is_read_as_a_whole() -> None:
    """Two answers are not mixed, and one that is not sure stays so."""
    first = hang().first(Step("order", "the first"), "a run took 10 pictures")
    second = replace(hang(), sure=tables.LIKELY, at="main.py:9", others=(), step=Step("x", "y"))
    text = "\n".join([*as_text.lines(first), "noise", *as_text.lines(second), "Cause: no step"])
    read = as_text.read(text)
    assert read and as_text.lines(read) == as_text.lines(second)
    assert (read.sure, read.proof, read.others) == (tables.LIKELY, "", ())


_KEEP = Place("main.py", 3, text="kept.append(bytearray(10000))")
_FULL = Refused(GC, 10000, Level(524288, 10700, 4600), (_KEEP,))


def full(at: Place, **more: Any) -> Answer:
    """The answer where the GC heap is full after that line got nothing."""
    end = End(RAISED, (at,), "MemoryError: ...", refused=replace(_FULL, at=(at,)))
    return answer(facts.of_record(replace(record(end), **more)))


def test_a_heap_that_is_full_of_what_a_line_keeps_is_not_in_pieces() -> None:
    """What grows, or what the line keeps already, is the cause; pieces are, where others have most
    of it."""
    grows = full(_KEEP, growth=(Growth(GC, _KEEP, 10056, 50),))
    assert grows.key == "gc_grows" and grows.step and grows.step.key == "bound"
    assert "gc_heap" not in {s.key for s in grows.others}, "it would be full a little later"
    lines = (Line(GC, _KEEP, 502912, 502912, 502912, 50, 10016),)
    kept = full(_KEEP, lines=lines)
    assert kept.key == "gc_kept" and "491.1 KiB, is still in use" in kept.cause
    other = replace(_KEEP, line=9, text="big = bytearray(10000)")
    assert full(other, lines=lines).key == "gc_pieces"
    end = End(RAISED, (other,), "IndexError: list index out of range")
    grown = replace(record(end), growth=(Growth(GC, _KEEP, 10056, 50),))
    assert answer(facts.of_record(grown)).key == "known", "it did not end it"


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        ({"heap": HEAP, "loads": "yes", "camera_line": 2}, "a smaller model or camera frame:"),
        ({"heap": HEAP, "loads": "yes"}, "a smaller model:"),
        ({"heap": HEAP, "camera_line": 2}, "a smaller camera frame:"),
        ({"heap": GC, "most": "main.py:3 `a = []`", "loads": "yes"}, "main.py:3 `a = []`"),
        ({"heap": GC, "grows_at": "main.py:3 `a.append(1)`"}, "keep no more than"),
    ],
)
def test_less_is_of_what_the_program_has(known: dict[str, Any], wanted: str) -> None:
    made = Answer("full", facts={"end": RAISED, **known})
    edit = Edit("gc", (), "x")
    failed = [(edit, record(End(RAISED)))]
    step = tried.none_helps(made, failed, Board("image", "full.bin"), record(End(RAISED))).step
    assert step and wanted in step.text and "tried" in step.text


@pytest.mark.parametrize(("v4", "key"), [(False, "needs_v4"), (True, "known"), (None, "known")])
def test_a_v4_model_on_a_firmware_without(v4: bool | None, key: str, tmp_path: Path) -> None:
    model = tmp_path / "new.kmodel"
    model.write_bytes(kmodel_build.v4((28, 28, 1), [("conv", 8)]).to_bytes())
    end = End(RAISED, _LOAD, "ValueError: [MAIXPY]kpu: load error:2002, ERR_KMODEL_VERSION")
    board = Board("image", "min.bin", build="minimum", flash={"0x600000": str(model)}, v4=v4)
    found = answer(facts.of_record(replace(record(end), board=board)))
    assert found.key == key
    if key == "needs_v4":
        assert found.cause.startswith("new.kmodel is a kmodel V4, and the firmware minimum runs")
        assert found.step and found.step.key == "firmware_v4"


def test_json_and_html_have_all_of_it() -> None:
    made = hang().first(Step("order", "models <first>", diff="+a\n"))
    told = as_json.data(made)
    assert told["version"] == 1 and set(told) == {"version", *asdict(made)}
    html = as_html.fragment(made)
    assert (
        "models &lt;first&gt;" in html
        and "<pre" in html
        and html.count("<li>") == len(made.others)
    )


@pytest.mark.parametrize(
    ("given", "environment", "wanted"),
    [
        ("zh", {}, "zh"),
        ("en", {"LANG": "zh_CN.UTF-8"}, "en"),
        (None, {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        (None, {"LC_ALL": "", "LANG": "zh"}, "zh"),
        (None, {"LANG": "de_DE"}, "en"),
        (None, {}, "en"),
    ],
)
def test_the_language(given: str | None, environment: dict[str, str], wanted: str) -> None:
    assert language.chosen(given, environment) == wanted
