# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Firmware that lacks something: one function at a time, and all that early builds lack, taken out
of the stand-in."""

from __future__ import annotations

import importlib
import sys
import types
from collections import defaultdict

import kmodel_build
import maixmem
import paths
import pytest
from maixmem_k210_chip import TRANSIENT, chunk

UTILS = ("heap_free", "flash_read", "gc_heap_size")
KPU = (
    "load", "load_flash", "deinit", "forward", "init_yolo2", "run_yolo2", "get_output",
    "set_outputs", "set_layers",
    "netinfo", "fmap", "fmap_free", "classifier", "memtest",
)  # fmt: skip
IMAGE = ("copy", "draw_image", "to_grayscale", "pix_to_ai")
HANDLE = ("model_addr", "model_path", "net_arg")
ONE_BY_ONE = [("utils", n) for n in UTILS] + [("KPU", n) for n in KPU]
ONE_BY_ONE += [("Image", n) for n in IMAGE] + [("kpu_net", n) for n in HANDLE]
#: what v0.5.0-98 (M5StickV v5.1.2) lacks, an earlier one, and v0.4.0, which has no Maix.utils
EARLY = {
    "v0.5.0-98": [("utils", "heap_free"), ("utils", "flash_read")],
    "v0.5.0-9": [("utils", "heap_free"), ("utils", "flash_read")]
    + [("KPU", n) for n in ("load_flash", "set_outputs", "get_output", "classifier")],
    "v0.4.0": [
        ("Maix", "utils"),
        ("KPU", "load_flash"),
        ("KPU", "set_outputs"),
        ("KPU", "get_output"),
    ],
}
ADDRESSES = (0x300000, 0x400000)


@pytest.fixture
def board(monkeypatch):
    """Starts a board without what is told; the library is imported anew for it."""
    monkeypatch.syspath_prepend(str(paths.DEVICE))
    for name in [n for n in sys.modules if n.startswith("maixmem_k210") or n in ("uos", "uio")]:
        monkeypatch.delitem(sys.modules, name)
    k210_board = importlib.import_module("k210_board")
    layers = [("conv", 8), ("dequantize",)]
    data = bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())
    k210_board.reset("minimum", flash=dict.fromkeys(ADDRESSES, data), files={"/sd/m.kmodel": data})
    maixmem.set_port(None)
    places = {
        "Maix": importlib.import_module("Maix"),
        "utils": importlib.import_module("Maix").utils,
        "KPU": importlib.import_module("KPU"),
        "kpu_net": importlib.import_module("KPU").kpu_net,
        "Image": importlib.import_module("k210_image").Image,
    }

    def start(lacks):
        for place, name in lacks:
            monkeypatch.delattr(places[place], name)
        return len(data)

    yield start
    maixmem.set_port(None)
    for name in [n for n in sys.modules if n.startswith("maixmem_k210")]:
        del sys.modules[name]  # for good: monkeypatch brings back what was there before


def walk(nbytes: int) -> list[str]:
    """All that is said to be missing, by the device test's own walk."""
    test = importlib.import_module("test_k210_older")
    said = test.walk_memory() + test.walk_images()
    if not any("Image." in text or "attribute" in text for text in said):
        img = importlib.import_module("image").Image(size=(28, 28))
        img.pix_to_ai()
        said += test.walk_models(ADDRESSES, nbytes, img)
    return said


#: what takes the place of a function, so that nothing is missing
FALL_BACK = ("heap_free", "copy", "draw_image", "load_flash", "memtest", *HANDLE)


@pytest.mark.parametrize(("place", "name"), ONE_BY_ONE, ids=lambda x: x)
def test_one_function_missing(board, place: str, name: str) -> None:
    said = walk(board([(place, name)]))
    if name in FALL_BACK or name == "set_outputs":  # the walk's models are V3
        assert said == []
    else:
        assert said and all(name in text for text in said), said


@pytest.mark.parametrize("build", EARLY)
def test_early_builds(board, build: str) -> None:
    lacks = EARLY[build]
    said = walk(board(lacks))
    names = [name for _, name in lacks] + list(UTILS)
    assert all(any(name in text for name in names) for text in said), said
    report = maixmem.report(lambda line: None)
    assert [r["name"] for r in report["regions"]] == ["gc", "heap"]
    assert any("heap_free" in text and "Next:" in text for text in report["warnings"])
    assert maixmem.Watch().names == ("gc", "heap", "largest")


def test_nothing_missing(board) -> None:
    assert walk(board([])) == []
    assert "maixmem_k210_old" not in sys.modules


def test_the_heap_is_read_where_no_call_tells_it(board) -> None:
    board(EARLY["v0.5.0-98"])
    heap = maixmem.port().regions()[1]
    assert heap.free == sys.modules["k210_board"].heap.total_free() and heap.exact


@pytest.mark.parametrize("build", EARLY)
def test_where_nothing_tells_the_heap(board, build: str) -> None:
    board(EARLY[build])
    p = maixmem.port()
    type(p).heap, p.watched = None, ("gc",)
    try:
        heap = p.regions()[1]
        assert (heap.free, heap.largest, heap.exact) == (None, None, False)
        free = [0]
        p.sample(free)
        assert free[0] > 0
        with pytest.raises(NotImplementedError, match="heap_free"):
            p.free_bytes()
    finally:
        del type(p).heap


def test_models_at_addresses_that_cannot_be_read(board) -> None:
    nbytes = board(EARLY["v0.5.0-98"])
    from maixmem_models import ModelManager

    m = ModelManager()
    with pytest.raises(ValueError, match=r"nbytes is None.*Next: add\(.*file="):
        m.add("a", ADDRESSES[0])
    for wrong in (0, -1, True, "1"):
        with pytest.raises(ValueError, match="nbytes"):
            m.add("a", ADDRESSES[0], nbytes=wrong)
    m.add("a", ADDRESSES[0], nbytes=nbytes)
    m.add("b", ADDRESSES[1], file="/sd/m.kmodel")
    a, b = m.models["a"].cost, m.models["b"].cost
    assert (a.certainty, b.certainty) == ("bound", "exact") and a.need["heap"] < b.need["heap"]
    assert chunk(176) in b.chunks and chunk(192) not in b.chunks  # random programs: on M5StickV
    m.add("card", "/sd/m.kmodel")  # random programs: its header is read before the first block
    assert [c & TRANSIENT for c in m.models["card"].cost.chunks] == [0, 0, 0, TRANSIENT, 0]
    m.add("c", ADDRESSES[1], file="/sd/gone.kmodel")
    with pytest.raises(OSError, match="gone"):
        m.use("c")
    for name in "abab":
        m.use(name)
    heap = sys.modules["k210_board"].heap
    m.release("b")
    heap.fill_up()  # the flash driver's buffer does not fit: a bare load hangs
    block = heap.malloc(heap.heap_free() - 8192)
    with pytest.raises(maixmem.NoRoom):
        m.use("a")
    heap.free(block)
    m.use("a")


def test_v4_is_refused_where_the_text_of_the_firmware_is_not_to_be_trusted(board) -> None:
    board(EARLY["v0.5.0-98"])
    k210_board = sys.modules["k210_board"]
    data = bytes(kmodel_build.v4((28, 28, 3), [("conv", 8), ("dequantize",)]).to_bytes())
    k210_board.mount_file("/sd/v4.kmodel", data)
    from maixmem_models import ModelManager

    m = ModelManager()
    m.add("v4", "/sd/v4.kmodel")
    with pytest.raises(maixmem.KModelError, match="V4"):
        m.use("v4")


def test_names_of_a_net(board) -> None:
    nbytes = board([])
    from maixmem_models import ModelManager

    m = ModelManager()
    m.add("a", ADDRESSES[0], nbytes=nbytes)
    net = m.use("a")
    for name in ("foo", "deinit", "load", "face_encode", "memtest"):
        with pytest.raises(AttributeError, match=r"net 'a' has no .*Next:"):
            getattr(net, name)
    assert net.model_addr() == ADDRESSES[0]
    with pytest.raises(ValueError, match="float fmap"):  # the firmware's own words: it is KPU.fmap
        net.fmap(net.get_output(0), 0)
    sorter = net.classifier(2, 4)
    assert sorter.predict(None) == (0, 0.0)
    m.release("a")
    with pytest.raises(ValueError, match=r"2001.*Next:"):
        sorter.predict(None)
    m.use("a")
    with pytest.raises(ValueError, match="2001"):
        sorter.predict(None)


def test_deinit_that_follows_pointers_of_yolo(board, monkeypatch) -> None:
    """v0.5.0-9: freeing a net that never had init_yolo2() hangs there."""
    nbytes = board(EARLY["v0.5.0-9"])
    kpu = sys.modules["KPU"]
    deinit, init_yolo2, set_up = kpu.deinit, kpu.init_yolo2, []

    def hangs_without(net):
        assert any(net is x for x in set_up), "it hangs"
        return deinit(net)

    def recorded(net, *args):
        set_up.append(net)
        return init_yolo2(net, *args)

    monkeypatch.setattr(kpu, "deinit", hangs_without)
    monkeypatch.setattr(kpu, "init_yolo2", recorded)
    heap = sys.modules["k210_board"].heap
    m = importlib.import_module("maixmem_models").ModelManager()
    free = heap.total_free()
    m.add("plain", ADDRESSES[0], nbytes=nbytes)
    m.add("yolo", ADDRESSES[1], nbytes=nbytes, setup=lambda n: n.init_yolo2(0.5, 0.3, 1, (1, 1)))
    for name in ("plain", "yolo", "plain"):
        net = m.use(name)
    with pytest.raises(TypeError, match="an image is needed"):
        net.run("no picture")
    m.release_all()
    assert len(set_up) == 3 and heap.total_free() == free


class _Board:
    """A port whose card's driver takes `taken` bytes from malloc's top, as firmware has it."""

    def __init__(self, taken: int) -> None:
        top, end = 0x80400120, 0x80402000
        self.heap = types.SimpleNamespace(top=top, heap_free=0x80600000 - end)
        behind = top + chunk(taken)
        self.heap.words = defaultdict(int, {(behind + 8 - 0x80000000) // 4: (end - behind) | 1})

    def head_of(self, path: str) -> None: ...

    def free_bytes(self) -> None: ...


@pytest.mark.parametrize(("taken", "said"), [(2048, 2048), (512, 512), (64, 2048)])
def test_what_the_cards_driver_takes_is_asked_of_the_board(taken: int, said: int) -> None:
    from maixmem_k210_load import file_buffer

    assert file_buffer("/sd/m.kmodel", _Board(taken)) == said
    assert file_buffer("/flash/m.kmodel", _Board(taken)) == file_buffer("/flash/m.kmodel") > 16384
