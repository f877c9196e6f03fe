# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The changes that `maixmem cure` tries: what they do to a script, and that comments and style
stay."""

from __future__ import annotations

import ast
from pathlib import Path

import broken_scripts
import pytest
from maixmem_cli.plan.edits import edits, likely_first

_SCRIPT = '''\
"""What it does."""
import sensor, lcd, image
import KPU as k  # the accelerator

sensor.reset()
sensor.set_framesize(sensor.VGA)   # odd   spaces stay
# why the display is here
lcd.init()
task = k.load( 0x300000 )
while (True):
    img=sensor.snapshot()
    out = k.forward(task, img)
    small = img.resize(32,32)
    lcd.display(img)  # shown
'''


def made(source: str, kind: str, sizes: tuple = ()) -> list[str]:
    return [e.source for e in edits(source, sizes) if e.kind == kind]


def test_a_moved_line_takes_its_comments_along() -> None:
    moved = made(_SCRIPT, "order")
    first = next(t for t in moved if t.index("k.load") < t.index("sensor.reset"))
    assert "task = k.load( 0x300000 )\\nsensor.reset()" in first.replace("\n\n", "\n").replace(
        "\n", "\\n"
    )
    display = next(t for t in moved if t.index("lcd.init") < t.index("sensor.reset"))
    assert "# why the display is here\nlcd.init()\n" in display


@pytest.mark.parametrize(
    "kind, line",
    [
        ("window", "sensor.set_windowing((224, 224))\n"),
        ("frame", "sensor.set_framesize(sensor.QVGA)   # odd   spaces stay\n"),
        ("del", "    del small\n"),
        ("gc", "    gc.collect()\n"),
        ("copy", "    out = k.forward(task, img)[:]\n"),
        ("auto", '"""What it does."""\nimport maixmem_auto\n'),
        ("gc_heap", "    utils.gc_heap_size(1048576)\n"),
    ],
)
def test_each_kind_of_change(kind: str, line: str) -> None:
    found = made(_SCRIPT, kind, ((224, 224),))
    assert any(line in text for text in found), found
    for text in found:
        ast.parse(text)
        assert "# shown" in text and "k.load( 0x300000 )" in text


def test_a_model_used_last_before_the_loop_is_given_back() -> None:
    text = _SCRIPT.replace("while", "x = k.forward(task, image.Image())\nb = k.load(5)\nwhile")
    text = text.replace("    out = k.forward(task, img)\n", "    out = k.forward(b, img)\n")
    assert "image.Image())\nk.deinit(task)\nb = k.load(5)" in made(text, "deinit")[0]


def test_what_each_round_loads_is_loaded_once() -> None:
    text = "import KPU as kpu\nwhile True:\n    a = kpu.load(1)  # big\n    print(a)\n"
    assert "a = kpu.load(1)  # big\nwhile True:\n    print(a)\n" in made(text, "loop")[0]


def test_the_end_says_what_is_tried_first() -> None:
    found = list(edits(_SCRIPT, ((224, 224),)))
    kinds = [e.kind for e in likely_first(found, {"row": "picture-size"})]
    assert kinds[0] == "window" and sorted(kinds) == sorted(e.kind for e in found)
    load = {"heap": "heap", "doing": "load", "in_loop": "no"}
    no_model = [e.kind for e in likely_first(found, load)]
    assert no_model[0] == "order" and no_model.index("gc_heap") < no_model.index("window")


def test_what_the_script_does_not_come_to_is_tried_last() -> None:
    """A change behind the line that ended it; in a loop it comes by again."""
    found = list(edits(_SCRIPT, ((224, 224),)))
    above = _SCRIPT[: _SCRIPT.index("task =")].count("\n") + 1
    kinds = [e.kind for e in likely_first(found, {"top_line": above}, _SCRIPT)]
    assert sorted(kinds) == sorted(e.kind for e in found)
    last = kinds.index("gc_heap") + 1
    assert {"gc", "del", "copy"} <= set(kinds[last:]) and "order" not in kinds[last:]
    assert likely_first(found, {"top_line": above + 2}, _SCRIPT) == likely_first(found, {})


def test_a_change_of_the_board_counts_before_any_line() -> None:
    models = ((0x300000, Path("m.kmodel")),)
    found = list(edits(_SCRIPT, (), models, [("firmware", "minimum")]))
    kinds = [e.kind for e in likely_first(found, {"top_line": 2}, _SCRIPT)]
    behind = kinds.index("gc")
    assert max(kinds.index(k) for k in ("card", "stream", "firmware", "auto")) < behind


def test_no_change_is_the_script_itself_or_twice_the_same() -> None:
    for broken in broken_scripts.scripts():
        sources = [e.source for e in edits(broken.source, ((224, 224),))]
        assert broken.source not in sources and len(set(sources)) == len(sources)
        assert {e.kind for e in edits(broken.source, ((224, 224),))} >= set(broken.kinds) - {
            "copy"
        }


def test_a_loop_in_one_line_becomes_several() -> None:
    """Taken for a plain line, it ended `maixmem sim` with a traceback."""
    source = "import sensor\nwhile True: img = sensor.snapshot(); b = img.resize(9, 9)\n"
    loop = "while True:\n    img = sensor.snapshot()\n    b = img.resize(9, 9)\n"
    assert made(source, "del") == [f"import sensor\n{loop}    del b\n"]
    assert f"import sensor\nimport gc\n{loop}    gc.collect()\n" in made(source, "gc")
    (loaded,) = made("import KPU\nwhile 1: net = KPU.load(5); KPU.forward(net, i)\n", "loop")
    assert loaded.endswith("net = KPU.load(5)\nwhile 1:\n    KPU.forward(net, i)\n")


def test_what_is_no_python_is_said() -> None:
    with pytest.raises(SyntaxError):
        list(edits("def (:\n"))


_CHAIN = "face = img.copy((96, 56, 128, 128))\nface.pix_to_ai()\n"


@pytest.mark.parametrize(
    "source, kind, line",
    [
        (_CHAIN, "cut", "face = img.cut(96, 56, 128, 128)\n"),
        (_CHAIN.replace("(96, 56, 128, 128)", "roi=box"), "cut", "face = img.cut(*box)\n"),
        ("sensor.reset(dual_buff=True)\n", "dual_buff", "sensor.reset()\n"),
        ("sensor.reset(freq=2, dual_buff=True)\n", "dual_buff", "sensor.reset(freq=2)\n"),
        ("a = []\nwhile True:\n    a.append(1)\n", "bound", "    a.append(1)\n    del a[:-10]\n"),
        (
            "b = bytearray()\ndef f(x):\n    b.extend(x)\n",
            "bound",
            "    b.extend(x)\n    b[:] = b[-1000:]\n",
        ),
        (
            "d = {}\nn = 0\nwhile True:\n    d[n] = 1\n",
            "bound",
            "    d[n] = 1\n    d.pop(n - 10, None)\n",
        ),
        (
            "def f(self):\n    self.a = []\n    self.a.append(1)\n",
            "bound",
            "    self.a.append(1)\n    del self.a[:-10]\n",
        ),
        ("a = []\nwhile 1:\n    a = a + [1]\n", "bound", "    a = a + [1]\n    del a[:-10]\n"),
        ("a = ''\nwhile 1:\n    a += 'x'\n", "bound", "    a += 'x'\n    a = a[-1000:]\n"),
        (
            "a = array('h')\nwhile 1:\n    a.append(1)\n",
            "bound",
            "    a.append(1)\n    a = a[-1000:]\n",
        ),
        (
            "a = array.array('B', [])\nwhile 1:\n    a.append(1)\n",
            "bound",
            "    a.append(1)\n    a = a[-1000:]\n",
        ),
        (
            "import _thread as t\nif 1:\n    t.start_new_thread(f, ())\n",
            "stack",
            "if 1:\n    t.stack_size(16384)\n    t.start_new_thread(f, ())\n",
        ),
    ],
)
def test_what_stays_is_what_the_program_computes(source: str, kind: str, line: str) -> None:
    (edit,) = [e for e in edits(source) if e.kind == kind]
    assert line in edit.source and edit.text(), edit
    ast.parse(edit.source)


def test_the_address_where_the_model_lies() -> None:
    source = "import KPU as kpu\nHEAD = 0x600000\nnet = kpu.load(HEAD)\n"
    (edit,) = [
        e for e in edits(source, (), [(0x400000, Path("head.kmodel"))]) if e.kind == "address"
    ]
    assert "HEAD = 0x400000\n" in edit.source
    wanted = "Load 0x400000 instead of 0x600000 in line 2: head.kmodel lies there."
    assert edit.text() == wanted


def test_a_copy_that_no_model_sees_stays() -> None:
    assert not made("face = img.copy((1, 2, 3, 4))\n", "cut")


def test_a_model_is_not_freed_before_it_was_used() -> None:
    source = "import KPU as kpu\na = kpu.load(0x300000)\nb = kpu.load(0x600000)\n"
    assert not made(source, "deinit")
    used = source.replace("b =", "out = kpu.forward(a, img)\nprint(out)\nb =")
    assert "print(out)\nkpu.deinit(a)\nb = " in made(used, "deinit")[0], "a result is of its model"


def test_what_reflashes_or_slows_comes_last() -> None:
    source = "import KPU as kpu\nkpu.load(0x300000)\n"
    found = edits(source, (), [(0x300000, Path("a.kmodel"))], [("firmware", "small.bin")])
    kinds = [e.kind for e in likely_first(list(found), {})]
    assert kinds[-4:] == ["gc_heap", "firmware", "card", "stream"]
    found = edits("import sensor\nsensor.set_framesize(sensor.QVGA)\n")
    assert [e.kind for e in likely_first(list(found), {})][-1] == "small_frame", "it computes less"
