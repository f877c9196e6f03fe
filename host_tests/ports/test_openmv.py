# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""OpenMV: its regions against umalloc's own books, the stand-in's and those of its C; models that
take turns."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
from types import SimpleNamespace

import maixmem
import maixmem_generic
import maixmem_openmv
import maixmem_report
import manager_kit as kit
import openmv_c
import paths
import pytest
from maixmem import KModelError, NoRoom
from maixmem_models import ModelManager

pytestmark = pytest.mark.usefixtures("plain_python")

sys.path.append(str(paths.SHIMS / "openmv"))
import omv_board  # noqa: E402
import omv_uma  # noqa: E402

FAST, DTCM, TRANSIENT = omv_uma.FAST, omv_uma.DTCM, omv_uma.TRANSIENT
PERSIST, MAYBE, CACHE, STRICT = omv_uma.PERSIST, omv_uma.MAYBE, omv_uma.CACHE, omv_uma.STRICT


@pytest.fixture(autouse=True)
def no_linux(monkeypatch):
    """This computer's own memory is hidden."""
    monkeypatch.setattr(maixmem_generic, "meminfo", dict)


@pytest.fixture
def camera(monkeypatch):
    """The board of the stand-in, switched on, and its modules."""
    monkeypatch.syspath_prepend(str(paths.SHIMS / "openmv" / "api"))
    monkeypatch.setitem(sys.modules, "Maix", None)
    omv_board.reset("small")
    omv_uma.faults.clear()
    omv_board.install(lambda m, name, to: monkeypatch.setattr(m, name, to, raising=False))
    monkeypatch.setattr(maixmem_report, "largest_block", lambda n: omv_board.heap.largest())
    maixmem.set_port(None)
    yield omv_board
    maixmem.set_port(None)
    omv_uma.faults.clear()
    for name in ("ml", "omv", "umalloc"):
        sys.modules.pop(name, None)


# --- umalloc: the stand-in and the C of the firmware ---


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    missing = openmv_c.why_not()
    if missing:
        pytest.skip(missing)
    return openmv_c.build(tmp_path_factory.mktemp("umalloc"))


def some_pools(r: random.Random) -> list[tuple[int, int]]:
    more = [FAST | DTCM, DTCM, FAST | DTCM | TRANSIENT]
    pools = [(r.randrange(20_000, 400_000) & ~3, 0)]
    return pools + [
        (r.randrange(10_000, 100_000) & ~3, r.choice(more)) for _ in range(r.randrange(4))
    ]


class Drive:
    """Random calls to allocators that have to answer alike: their blocks are in `live`."""

    def __init__(self, r: random.Random, *allocators) -> None:
        self.r, self.allocators = r, allocators
        self.live: list[list] = []

    def answers(self, call, blocks) -> list:
        found = []
        for allocator, block in zip(self.allocators, blocks):
            try:
                found.append(call(allocator, block))
            except (MemoryError, RuntimeError) as e:
                found.append(f"{type(e).__name__}: {e}")
        assert len({getattr(x, "at", x) for x in found}) == 1, found
        return found

    def step(self) -> None:
        r, none = self.r, [None] * len(self.allocators)
        kind = r.random()
        n = r.choice([r.randrange(1, 200), r.randrange(1, 5000), r.randrange(1, 60_000)])
        flags = r.choice([0, MAYBE]) | r.choice([0, 0, CACHE])
        if kind < 0.5 or not self.live:
            flags |= r.choice([0, FAST, DTCM, FAST | STRICT]) | r.choice([0, 0, PERSIST])
            to = r.choice([0, 0, 4, 8, 32, 4096])
            call = (lambda u, _: u.malign(n, to, flags)) if to else lambda u, _: u.malloc(n, flags)
            self.keep(self.answers(call, none))
            return
        blocks = self.live.pop(r.randrange(len(self.live)))
        if kind < 0.8:
            self.answers(lambda u, block: u.free(block), blocks)
            return
        n *= r.random() > 0.1
        found = self.answers(lambda u, block: u.realloc(block, n, flags), blocks)
        if not self.keep(found) and n:
            self.live.append(blocks)  # it could not grow, and is as it was

    def keep(self, blocks: list) -> bool:
        there = blocks[0] is not None and not isinstance(blocks[0], str)
        if there:
            self.live.append(blocks)
        return there


@pytest.mark.parametrize("seed", range(25))
def test_the_stand_in_keeps_the_books_of_the_c(library, seed: int) -> None:
    r = random.Random(seed)
    real = openmv_c.Umalloc(library)
    ours = omv_uma.Uma(real.word)
    pools = some_pools(r)
    for nbytes, flags in pools:
        ours.add(nbytes, flags, real.add(nbytes, flags))
    drive = Drive(r, real, ours)
    for _ in range(200):
        drive.step()
        for i in range(-1, len(pools)):
            assert real.stats(i) == ours.stats(i), i
    drive.answers(lambda u, _: u.transient_acquire(), [None, None])
    for u in (real, ours):
        u.collect()
        u.transient_release()
    for i in range(-1, len(pools)):
        assert real.stats(i) == ours.stats(i), i


@pytest.mark.parametrize(
    ("word", "free"),
    [(4, (119_468, 16_804, 191_652, 253_608)), (8, (116_368, 13_704, 188_552, 247_408))],
)
def test_the_stand_in_has_figures_that_the_c_gave(word: int, free: tuple) -> None:
    """A camera with two frames, one more picture, a model; of umalloc.c and tlsf.c of July 2026,
    compiled for 32 bits, as a board's are, and for 64."""
    u = omv_uma.Uma(word)
    u.add(200_000)
    u.add(60_000, FAST | DTCM)
    frames = u.malign(76_832, 32, PERSIST | MAYBE)
    small = u.malloc(1000)
    grows = u.malloc(333, CACHE)
    u.malloc(40_000, FAST)
    u.free(small)
    u.malign(150, 64)
    assert u.stats(0) == (2, 4, 1, 77336, free[0], 76832, 78184)
    assert u.stats(1) == (1, 1, 0, 40000, free[1], 0, 40000)
    assert u.stats() == (3, 5, 1, 117336, free[0] + free[1], 76832, 0)
    u.realloc(grows, 5000)
    u.free(frames)
    assert u.malign(153_600, 32, PERSIST | MAYBE) is None
    assert u.stats(0) == (2, 3, 0, 5152, free[2], 0, 81984)
    u.collect()
    assert u.stats() == (0, 2, 0, 0, free[3], 0, 0)


# --- the regions ---


def regions(monkeypatch, u) -> list:
    """What the port says of an allocator behind the module umalloc."""
    monkeypatch.setitem(sys.modules, "umalloc", SimpleNamespace(stats=u.stats))
    return [r for r in maixmem_openmv.Port().regions() if r.name != "gc"]


def books(u) -> list[tuple[int, int, int, int]]:
    """(total, used, free, peak) of each pool, not by stats()."""
    own = u.pools() if callable(u.pools) else [(p.size, p.free, 0, p.peak) for p in u.pools]
    return [(size, size - free, free, peak) for size, free, _, peak in own]


def states(u, r: random.Random):
    for nbytes, flags in some_pools(r):
        u.add(nbytes, flags)
    drive = Drive(r, u)
    for _ in range(r.randrange(200)):
        drive.step()


@pytest.mark.parametrize("seed", range(20))
def test_the_regions_are_the_books_of_the_c(library, monkeypatch, seed: int) -> None:
    u = openmv_c.Umalloc(library)
    states(u, random.Random(seed))
    found = [(r.total, r.used, r.free, r.peak) for r in regions(monkeypatch, u)]
    assert found == books(u) and len(found) >= 1


@pytest.mark.parametrize("seed", range(20))
def test_the_regions_are_the_books_of_the_stand_in(monkeypatch, seed: int) -> None:
    u = omv_uma.Uma()
    states(u, random.Random(seed))
    found = [(r.total, r.used, r.free, r.peak) for r in regions(monkeypatch, u)]
    assert found == books(u) and len(found) >= 1


def test_a_pool_of_no_size_and_no_pool(monkeypatch) -> None:
    u = omv_uma.Uma()
    assert regions(monkeypatch, u) == []
    u.add(1000)  # less than TLSF's own tables
    u.add(20_000)
    assert [r.total for r in regions(monkeypatch, u)] == [0, 20_000 - 3188 - 8]


def test_a_camera_with_two_frames_reports(camera) -> None:
    """The persistent bytes of the frames were counted twice."""
    camera.reset("OPENMV_AE3")
    frames = camera.FrameBuffer()
    assert frames.resize(2, 640 * 480 * 2) and not frames.resize(2, 1280 * 800 * 2)
    assert frames.resize(1, 640 * 480 * 2)
    assert maixmem_report.find_port() == "openmv"
    lines: list[str] = []
    found = maixmem.report(lines.append)
    rows = {r["name"]: r for r in found["regions"]}
    assert found["port"] == "openmv" and list(rows) == ["gc", "uma0", "uma1"]
    assert rows["uma0"]["total"] == (2512 << 10) - 3188 - 8
    assert rows["uma0"]["used"] == 640 * 480 * 2 + 32
    assert rows["uma0"]["peak"] == 2 * (640 * 480 * 2 + 32)
    assert rows["gc"]["total"] == 4 << 20 and "peak" not in rows["gc"]
    assert [x for x in lines if x.startswith("uma0: 1.1 MiB in use at most")], lines


def test_a_firmware_without_umalloc(camera, monkeypatch) -> None:
    for module in (None, SimpleNamespace()):
        monkeypatch.setitem(sys.modules, "umalloc", module)
        assert [r.name for r in maixmem_openmv.Port().regions()] == ["gc"]


# --- models ---


def model(arena: int, nbytes: int) -> bytes:
    import ml

    return ml.model(arena, nbytes)


def manager(*sizes: tuple[int, int], **options) -> ModelManager:
    """A manager that knows models of these (arena, bytes of its file) as a, b, c ..."""
    found = ModelManager(**options)
    for name, (arena, nbytes) in zip("abcdef", sizes):
        omv_board.files[f"/{name}.tflite"] = model(arena, nbytes)
        found.add(name, f"/{name}.tflite")
    return found


@pytest.fixture
def models(camera, monkeypatch):
    """The same, with what is a file on it as the operating system sees it."""
    import maixmem_openmv_ml

    def stat(path: str) -> tuple:
        if path not in camera.files:
            raise OSError(2)
        return (0,) * 6 + (len(camera.files[path]),)

    monkeypatch.setattr(maixmem_openmv_ml, "os", SimpleNamespace(stat=stat))
    heap = camera.heap  # which CPython's lists do not lie in
    monkeypatch.setattr(maixmem_openmv_ml, "one_piece", lambda n: n <= heap.largest())
    return camera


class Rig:
    share = "evict"
    faults = omv_uma.faults
    refusal = ("read", ValueError("Failed to allocate tensors"))
    other: tuple | None = None  # a picture

    def __init__(self, folder: str = "/") -> None:
        self.models: list = [(f"{folder}{name}.tflite", {}) for name in "abcd"]

    def start(self):
        import maixmem_openmv_ml

        omv_board.reset("small")
        self.other = None
        for i, (path, _) in enumerate(self.models):
            omv_board.files[path] = model(9000 + 5000 * i, 12_000 + 1000 * i)
        return maixmem_openmv_ml.Port()

    def fill(self, left: int) -> None:
        heap = omv_board.heap
        if self.other:
            heap.free(self.other)
        free = heap.total - heap.used
        self.other = heap.alloc(free - left) if free > left else None

    def live(self) -> int:
        import ml

        return ml.live() - (16 * self.other[2] if self.other else 0)


@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda check: check.__name__)
def test_what_every_port_does(models, check) -> None:
    check(Rig())


@pytest.mark.parametrize(
    ("folder", "errors"),
    [
        ("/", (OSError(5), KeyboardInterrupt())),
        # from /rom: a file that finds no memory in the GC heap would go to umalloc
        ("/rom/", (OSError(5), MemoryError("memory allocation failed"), KeyboardInterrupt())),
    ],
)
def test_every_fault_point(models, folder: str, errors: tuple) -> None:
    rig = Rig(folder)
    loads = kit.SCENARIOS[:4]  # nothing fails while one is released
    done = kit.sweep(rig, errors, kit.sizes(rig), scenarios=loads)
    assert len(done) == 4 and min(done.values()) >= 12 * len(errors), done


def test_models_of_which_two_do_not_fit_take_turns(models) -> None:
    m = manager((150_000, 40_000), (160_000, 30_000))
    before = omv_board.heap.used
    for _ in range(3):
        for name in "ab":
            net = m.use(name)
            assert net.ram in (150_512, 160_512) and net.predict([None]) == [[0.0]]
    m.release_all()
    assert omv_board.heap.used == before and m.port.name == "openmv"


def test_each_load_is_measured(models) -> None:
    m = manager((60_000, 20_000), (70_000, 10_000), keep=2)
    before = omv_board.heap.used
    for name in "ab":
        m.use(name)
    rows = {row["name"]: row for row in m.status(lambda line: None)["models"]}
    assert all(rows[name]["measured"] == rows[name]["predicted"] for name in "ab")
    assert sum(row["measured"] for row in rows.values()) == omv_board.heap.used - before


def test_two_that_fit_stay_and_a_third_finds_its_room_by_trying(models) -> None:
    m = manager((60_000, 20_000), (60_000, 20_000), (86_000, 20_000), keep=3)
    for name in "ab":
        m.use(name)
    assert kit.resident(m) == ["a", "b"]
    m.use("c")  # nothing is known of it: the firmware refuses, then one goes
    assert kit.resident(m) == ["b", "c"]
    m.use("a")
    assert kit.resident(m) == ["a", "c"]


def test_a_model_that_is_too_large_says_so_and_the_others_come_back(models) -> None:
    m = manager((60_000, 20_000), (400_000, 20_000))
    net = m.use("a")
    with pytest.raises(NoRoom) as e:
        m.use("b")
    assert "Failed to allocate tensors" in str(e.value) and "Next: load it before images" in str(
        e.value
    )
    assert (e.value.region, e.value.need) == ("gc", None) and m.state == "rolled_back"
    assert net.raw is not None


def test_a_model_that_was_loaded_before_is_refused_before_the_load(models) -> None:
    m = manager((150_000, 20_000))
    m.use("a")
    m.release("a")
    picture = omv_board.heap.alloc(120_000)
    omv_uma.faults.clear()
    with pytest.raises(NoRoom) as e:
        m.use("a")
    assert e.value.need == 150_512 and "in one piece" in str(e.value)
    assert "open" not in omv_uma.faults.names, "nothing was tried"
    omv_board.heap.free(picture)
    m.use("a")


def test_a_file_that_the_gc_heap_cannot_hold_goes_to_umalloc_and_comes_back(models) -> None:
    camera = omv_board
    filled = [camera.heap.alloc(100_000), camera.heap.alloc(120_000)]
    m = manager((90_000, 50_000), (20_000, 45_000))
    persistent = camera.uma.pools[0]
    with pytest.raises(NoRoom):
        m.use("a")
    assert persistent.persist == 0, "what the refused load read is gone"
    m.use("b")
    assert persistent.persist == 45_000
    m.release("b")
    assert persistent.persist == 0 and persistent.free == persistent.size
    camera.heap.free(filled.pop())
    m.use("a")


def test_files_that_are_no_models(models) -> None:
    m = manager((20_000, 20_000))
    m.add("none", "/none.tflite")
    with pytest.raises(OSError):
        m.use("none")
    omv_board.files["/bad.tflite"] = bytes(2000)
    m.add("bad", "/bad.tflite")
    with pytest.raises(KModelError, match="Unsupported model schema"):
        m.use("bad")
    m.use("a")


_PIECES = """
import gc, maixmem_openmv_ml as m, maixmem_report as r
held = [bytearray(900) for _ in range(150)]
for i in range(0, 120, 2):
    held[i] = None
gc.collect()
largest = r.largest_block(gc.mem_free())
before = gc.mem_free()
print(m.one_piece(largest - 64), m.one_piece(largest + 4096), m.one_piece(gc.mem_free()))
gc.collect()
print(before - gc.mem_free() < 256, largest < before - 20000)
"""


def test_a_piece_is_asked_for_and_given_back() -> None:
    interpreter = paths.micropython()
    if interpreter is None:
        pytest.skip("NO MICROPYTHON: python3 tools/dev.py test sets it up")
    done = subprocess.run(
        [str(interpreter), "-X", "heapsize=512k", "-c", _PIECES],
        env={"MICROPYPATH": str(paths.LIB)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["True", "False", "False", "True", "True"], done.stderr


@pytest.mark.parametrize("seed", range(20))
def test_what_would_load_bare_is_never_refused(models, seed: int) -> None:
    """Random heaps: with the manager a model loads wherever a Model() of the same heap does, its
    garbage collected."""
    import ml

    r = random.Random(seed)
    sizes = [(r.randrange(10_000, 200_000), r.randrange(1000, 60_000)) for _ in range(3)]
    m = manager(*sizes)
    pieces: list = []
    loads = 0
    for _ in range(60):
        if r.random() < 0.6:
            try:
                pieces.append(omv_board.heap.alloc(r.randrange(16, 40_000)))
            except MemoryError:
                pass
        elif pieces:
            omv_board.heap.free(pieces.pop(r.randrange(len(pieces))))
        name = r.choice("abc")
        m.release_all()
        try:
            bare = ml.Model(f"/{name}.tflite")
        except (MemoryError, ValueError):
            bare = None
        fits, bare = bare is not None, None
        gc.collect()
        try:
            m.use(name)
            assert fits, "the same heap"
            loads += 1
        except NoRoom:
            assert not fits, (name, sizes)
    assert loads
