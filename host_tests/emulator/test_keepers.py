# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""profile says who keeps a line's objects alive: the chain of names from a root. Scripts whose
holder is known, on real firmware; and what is in use equals what a collection leaves."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from emulated import each_image, needs_cc
from maixmem_cli.emulator.readers import tracer
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.heap import heaps
from maixmem_cli.profiler import ledger, plain, profile, report

pytestmark = needs_cc
_HELPER = """
    store = []
    class Log:
        lines = {}
    def remember(n):
        store.append(bytearray(n))
        Log.lines["text"] = bytearray(n)
    """
#: name -> (line of the script that takes the bytes, who has to keep them, bytes, script)
HOLDERS = {
    "a list of the script": (
        (3, "kept[*]", 8000),
        """
        kept = []
        for i in range(10):
          kept.append(bytearray(800))
        """,
    ),
    "a dict in a dict": (
        (3, "by_name['a']['b']", 5000),
        """
        by_name = {}
        by_name['a'] = {}
        by_name['a']['b'] = bytearray(5000)
        """,
    ),
    "a dict's keys 0 and 1": (
        (3, "numbered[*]", 6000),
        """
        numbered = {}
        for i in range(2):
          numbered[i] = bytearray(3000)
        """,
    ),
    "an attribute": (
        (5, "camera.buffers[*]", 6000),
        """
        class Camera:
          pass
        camera = Camera()
        camera.name = 'front'
        camera.buffers = [bytearray(3000), bytearray(3000)]
        """,
    ),
    "an attribute of a class": (
        (2, "Camera.table", 4000),
        """
        class Camera:
          table = bytearray(4000)
        """,
    ),
    "a closure": (
        (2, "reader.closed_over[0]", 5000),
        """
        def make():
          big = bytearray(5000)
          def inner(i):
            return big[i]
          return inner
        reader = make()
        """,
    ),
    "a default argument": (
        (1, "work.default[0]", 3000),
        """
        def work(scratch=bytearray(3000)):
          return scratch
        """,
    ),
    "a bound method": (
        (3, "send.self.data", 3000),
        """
        class Box:
          def __init__(self):
            self.data = bytearray(3000)
          def send(self): pass
        send = Box().send
        """,
    ),
    "a table of callbacks": (
        (2, "on['key'].closed_over[0]", 3000),
        """
        def make(n):
          state = bytearray(n)
          def pressed():
            return state
          return pressed
        on = {}
        on['key'] = make(3000)
        """,
    ),
    "a generator": (
        (2, "source in numbers(), a local", 3000),
        """
        def numbers(n):
          first = bytearray(n)
          yield first
        source = numbers(3000)
        next(source)
        """,
    ),
    "an argument of a function that runs": (
        (3, "picture of show()", 5000),
        """
        def show(picture):
          more = [bytearray(300) for i in range(90)]
        show(bytearray(5000))
        """,
    ),
    "a local of a function that runs": (
        (2, "a local of work()", 5000),
        """
        def work():
          scratch = bytearray(5000)
          more = [bytearray(300) for i in range(90)]
        work()
        """,
    ),
    "a module": (
        ("helper.py", 5, "helper.store[0]", 3000),
        """
        import helper
        helper.remember(3000)
        """,
    ),
    "a class of a module that only sys.modules has": (
        ("helper.py", 6, "sys.modules['helper'].Log.lines['text']", 3000),
        """
        import helper
        helper.remember(3000)
        del helper
        """,
    ),
}
#: more than compiling took: the moment that is looked at comes after the script's own
_MORE = "more = [bytearray(300) for i in range(60)]\n"
_THREAD = """
import _thread, time
def worker(n):
  scratch = bytearray(n)
  here.append(1)
  while here:
    time.sleep_ms(5)
here = []
_thread.start_new_thread(worker, (6000,))
while not here:
  time.sleep_ms(5)
def main():
  more = [[i] * 30 for i in range(200)]
main()
here.clear()
time.sleep_ms(50)
"""
_TIMER = """
from machine import Timer
def make():
  count = bytearray(4000)
  def tick(timer):
    count[0] = 1
  return tick
def start():
  how = dict(mode=Timer.MODE_PERIODIC, period=5, unit=Timer.UNIT_MS, callback=make())
  return Timer(Timer.TIMER0, Timer.CHANNEL0, **how)
timer = start()
for i in range(400):
  t = [i] * 40
timer.deinit()
"""


def run(image: Path, folder: Path, source: str) -> profile.Profile:
    (folder / "helper.py").write_text(textwrap.dedent(_HELPER).lstrip())
    script = folder / "main.py"
    script.write_text(textwrap.dedent(source).lstrip())
    with Session(image, script, Options()) as session:
        result = profile.run(session, lambda text: None)
        plain.data(result)
    assert result.outcome.error == ""
    return result


def keeper(result: profile.Profile, file: str, line: int) -> tuple[str, int]:
    """Who keeps most of what a line had, and bytes."""
    place = next(
        n.place
        for n in result.lines()
        if (n.heap, n.place.file, n.place.line) == ("gc", file, line) and n.live
    )
    first = result.keepers(place)[0]
    assert first.by in report.kept_by(result, place)
    return first.by, first.nbytes


@each_image
@pytest.mark.parametrize("name", HOLDERS)
def test_who_keeps_it(image: Path, tmp_path: Path, name: str) -> None:
    (*where, by, least), source = HOLDERS[name]
    result = run(image, tmp_path, textwrap.dedent(source) + _MORE)
    file, line = where if len(where) == 2 else ("main.py", where[0])
    found, nbytes = keeper(result, file, line)
    assert found == by
    assert least <= nbytes <= least + 1500


@each_image
def test_every_byte_in_use_has_a_keeper(image: Path, tmp_path: Path) -> None:
    """The sums are those of the look, and few bytes are only C's."""
    result = run(image, tmp_path, "kept = [bytearray(500) for i in range(40)]\n" * 2)
    assert result.fullest and result.fullest.gc_used == sum(k.nbytes for k in result.kept)
    assert result.left_over < 2000


@each_image
def test_a_thread_and_a_timer(image: Path, tmp_path: Path) -> None:
    """Another thread's stack keeps what its function has."""
    result = run(image, tmp_path, _TIMER)
    assert "tick" in keeper(result, "main.py", 3)[0] or "timer" in keeper(result, "main.py", 3)[0]
    if not result.session.known.threads:
        pytest.skip(f"NO THREADS in {image.name}: nothing to look at")
    result = run(image, tmp_path, _THREAD)
    (scratch, nbytes), (more, least) = keeper(result, "main.py", 3), keeper(result, "main.py", 12)
    assert scratch.endswith("a local of worker()") and 6000 <= nbytes < 6200
    assert more.endswith("a comprehension[*]") and least > 30000
    assert scratch.startswith("a thread, ") != more.startswith("a thread, ")  # one of them runs


_WAITING = """
import _thread
def worker(): pass
for i in range(200):
  _thread.start_new_thread(worker, ())
  x = [i] * 50
"""


@each_image
def test_threads_that_wait_or_ended(image: Path, tmp_path: Path) -> None:
    """The collector does not follow their stacks, whose pointers are then unknown."""
    if not run(image, tmp_path, "pass\n").session.known.threads:
        pytest.skip(f"NO THREADS in {image.name}: nothing to look at")
    result = run(image, tmp_path, _WAITING)
    kept, nbytes = keeper(result, "main.py", 5)
    assert "x" in kept and nbytes < 2000


_COLLECTS = """
import gc
class Box: pass
kept, by_name = [], {}
for i in range(40):
  kept.append(bytearray(100 + i))
  box = Box(); box.x = [i] * 5; by_name['k%d' % i] = box
  s = 'abc%d' % i * 30
  if i % 5 == 4:
    gc.collect(); print(gc.mem_alloc())
def deep(n):
  x = bytearray(3000)
  if n: return deep(n - 1)
  gc.collect(); print(gc.mem_alloc())
deep(6)
gc.collect(); print(gc.mem_alloc())
for i in range(300): q = [i] * 40
gc.collect(); print(gc.mem_alloc())
"""


_THREADED = """
import gc, _thread, time
def worker(n):
  mine = [bytearray(100) for i in range(n)]
  ready.append(len(mine))
  while ready: time.sleep_ms(5)
ready, kept = [], []
for n in (10, 40):
  _thread.start_new_thread(worker, (n,))
while len(ready) < 2: time.sleep_ms(5)
for i in range(20):
  kept.append(bytearray(100 + i))
  s = 'abc%d' % i * 30
  if i % 5 == 4:
    gc.collect(); print(gc.mem_alloc())
ready.clear()
time.sleep_ms(50)
gc.collect(); print(gc.mem_alloc())
"""


@each_image
@pytest.mark.parametrize(
    ("source", "number"), [(_COLLECTS, 11), (_THREADED, 5)], ids=["alone", "threads"]
)
def test_what_is_in_use_is_what_a_collection_leaves(
    image: Path, tmp_path: Path, source: str, number: int
) -> None:
    """To the block: at the return of gc.collect() the look equals the firmware's own table, and
    the figure that the script prints; also while other threads' stacks hold something."""
    script = tmp_path / "main.py"
    script.write_text(source)
    said: list[str] = []
    with Session(image, script, Options()) as session:
        if "_thread" in source and not session.known.threads:
            pytest.skip(f"NO THREADS in {image.name}: nothing to look at")
        system, gc = session.finder.system(session.board.ram), session.finder.gc(session.board.ram)
        session.tracer.start(session.finder, gc=True, live=True)
        assert session.run(said.append).error == ""
        books, equal = ledger.Ledger(system, gc), []
        # a loop of the script is known by its bytecode, which is in the pool; a return is not
        returns = {e.time for e in session.tracer.of(tracer.LOOK) if 0 < e.asked < gc.pool}
        for e in session.tracer.events(returns):
            if e.kind != tracer.LOOK:
                books.feed_one(e)
                continue
            used = [i for i, s in enumerate(heaps.states(e.used)) if s != heaps.FREE]
            assert used == [i for i, b in enumerate(books.blocks) if b is not None]
            equal.append(32 * e.a)
    assert [int(word) for word in "".join(said).split()] == equal and len(equal) == number
