# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Leaks are found with their line and rate wherever the script ends; caches, pools and what is
made anew are none. On real firmware."""

from __future__ import annotations

import textwrap
from pathlib import Path

import emulated
import pytest
from emulated import needs_cc, needs_image
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.profiler import plain, profile, run_on
from maixmem_cli.profiler.leaks import BOUNDED
from maixmem_cli.runs import bounded

pytestmark = [needs_cc, needs_image]
_TIDY = "kept = None\nimport gc\ngc.collect()\nprint(gc.mem_free())\n"
_HELPER = """
    store = []
    def remember(n):
        scratch = bytearray(500)
        store.append(bytearray(n))
    class Log:
        def __init__(self):
            self.lines = {}
        def add(self, i, text):
            self.lines[i] = text + str(i) * 20
    """
#: name -> (whether it tidies up, heap, (file, line), bytes a round at least and at most, script)
LEAKS = {
    "append": (
        True,
        "gc",
        ("main.py", 4),
        (1024, 1100),
        """
        kept = []
        for i in range(60):
          t = bytearray(2000)
          kept.append(bytearray(1024))
        """,
    ),
    "function": (
        True,
        "gc",
        ("main.py", 3),
        (180, 420),
        """
        kept = []
        def work(i):
          kept.append('x%d' % i * 90)
        for i in range(80):
          work(i)
          s = [i] * 40
        """,
    ),
    "dict": (
        True,
        "gc",
        ("main.py", 4),
        (730, 900),
        """
        kept = {}
        n = 0
        while n < 90:
          kept[n] = bytearray(700)
          n += 1
        """,
    ),
    "object": (
        True,
        "gc",
        ("main.py", 3),
        (320, 420),
        """
        class P:
          def __init__(self, i):
            self.data = bytearray(300)
        kept = []
        for i in range(90):
          p = P(i)
          kept.append(p)
        """,
    ),
    "chain": (
        True,
        "gc",
        ("main.py", 3),
        (430, 520),
        """
        kept = None
        for i in range(100):
          kept = (kept, bytearray(400))
          b = bytearray(3000)
        """,
    ),
    "module": (
        False,
        "gc",
        ("helper.py", 4),
        (930, 1000),
        """
        import helper
        for i in range(60):
          helper.remember(900)
        """,
    ),
    "method of a module": (
        False,
        "gc",
        ("helper.py", 9),
        (180, 420),
        """
        import helper
        log = helper.Log()
        for i in range(200):
          log.add(i, 'abcdefghijklmnop' * 10)
        """,
    ),
    "callback": (
        False,
        "gc",
        ("main.py", 5),
        (800, 900),
        """
        from machine import Timer
        import time
        kept = []
        def tick(t):
          kept.append(bytearray(800))
        how = dict(mode=Timer.MODE_PERIODIC, period=5, unit=Timer.UNIT_MS, callback=tick)
        t = Timer(Timer.TIMER0, Timer.CHANNEL0, **how)
        while len(kept) < 60:
          b = bytearray(200)
        t.deinit()
        """,
    ),
    "now and then, from a timer": (
        True,
        "gc",
        ("main.py", 5),
        (230, 320),
        """
        from machine import Timer
        import time
        kept = []
        def tick(t):
          kept.append('%d of many texts that are kept here' % len(kept) * 6)
        how = dict(mode=Timer.MODE_PERIODIC, period=10, unit=Timer.UNIT_MS, callback=tick)
        t = Timer(Timer.TIMER0, Timer.CHANNEL0, **how)
        while len(kept) < 80:
          time.sleep_ms(3)
        t.deinit()
        """,
    ),
    "three in each round of the outer loop": (
        True,
        "gc",
        ("main.py", 4),
        (340, 430),
        """
        kept = []
        def detect():
          for k in range(3):
            kept.append(bytearray(80))
        for i in range(70):
          detect()
          s = bytearray(700)
        """,
    ),
    "model objects": (
        False,
        "heap",
        ("main.py", 4),
        (10000, 1048576),
        """
        import KPU as kpu
        kept = []
        for i in range(5):
          kept.append(kpu.load(0x300000))
        """,
    ),
    "system heap": (
        False,
        "heap",
        ("main.py", 3),
        (10000, 1048576),
        """
        import KPU as kpu
        for i in range(5):
          t = kpu.load(0x300000)
          b = bytearray(100)
        """,
    ),
}
CLEAN = {
    "cache": """
        cache = {}
        for i in range(400):
          k = i % 12
          if k not in cache:
            cache[k] = bytearray(900)
          s = [i] * 30
        """,
    "least recently used": """
        cache = []
        for i in range(200):
          cache.append(bytearray(700))
          if len(cache) > 10:
            cache.pop(0)
        """,
    "pool": """
        pool = [bytearray(2000) for i in range(12)]
        for i in range(300):
          b = pool.pop()
          b[0] = i & 255
          pool.append(b)
          s = 'n%d' % i * 9
        """,
    "ring": """
        ring = [None] * 16
        for i in range(250):
          ring[i % 16] = bytearray(500)
        """,
    "once": """
        big = []
        for i in range(10):
          big.append(bytearray(5000))
        for i in range(300):
          s = bytearray(300)
          d = [i] * 20
        """,
    "made before a loop that makes nothing": """
        buffers = [bytearray(3000) for i in range(20)]
        for i in range(200):
          b = buffers[i % 20]
          b[0] = i & 255
        """,
    "a list per frame": """
        def frame(i):
          found = []
          for k in range(20):
            found.append(bytearray(100))
          return len(found)
        for i in range(40):
          frame(i)
        """,
    "a set": """
        seen = set()
        for i in range(400):
          seen.add('object%d' % (i % 15) * 5)
          b = bytearray(90)
        """,
    "a queue of batches": """
        queue = []
        for i in range(300):
          queue.append(bytearray(400))
          if len(queue) == 12:
            queue = []
        """,
    "garbage": """
        x = 0.5
        for i in range(3000):
          x = x * 1.01 + i
        """,
    "a model in turn": """
        import KPU as kpu
        for i in range(8):
          t = kpu.load(0x300000)
          kpu.deinit(t)
          b = bytearray(100)
        """,
}


def run(folder: Path, source: str, **more: object) -> profile.Profile:
    files: tuple[tuple[int, Path], ...] = ()
    if "kpu" in source:
        files = ((0x300000, emulated.model("v3_face_ld5.kmodel")),)
    (folder / "helper.py").write_text(textwrap.dedent(_HELPER).lstrip("\n"))
    script = folder / "main.py"
    script.write_text(source)
    with Session(emulated.IMAGES[0], script, Options(files=files)) as session:
        return profile.run(session, lambda text: None, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak(tmp_path: Path, name: str) -> None:
    tidy, heap, where, (least, most), source = LEAKS[name]
    source = textwrap.dedent(source).lstrip()
    result = run(tmp_path, source + (_TIDY if tidy else ""))
    assert result.outcome.error == ""
    found = [g for g in result.leaks if g.heap == heap]  # the line with most bytes is the first
    assert [(g.place.file, g.place.line) for g in found][:1] == [where]
    assert least <= found[0].each <= most
    assert result.end and result.end.left > 0


#: lines that each keep more -> the bytes a round
ENTRIES = {
    "s.add(1000 + i)": 8,
    "d[3 * i] = i": 16,
    "where.append(1)": 32,
    "b.extend(b'12345')": 5,
}


@pytest.mark.parametrize("line", ENTRIES)
def test_a_table_grows_by_its_entries(tmp_path: Path, line: str) -> None:
    """To the byte after twenty rounds: of a set, a dict, two lists; of bytes, too, that become
    more where they lie, and nothing else is allocated."""
    loop = f"for where in (x, y, y, y):\n  {line}" if "where" in line else line
    setup = "x = []; y = []; s = set(); d = {}; b = bytearray()\n"
    source = setup + "for i in range(20):\n" + textwrap.indent(loop, " ")
    (found,) = run(tmp_path, source + "\n").leaks
    assert abs(found.each - ENTRIES[line]) <= 0.05 * ENTRIES[line]


@pytest.mark.parametrize("name", CLEAN)
def test_no_leak(tmp_path: Path, name: str) -> None:
    result = run(tmp_path, textwrap.dedent(CLEAN[name]).lstrip())
    assert result.outcome.error == ""
    assert result.leaks == []
    if name == "cache":
        assert [(g.place.line, g.kind) for g in result.growths] == [(5, "full")]


def test_an_object_that_grows_is_run_on_to_its_end(tmp_path: Path) -> None:
    """Where that is near, else its range has the end; the true one by a run without a trace."""
    script = tmp_path / "main.py"
    script.write_text(
        "import sensor\nsensor.reset()\nsensor.set_pixformat(sensor.GRAYSCALE)\n"
        "sensor.set_framesize(sensor.QQVGA)\nsensor.run(1)\nlog = ''\n"
        "while True:\n  img = sensor.snapshot()\n  log = log + '-' * 1500\n"
    )
    on = {"camera": "pattern"}
    with Session(emulated.IMAGES[0], script, Options(frames=400, **on)) as session:
        assert "MemoryError" in session.run(lambda text: None).error
        dies = session.board.state()["frames"]
    with Session(emulated.IMAGES[0], script, Options(frames=40, **on)) as session:
        far = profile.run(session, lambda text: None)
        assert far.end and run_on.to_its_end(far) is None
        assert far.end.rounds + far.end.left <= dies <= far.end.rounds + (far.end.most or dies)
    with Session(emulated.IMAGES[0], script, Options(frames=dies - 8, **on)) as session:
        found = profile.run(session, lambda text: None)
        assert found.end and not found.end.ran and session.port.before_limit
        end = bytes(session.board.ram)
        found.ran_on = run_on.to_its_end(found)
        assert session.board.ram == end
    assert found.end.ran and abs(found.end.rounds + found.end.left - dies) <= 1


def test_a_loop_over_range_goes_on_to_where_what_grows_ends_it(tmp_path: Path) -> None:
    """Of 40 rounds; the true end by a run of many, without a trace."""
    script = tmp_path / "main.py"
    lines = "data = b''\nfor n in range({}):\n  data += bytes(1024)\n"
    script.write_text(lines.format(4000))
    with Session(emulated.IMAGES[0], script, Options()) as session:
        assert "MemoryError" in session.run(lambda text: None).error
        dies = int(session.repl.check("print(n)").split()[-1])
    script.write_text(lines.format(40))
    with Session(emulated.IMAGES[0], script, Options()) as session:
        found = profile.run(session, lambda text: None)
        found.ran_on = run_on.to_its_end(found)
    assert found.end and found.end.ran
    assert abs(found.end.rounds + found.end.left - dies) <= 0.05 * dies


def test_a_loop_that_is_to_end_is_seen_to(tmp_path: Path) -> None:
    """A calibration of 35 pictures, of which 20 were seen, was a leak: on the firmware it was
    looked at no further than its own end."""
    script = tmp_path / "main.py"
    script.write_text(
        "import sensor\nsensor.reset()\nsensor.set_pixformat(sensor.GRAYSCALE)\n"
        "sensor.set_framesize(sensor.QQVGA)\nsensor.run(1)\ntable = []\n"
        "for k in range(35):\n  img = sensor.snapshot()\n"
        "  table.append([img.get_pixel(k, y) for y in range(6)])\n"
        "while True:\n  img = sensor.snapshot()\n"
    )
    with Session(emulated.IMAGES[0], script, Options(frames=20, camera="pattern")) as session:
        found = profile.run(session, lambda text: None)
        assert [g.place.line for g in found.leaks] == [9]
        bounded.settle(found)
    (growth,) = found.growths
    assert growth.kind == BOUNDED and growth.bound and growth.bound.ran
    assert 35 <= growth.bound.until <= 37


def test_a_loop_over_range_that_ended_before_a_bound(tmp_path: Path) -> None:
    """One line fills 48 places, the other leaks: 20 rounds alone do not tell."""
    script = tmp_path / "main.py"
    script.write_text(
        "last, kept = [None] * 48, []\nfor n in range(20):\n  last[n % 48] = n / 7\n"
        "  kept.append(bytearray(90))\n"
    )
    with Session(emulated.IMAGES[0], script, Options()) as session:
        found = profile.run(session, lambda text: None)
        assert {g.place.line for g in found.leaks} == {3, 4}
        bounded.settle(found)
    (leak,) = found.leaks
    assert (leak.place.line, leak.each_time) == (4, 136)
    (full,) = [g for g in found.growths if g.bound]
    assert full.place.line == 3 and full.bound and 47 <= full.bound.until < 72
    assert full.bound.ran and full.bound.shown > 96


def test_the_live_peak_is_that_of_a_collection(tmp_path: Path) -> None:
    """Garbage does not count."""
    source = "x = 0.5\na = bytearray(60000)\nfor i in range(9000):\n  x = x * 1.01 + i\n"
    result = run(tmp_path, source)
    assert result.fullest and result.books.gc.peak.used > 300000
    assert 60000 < result.fullest.gc_used < 80000


def test_a_comprehension_is_on_its_line(tmp_path: Path) -> None:
    result = run(tmp_path, "x = 1\n\nkept = [bytearray(900) for i in range(9)]\n")
    (line,) = [n for n in result.lines() if n.heap == "gc" and n.place.line and n.at_end > 8000]
    assert (line.place.line, line.place.function) == (3, "<module>")


def test_the_variables_of_a_closure_are_the_functions_that_makes_it(tmp_path: Path) -> None:
    """A call makes their cells before the function's first line: they are not the caller's."""
    source = (
        "kept = []\ndef make(step):\n  n = 0\n  def inner():\n    nonlocal n\n    n += step\n"
        "    return n\n  return inner\ndef stream(most):\n  return (most * k for k in range(9))\n"
        "for i in range(60):\n  f = make(i)\n  g = stream(i)\n  kept.append((f, g))\n"
    )
    found = {g.place.line: g.each_time for g in run(tmp_path, source).leaks}
    assert found == {4: 160, 10: 224, 14: 40}


def test_without_looks(tmp_path: Path) -> None:
    result = run(tmp_path, textwrap.dedent(LEAKS["append"][-1]).lstrip(), looks=False)
    assert result.growths == [] and plain.data(result)["gc"]["live_peak"] is None
