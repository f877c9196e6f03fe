# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem heap` on MicroPython's unix port behind a pty: who holds what, by name; saved and
compared; held against what deletion gives back."""

from __future__ import annotations

import json
import re
import subprocess
import time
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import less_firmware
import paths as paths_kit
import pytest
from commands import maixmem
from fakeboard import FakeBoard
from maixmem_cli.emulator.connect import connect
from maixmem_cli.heap.objects import MAIN
from maixmem_cli.serial import agent
from maixmem_cli.serial.agent import Agent, NoSnapshot
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.snapshot import diff, paths, picture, store, take, view
from maixmem_cli.snapshot import owners as owner_tree

PROGRAM = """
class Track:
    def __init__(self, n):
        self.box = (n, n + 1, n + 2)
        self.label = 'track %d' % n
class Store:
    def __init__(self):
        self.frames = []
store = Store()
for i in range(30):
    store.frames.append({'id': i, 'raw': bytes(range(50 + i))})
tracks = {i: Track(i) for i in range(12)}
def counter():
    big = bytearray(3000)
    def inner():
        return len(big)
    return inner
count = counter()
def numbers():
    row = [7.5] * 40
    for n in row:
        yield n
turns = numbers()
next(turns)
bound = store.frames.append
zero = {0: bytearray(200), 1: bytearray(100)}
del i
"""
USED = "import gc\ngc.collect()\nprint(gc.mem_alloc())"


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    with FakeBoard(tmp_path_factory.mktemp("heap") / "board", "modern") as board:
        yield board


@pytest.fixture
def repl(fake):
    with connect(fake.port) as board:
        board.soft_reset()
        board.check(PROGRAM)
        yield board


def owners(shown):
    return {o.path: o for root in shown.owners for o in root.all()}


def used(repl):
    return int(repl.check(USED).split()[-1])


def test_every_object_has_its_owner(repl):
    found = owners(view.view(take.of_board(repl)))
    assert found["main.store.frames[*]"].types == {"dict": 30}
    raw = found["main.store.frames[*]['raw']"]
    assert raw.types == {"bytes": 30} and raw.nbytes > sum(range(50, 80))
    assert found["main.tracks[*].box"].objects == 12
    assert found["main.tracks[*].label"].types == {"str": 12}
    assert found["main.count.closed_over[0]"].nbytes >= 3000
    assert found["main.zero[*]"].types == {"bytearray": 2}
    assert any(path.startswith("main.turns in numbers()") for path in found)
    assert found["this snapshot"].nbytes > 1000
    assert "reached from C only" not in found


def test_the_bytes_are_those_of_the_board(repl):
    shown = view.view(take.of_board(repl))
    live = sum(shown.graph.sizes.values())
    assert live == shown.used + shown.own == shown.total - shown.free
    assert sum(o.nbytes for o in shown.owners) == sum(t.nbytes for t in shown.types) + shown.own
    assert 0 <= live - shown.taken.board["after"] <= 256


@pytest.mark.parametrize("name", ["store", "tracks", "count", "turns", "zero", "Track", "bound"])
def test_retained_is_what_deletion_gives_back(repl, name):
    take.of_board(repl)
    graph = view.view(take.of_board(repl)).graph
    before = used(repl)
    repl.check(f"{name} = None")
    assert graph.retained(name) == before - used(repl)


def test_the_board_keeps_nothing_and_its_names(repl):
    names = "print(sorted(globals()))"
    start, before = used(repl), repl.check(names)
    take.of_board(repl)
    first = used(repl)
    assert first - start <= 512
    for _ in range(3):
        take.of_board(repl)
    assert used(repl) == first and repl.check(names) == before


def test_garbage_is_named_as_that(repl):
    repl.check("import gc\ngc.disable()\n[bytearray(100) for i in range(20)]")
    kept = view.view(take.of_board(repl, collect=False))
    repl.check("gc.enable()")
    assert kept.garbage is None and kept.bytes_of("only C") >= 2000
    assert view.view(take.of_board(repl)).bytes_of("only C") == 0


def test_what_came_what_went_what_grew(repl):
    before = view.view(take.of_board(repl))
    repl.check(
        "store.frames += [bytearray(64) for _ in range(10)]\ntracks.clear()\nnew = [0] * 50"
    )
    found = {c.path: c for c in diff.changes(before, view.view(take.of_board(repl)))}
    grew = found["main.store.frames[*]"]
    assert (grew.what, grew.more_objects, grew.types) == ("grew", 10, ("bytearray",))
    assert found["main.tracks[*].label"].what == "went" and found["main.new"].what == "came"
    assert "main.zero[*]" not in found and "main.count" not in found


def test_a_saved_one_says_the_same(repl, tmp_path):
    taken = take.of_board(repl)
    saved = tmp_path / "a.heap"
    saved.write_bytes(store.packed(taken))
    again = view.view(store.load(saved))
    live = view.view(taken)
    assert again.types == live.types
    assert [o.path for o in owners(again).values()] == [o.path for o in owners(live).values()]
    assert "main.store.frames[*]" in maixmem("heap", str(saved))
    told = json.loads(maixmem("heap", str(saved), "--json"))
    assert told["version"] == 1 and told["gc"]["used"] == live.used
    assert "the same objects have the same owners" in maixmem(
        "heap", "--diff", str(saved), str(saved)
    )


SAVES = """
def working(wanted, n):
    line, other, third = bytearray(700), [1.5] * n, (n, 'mine')
    kept = {'a': line, 'b': [other], 'c': third, 'd': [n] * 9}
    import maixmem_snapshot
    maixmem_snapshot.save(wanted)
    return kept, other, third, [x for x in other if x]
"""


def test_a_board_writes_one_itself(tmp_path):
    """It has what the cable brings: the same objects in main, by the same names; and the values of
    the function that runs, which has more than a frame on the stack holds."""
    script, saved = tmp_path / "main.py", tmp_path / "heap.bin"
    script.write_text(f"{PROGRAM}{SAVES}\nworking({str(saved)!r}, 20)\n")
    env = {"MICROPYPATH": str(paths_kit.LIB)}
    subprocess.run([str(paths_kit.micropython()), str(script)], check=True, env=env)
    found = owners(view.view(store.load(saved)))
    assert found["main.store.frames[*]"].types == {"dict": 30}
    assert found["main.store.frames[*]['raw']"].nbytes > sum(range(50, 80))
    assert found["main.tracks[*].box"].objects == 12
    assert any(path.startswith("main.turns in numbers()") for path in found)
    assert any(re.fullmatch(r"locals: .* of working\(\).*", p) for p in found)
    assert found["this snapshot"].nbytes > 3000  # with its module
    assert not any("maixmem_snapshot." in path for path in found)
    assert "main.store.frames[*]" in maixmem("heap", str(saved))
    assert json.loads(maixmem("heap", str(saved), "--json"))["program"] == "running"


def test_why_an_object_lives(repl):
    graph = view.view(take.of_board(repl)).graph
    by_name = paths.way(graph, "store.frames")
    assert by_name.name == "main.store.frames" and "Store" in by_name.steps[-1]
    assert paths.way(graph, hex(by_name.address + 4)) == by_name
    with pytest.raises(store.SnapshotError, match=r"no object has this name. Next: .*main\.store"):
        paths.way(graph, "stor")


def test_why_an_object_lives_as_data(repl, tmp_path):
    saved = tmp_path / "a.heap"
    saved.write_bytes(store.packed(take.of_board(repl)))
    told = json.loads(maixmem("heap", str(saved), "--path", "store.frames", "--json"))
    assert (told["path"], told["type"]) == ("main.store.frames", "list")
    assert told["retained"] > told["bytes"] and told["referred_to_by"] == [
        "main.bound",
        "main.store",
    ]


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda data: b"MZ" + data, "does not begin as one"),
        (lambda data: data[: len(data) // 2], "it ends in the middle"),
        (lambda data: data.replace(b"maixmem-heap 1", b"maixmem-heap 2", 1), "a newer maixmem"),
        (lambda data: data.replace(b"word=8", b"ward=8", 1), "a record is wrong"),
    ],
)
def test_a_file_that_is_none(repl, tmp_path, damage, text):
    saved = tmp_path / "a.heap"
    saved.write_bytes(damage(store.packed(take.of_board(repl))))
    with pytest.raises(store.SnapshotError, match=text):
        store.load(saved)


def test_a_pulled_cable_is_an_error(tmp_path):
    with FakeBoard(tmp_path / "board", "modern") as board, connect(board.port) as repl:
        repl.check(PROGRAM)
        board.cut_after = 1400
        with pytest.raises(BoardError, match=r"connection broke|no answer"):
            take.of_board(repl)


def test_a_page_and_pictures(repl, tmp_path):
    saved, html, picture_file = tmp_path / "a.heap", tmp_path / "a.html", tmp_path / "a.svg"
    saved.write_bytes(store.packed(take.of_board(repl)))
    maixmem("heap", str(saved), "--html", str(html), "--svg", str(picture_file))
    page = html.read_text()
    assert (
        page.count("<svg") == 3
        and "main.store.frames[*]" in page
        and "http:" not in (page.replace("http://www.w3.org/2000/svg", ""))
    )
    ET.fromstring(picture_file.read_text())


def test_a_treemap_shows_bytes_as_area():
    boxes = [picture.Box(str(n), n, "#fff", "") for n in (600, 300, 200, 50, 40, 1)]
    places = {box.nbytes: place for box, place in picture.squarified(boxes, (0, 0, 400, 300))}
    total = sum(places)
    for nbytes, (x, y, wide, high) in places.items():
        assert wide * high == pytest.approx(120000 * nbytes / total)
        assert 0 <= x <= x + wide <= 400.001 and 0 <= y <= y + high <= 300.001
    assert max(max(w / h, h / w) for _, _, w, h in list(places.values())[:5]) < 3


ENDLESS = """
import time
history = []
while True:
    history.append(bytearray(50))
    time.sleep_ms(20)
"""


def test_without_a_timer_ctrl_c_ends_the_program(fake):
    with connect(fake.port) as repl:
        repl.soft_reset()
        running = take.of_running(repl, ENDLESS, [0.3])
        assert not running.armed
        found = owners(view.view(running.take(0.3, collect=True)))
    assert found["main.history[*]"].types["bytearray"] > 3


def test_a_program_that_ends_before_its_moment(fake):
    with connect(fake.port) as repl:
        running = take.of_running(repl, "print(1)", [5])
        with pytest.raises(BoardError, match=r"The program ended before. Next: "):
            running.take(5, collect=True)


class Speaker:
    """A port of a program that prints, and never is looked into."""

    in_waiting = 1

    def read(self, n):
        time.sleep(0.001)
        return b"frame\r\n"

    def write(self, data):
        pass


def test_a_program_that_only_prints_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(agent, "_TABLE", 0.2)
    repl = RawRepl("PORT", Speaker())
    with pytest.raises(BoardError, match="output without an answer"):
        Agent(repl).listen(0.2)


@pytest.mark.parametrize(("error", "said"), [
    (b"\x04MemoryError: no memory\r\n\x04>", "(MemoryError: no memory)"),
    (b"\x04\x04>", "no snapshot"),
])  # fmt: skip
def test_what_ends_the_program_is_its_own(error, said):
    with pytest.raises(BoardError) as e:
        Agent(RawRepl("PORT", Answers(error))).listen(40.0)
    assert said in str(e.value) and "3 KiB" not in str(e.value)


def test_a_chain_of_nodes_is_as_deep_as_it_is():
    """Each of a linked list holds the one behind it."""
    many = 1200
    chain = [("n",) + ("next",) * i for i in range(many)]
    graph = SimpleNamespace(
        sizes=dict.fromkeys(range(many), 16),
        kinds=dict.fromkeys(range(many), MAIN),
        chains=dict(enumerate(chain)),
        is_object=lambda a: True,
        type_of=lambda a: "node",
        retained_of=lambda members: 16 * len(members),
    )
    (owner,) = owner_tree.tree(graph)
    assert (owner.nbytes, owner.objects) == (16 * many, many)


class Answers:
    """A port with what a board answered."""

    in_waiting = 1

    def __init__(self, data):
        self.data = data

    def write(self, data):
        pass

    def read(self, most):
        data, self.data = self.data[:most], self.data[most:]
        return data


# not without uctypes: mem8 reads a file that this board has not
@pytest.mark.parametrize("without", [["mem_info"], ["O"], ["mem_info", "O"]])
def test_firmware_that_has_less_has_another_way(repl, without):
    whole = owners(view.view(take.of_board(repl)))
    less_firmware.hide(repl, without)
    found = owners(view.view(take.of_board(repl)))
    mine = {path: o.nbytes for path, o in found.items() if path.startswith("main.")}
    for path in filter(re.compile(r"main\.(store|tracks|count|zero)").match, whole):
        assert mine[path] == whole[path].nbytes and found[path].types == whole[path].types


@pytest.mark.parametrize(
    ("last", "text"),
    [
        ("ImportError: no module named 'machine'", "no uctypes, memorymap"),  # 6.3.0 to 8.2.7
        ("ImportError: cannot import name mem8", "reads memory"),
        ("ImportError: no module named 'binascii'", "which send bytes"),
        ("MemoryError: memory allocation failed, heap is locked", "heap_lock"),
        ("MemoryError: memory allocation failed, allocating 1024 bytes", "--after"),
    ],
)
def test_firmware_that_lacks_what_it_is_taken_with(last, text):
    said = f'OK\x04Traceback (most recent call last):\r\n  File "<stdin>"\r\n{last}\r\n\x04>'
    with pytest.raises(NoSnapshot, match=text) as caught:
        take.of_board(RawRepl("PORT", Answers(said.encode() * 3)))
    assert "Next: " in str(caught.value) and last in str(caught.value)


def test_what_a_script_prints_is_shown_without_the_signs_behind_it():
    shown = []
    repl = RawRepl("PORT", Answers(b"OK\x04\x04>OKone two\x04\x04>"))
    assert repl.run("pass", on_text=shown.append) == ("", "")
    assert repl.run("print('one two')", on_text=shown.append) == ("one two", "")
    assert "".join(shown) == "one two"
