# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The model manager never hangs the board: random models at the limit of room, and random programs
with other buffers."""

from __future__ import annotations

import random

import fresh
import k210_board as board
import KPU as kpu
import pytest
from kmodel_build import v3, v4
from Maix import utils
from maixmem import NoRoom
from maixmem_k210_kpu import Port
from maixmem_models import ModelManager


class QuietPort(Port):
    """Without the look at where the firmware lies."""

    def __init__(self) -> None:
        super().__init__()
        self.firmware = 0


@pytest.fixture(autouse=True)
def cheap_collections() -> None:
    fresh.quick_collections()


def any_model(r: random.Random, most: int):
    """A V3 or V4 model of any size; V4 with up to 300 nodes."""
    size = int(2 ** r.uniform(10, most))
    main_mem = int(2 ** r.uniform(10, most))
    if r.random() < 0.5:
        return v3(
            (28, 28, 1), [("conv", 16), ("raw", 2, size & ~3)], main_mem=max(main_mem, 12544)
        )
    nodes = [("raw", 0x0A, 64)] * r.randrange(0, 300)
    return v4(
        (28, 28, 1),
        [("conv", 16), *nodes, ("raw", 0x0A, size & ~3)],
        main_mem=max(main_mem, 12544),
    )


def plain(source) -> str:
    try:
        kpu.load(source)
    except board.DeviceCrash:
        return "hang"
    except ValueError:
        return "no"
    return "ok"


def managed(source) -> str:
    m = ModelManager(QuietPort())
    m.add("m", source)
    try:
        m.use("m")
    except board.DeviceCrash:
        return "hang"
    except (NoRoom, ValueError):
        return "no"
    return "ok"


def test_any_model_at_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    """What plain kpu.load does, use() does too, at any level of free memory; it never hangs, and
    lets nothing through that then fails. On builds with and without V4."""
    r = random.Random(4)
    tried = {"ok": 0, "no": 0}
    hangs = more = 0
    for _ in range(60):
        firmware = r.choice(sorted(board.FIRMWARES))
        content = any_model(r, 20)
        if not board.FIRMWARES[firmware].v4 and content.version == 4:
            firmware = "full"
        source = r.choice((0x300000, "/flash/m.kmodel", "/sd/m.kmodel"))
        files = {} if source == 0x300000 else {source: content}
        flash = {0x300000: content}
        board.reset(firmware, flash=flash, files=files)
        cost = QuietPort().inspect(source)
        room = utils.heap_free() + 524288 - cost.peak["heap"] + r.randrange(0, 4096, 16)
        for step in range(-9, 9):
            board.reset(firmware, room + 4096 * step, flash, files)
            bare = plain(source)
            board.reset(firmware, room + 4096 * step, flash, files)
            found = managed(source)
            about = (firmware, source, content.version, content.size, content.main_mem, step)
            assert found in tried and (found == "ok" or bare != "ok"), (about, bare, found)
            tried[found] += 1
            hangs += bare == "hang"
            more += (bare, found) == ("hang", "ok")
    assert tried["ok"] > 100 and tried["no"] > 100 and hangs > 100
    with capsys.disabled():
        print(
            f"\n60 models at the limit: use() came {tried['ok']} times and refused "
            f"{tried['no']}; kpu.load hung {hangs} times, use() never, and made {more} of them "
            "come through"
        )


def test_any_program(capsys: pytest.CaptureFixture[str]) -> None:
    """Uses, releases and buffers of others in any order: no hang, no lost byte, at most keep
    models."""
    r = random.Random(5)
    counts = {"ok": 0, "no": 0}
    for _ in range(60):
        flash = {0x300000 + (i << 20): any_model(r, 19) for i in range(5)}
        files = {"/flash/m.kmodel": any_model(r, 18)}
        board.reset(r.choice(("full", "openmv_v4")), r.randrange(300000, 2400000), flash, files)
        m = ModelManager(QuietPort(), keep=r.randrange(1, 6))
        for source in [*flash, *files]:
            m.add(source, source)
        others = []
        for _ in range(40):
            what = r.random()
            if what < 0.7:
                try:
                    m.use(r.choice([*flash, *files]))
                    counts["ok"] += 1
                except (NoRoom, ValueError):
                    counts["no"] += 1
            elif what < 0.8:
                m.release(r.choice([*flash, *files]))
            elif what < 0.9:
                others.append(board.heap.malloc(int(2 ** r.uniform(5, 19))))
            elif others:
                board.heap.free(others.pop(r.randrange(len(others))))
            assert (
                len(board.nets())
                == len([x for x in m.models.values() if x.handle is not None])
                <= m.keep
            )
        m.release_all()
        assert not board.nets() and board.kpu_live() == 0
    with capsys.disabled():
        print(
            f"\n60 random programs: use() came {counts['ok']} times, refused "
            f"{counts['no']}, never hung"
        )
