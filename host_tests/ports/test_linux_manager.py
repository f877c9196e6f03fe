# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The model manager on MaixCAM, MaixCAM2 and Ascend: the same checks and the same fault sweep as
on every port."""

from __future__ import annotations

import time
from pathlib import Path

import fresh
import manager_kit as kit
import pytest
from cvimodel_build import cvimodel, program
from linux_boards import shim
from maixmem_models import ModelManager

maixcam_board, maixcam = shim("maixcam", "maixcam_board", "maixmem_maixcam")
ascend_board, ascend = shim("ascend", "ascend_board", "maixmem_ascend")

EXCEPTIONS = (
    MemoryError("no memory"),
    ValueError("no"),
    OSError(5, "io"),
    RuntimeError("err"),
    KeyboardInterrupt(),
)


class Cam:
    """A MaixCAM with four models of their own sizes; nothing shared, so that sizes add up."""

    share = "arena"
    faults = maixcam_board.faults
    refusal = ("cmm alloc weight", 1)
    kind = "maixcam"
    other: int | None = None  # a camera's buffer

    def __init__(self, folder: Path) -> None:
        self.models = []
        for i in range(4):
            path = folder / f"{i}.cvimodel"
            io = [("in", "UINT8", (1, 3, 10, 10 + i))]
            path.write_bytes(
                cvimodel([("weight", 5000 + 1000 * i)], [program(private=64, inputs=io)])
            )
            self.models.append((str(path), {"kind": "YOLOv5"} if i == 2 else {}))

    def start(self):
        maixcam_board.reset(self.kind)
        self.other = None
        return maixcam.Port(maixcam_board.read_text)

    def fill(self, left: int) -> None:
        cmm = maixcam_board.cmm
        if self.other:
            cmm.free(self.other)
        self.other = cmm.alloc(max(0, cmm.total - cmm.used() - left), "camera")

    def live(self) -> int:
        cmm = maixcam_board.cmm
        return cmm.live() - (cmm.size(self.other) if self.other else 0)

    @staticmethod
    def setup(net) -> None:
        if net.name == "c":
            net.detect(None)
        else:
            net.forward({})


class Cam2(Cam):
    """A MaixCAM2 with four axmodels."""

    share = "evict"
    refusal = ("cmm alloc model", 1)
    kind = "maixcam2"

    def __init__(self, folder: Path) -> None:
        self.models = []
        for i in range(4):
            path = folder / f"{i}.axmodel"
            path.write_bytes(bytes(4096 * (i + 1)))
            self.models.append(
                (str(path), {"kind": "Classifier"} if i == 2 else {"dual_buff": i == 1})
            )


class Ascend:
    """An Ascend 310 whose models share WORK bytes of work memory; live() is their weights."""

    share = "arena"
    faults = ascend_board.faults
    refusal = ("rt.malloc", ascend_board.OUT_OF_MEMORY)
    other = 0  # bytes of somebody else's
    models = [(f"{i}.om", {}) for i in range(4)]
    WORK = 4064

    def __init__(self, folder: Path) -> None:
        pass

    def start(self):
        ascend_board.reset()
        self.other = 0
        for i, (path, _) in enumerate(self.models):
            ascend_board.add_model(path, self.WORK - 32 * i, 10000 + 5000 * i)
        port = ascend.Port()
        port.frames = [port.memory.alloc("dvpp", 64) for _ in range(2)]
        return port

    @staticmethod
    def setup(net) -> None:
        frames = net.port.frames
        net.run(frames[:1], frames[1:])

    def fill(self, left: int) -> None:
        pages = ascend_board.pages
        pages["normal"] += self.other
        self.other = max(0, pages["normal"] - left)
        pages["normal"] -= self.other

    def live(self) -> int:
        blocks = [b for b in ascend_board.blocks.values() if b.kind == "device"]
        weights = sum(b.taken for b in blocks if not b.work)
        assert sum(b.work for b in blocks) < 2, "more than one block of work memory"
        return weights or sum(b.taken for b in blocks)  # work memory alone would be a leak


RIGS = (Cam, Cam2, Ascend)


@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("rig", RIGS)
def test_what_every_port_does(rig, check, tmp_path: Path):
    check(rig(tmp_path))


@pytest.mark.parametrize("rig", RIGS)
def test_what_the_loads_took_is_what_the_board_counts(rig, tmp_path: Path):
    """Side by side: what models share is measured with the load that took it, and only there."""
    board = rig(tmp_path)
    m = kit.manager(board, keep=4)
    for name in kit.NAMES:
        m.use(name)
    rows = m.status(lambda line: None)["models"]
    taken = ascend_board.live("device") if rig is Ascend else board.live()
    assert sum([row["measured"] for row in rows]) == taken


def test_where_the_carve_out_cannot_be_read_nothing_was_measured(tmp_path: Path, monkeypatch):
    m = kit.manager(Cam(tmp_path))
    monkeypatch.setattr(maixcam.port.Port, "_free", lambda self, name: None)
    m.use("a")
    lines: list[str] = []
    row = m.status(lines.append)["models"][0]
    assert (row["name"], row["measured"]) == ("a", None) and "measured          -" in lines[0]


@pytest.fixture
def quick_collections():
    fresh.quick_collections()


@pytest.mark.usefixtures("quick_collections")
@pytest.mark.parametrize("rig", RIGS)
def test_every_fault_point_of_a_switch(rig, tmp_path: Path, capsys):
    start = time.perf_counter()
    board = rig(tmp_path)
    size = kit.sizes(board)
    scenarios = [
        s for s in kit.SCENARIOS if s[3][0] != "-" or rig is Ascend
    ]  # dropping a reference cannot fail
    done = kit.sweep(board, EXCEPTIONS, size, rig.setup, scenarios)
    with capsys.disabled():
        print(
            f"\n{rig.__name__}: {sum(done.values())} failures injected, 100 % of the points: "
            f"{done}",
            end=" ",
        )
        print(f"{time.perf_counter() - start:.1f} s")


def test_the_manager_keeps_models_until_there_is_no_room(tmp_path: Path):
    board = Cam(tmp_path)
    m = ModelManager(board.start(), margin=0)
    for name, (source, how) in zip(kit.NAMES, board.models):
        m.add(name, source, **how)
        m.use(name)
    assert kit.resident(m) == list(kit.NAMES) and m.switches == 4
    maixcam_board.cmm.total = board.live() - 1
    m.release("d")
    m.use("d")  # has to wait for the oldest to go
    assert kit.resident(m) == ["b", "c", "d"]
