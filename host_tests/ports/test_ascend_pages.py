# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a request of device memory takes: by the manual's rule, on cards with HBM, DDR or both."""

from __future__ import annotations

import ascend_kit as kit
import maixmem_ascend
import pytest
from ascend_kit import MIB, acl, ascend, board
from maixmem import NoRoom
from maixmem_ascend.pages import device_bytes

PAGE = 2 * MIB
# (bytes asked for, by huge_first, huge_only, normal_only), reckoned by hand from the manual of
# aclrtMalloc: up to a multiple of 32 and 32 more; huge pages beyond 1 MiB, whole ones of 2 MiB
RULE = [
    (1, 64, PAGE, 64),
    (32, 64, PAGE, 64),
    (33, 96, PAGE, 96),
    (1000, 1056, PAGE, 1056),
    (4096, 4128, PAGE, 4128),
    (65536, 65568, PAGE, 65568),
    (MIB - 64, MIB - 32, PAGE, MIB - 32),
    (MIB - 32, MIB, PAGE, MIB),
    (MIB - 31, PAGE, PAGE, MIB + 32),
    (MIB, PAGE, PAGE, MIB + 32),
    (MIB + 1, PAGE, PAGE, MIB + 64),
    (PAGE - 64, PAGE, PAGE, PAGE - 32),
    (PAGE - 32, PAGE, PAGE, PAGE),
    (PAGE - 31, 2 * PAGE, 2 * PAGE, PAGE + 32),
    (PAGE, 2 * PAGE, 2 * PAGE, PAGE + 32),
    (PAGE + 1000, 2 * PAGE, 2 * PAGE, PAGE + 1056),
    (5 * MIB, 6 * MIB, 6 * MIB, 5 * MIB + 32),
    (6 * MIB, 8 * MIB, 8 * MIB, 6 * MIB + 32),
    (100 * MIB - 32, 100 * MIB, 100 * MIB, 100 * MIB),
    (100 * MIB, 102 * MIB, 102 * MIB, 100 * MIB + 32),
]
POLICIES = ("huge_first", "huge_only", "normal_only")


@pytest.mark.parametrize("row", RULE, ids=lambda row: row[0])
def test_the_rule_for_each_policy(row: tuple[int, ...]):
    nbytes, *taken = row
    assert [device_bytes(nbytes, policy) for policy in POLICIES] == taken
    for number, expected in enumerate(taken):  # the stand-in has its own rule, from the source
        board.reset()
        acl.init()
        acl.rt.set_device(0)
        assert acl.rt.malloc(nbytes, number)[1] == 0 and board.live() == expected


def test_where_huge_pages_run_out_normal_ones_are_taken():
    board.reset(normal=64 * MIB, huge=2 * MIB)
    board.add_model("a.om", work=5 * MIB, weight=2 * MIB + 1000)
    port = ascend.Port()
    cost = port.inspect("a.om")
    assert (cost.need, cost.certainty) == ({"ddr": 10485760}, "estimate")
    port.load("a.om")
    assert board.live() == 5 * MIB + 32 + 2 * MIB + 1056
    board.reset(normal=64 * MIB, huge=2 * MIB)
    board.add_model("a.om", work=5 * MIB, weight=2 * MIB + 1000)
    with pytest.raises(NoRoom):
        ascend.Port(policy="huge_only").load("a.om")
    with pytest.raises(ValueError, match="one of huge_first"):
        ascend.Port(policy="huge")


@pytest.mark.parametrize("has, version", [("hbm", (5, 0)), ("both", (8, 0)), ("ddr", (8, 0))])
def test_the_memory_that_the_card_has(has: str, version: tuple[int, int]):
    board.reset(has=has, version=version)
    board.add_model("a.om", work=5 * MIB, weight=2 * MIB + 1000)
    port = ascend.Port()
    region = "ddr" if has == "ddr" else "hbm"
    assert port.region == region and port.watched == (region,)
    assert [r.name for r in port.regions()] == {
        "hbm": ["hbm", "huge", "normal"],
        "both": ["hbm", "huge", "normal", "ddr"],
        "ddr": ["ddr", "huge", "normal"],
    }[has]
    before = port.room(region)
    model = port.load("a.om")
    assert before - port.room(region) == port.inspect("a.om").need[region] == 10485760
    port.unload(model)
    assert port.room(region) == before


def test_out_of_host_memory_is_not_device_memory(monkeypatch):
    kit.start()
    port = ascend.Port()
    monkeypatch.setattr(acl.rt, "malloc_host", lambda n: (0, 207001))
    port.memory = maixmem_ascend.Memory(acl)
    with pytest.raises(NoRoom, match="out of host memory") as e:
        port.memory.alloc("host", 100)
    assert e.value.region == "host"


def test_a_model_without_fixed_shapes(tmp_path, monkeypatch):
    """Its sizes cannot be asked: the runtime manages its memory, and what it took is learnt."""
    kit.start()
    path = tmp_path / "d.om"
    path.write_bytes(bytes(5000))
    board.add_model(str(path), work=3 * MIB, weight=5000)
    monkeypatch.setattr(acl.mdl, "query_size", lambda path: (0, 0, 500002))
    port = ascend.Port()
    with pytest.raises(maixmem_ascend.AclError, match="dynamic=True"):
        port.inspect(str(path))
    first = port.inspect(str(path), dynamic=True)
    assert (first.need, first.certainty) == ({"ddr": 5000}, "bound")
    model = port.load(str(path), dynamic=True)
    learnt = port.inspect(str(path), dynamic=True)
    assert (learnt.need, learnt.certainty) == ({"ddr": board.live()}, "estimate")
    port.unload(model)
    assert board.live() == 0
