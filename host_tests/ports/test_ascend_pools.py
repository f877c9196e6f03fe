# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Ascend buffers: allocation by kind, pools that are cut up, picture buffers, copies that are
checked first."""

from __future__ import annotations

import random
from typing import Any

import pytest
from linux_boards import shim
from maixmem import NoRoom, PoolEmpty, PoolError, set_port
from maixmem_arena import ASCEND_DVPP, ASCEND_RT, block_bytes, piece_bytes
from maixmem_ascend.images import JPEGD_310, JPEGE, PNGD, VPC_310, VPC_310P
from maixmem_pool import ImagePool

board, ascend = shim("ascend", "ascend_board", "maixmem_ascend")
import acl  # noqa: E402  the shim's folder is importable only now
from maixmem_ascend.memory import AclError, Buffer  # noqa: E402
from maixmem_ascend.pools import DevicePool, Pictures  # noqa: E402

MIB = 1 << 20


@pytest.fixture
def port():
    board.reset()
    return ascend.Port()


# --- one by one ---


@pytest.mark.parametrize(("kind", "taken"), [("device", 1056), ("dvpp", 2 * MIB), ("host", 0)])
def test_each_kind_goes_back_by_its_own_call(port, kind: str, taken: int):
    buf = port.memory.alloc(kind, 1000)
    assert board.live() == taken and buf.nbytes == 1000
    port.memory.free(buf)
    assert not board.blocks
    with pytest.raises(PoolError, match="free already"):
        port.memory.free(buf)


def test_wrong_requests(port):
    for kind, n in (("hbm", 64), ("device", 0), ("dvpp", -1)):
        with pytest.raises(ValueError, match="device, host or dvpp"):
            port.memory.alloc(kind, n)
    board.pages.update(normal=0, huge=0)
    for kind in ("device", "dvpp"):
        with pytest.raises(NoRoom, match="out of device memory"):
            port.memory.alloc(kind, 64)


def test_what_frees_a_block_of_another_kind_is_refused_and_the_port_never_does(port):
    buf = port.memory.alloc("dvpp", 64)
    board.faults.clear()
    assert acl.rt.free(buf.ptr) == 107018
    with pytest.raises(AclError, match="freed by another call than its own"):
        port.memory.free(Buffer("device", buf.ptr, 64))
    board.faults.clear()
    port.memory.free(buf)
    assert board.faults.names == ["media.dvpp_free"]


# --- copies ---


def test_copies_between_all_kinds(port):
    m = port.memory
    kinds = ("host", "device", "dvpp")
    for first in kinds:
        for second in kinds:
            src, dst = m.alloc(first, 100), m.alloc(second, 100)
            data = bytes(random.Random(first + second).randrange(256) for _ in range(100))
            m.write(src, data)
            m.copy(dst, src)
            assert m.read(dst) == data
            m.copy(src, dst, 10)
            assert m.read(dst, 10) == data[:10]


def test_copies_that_do_not_fit_are_refused_before_the_call(port):
    m = port.memory
    small, large = m.alloc("device", 64), m.alloc("device", 128)
    gone = m.alloc("device", 64)
    m.free(gone)
    board.faults.clear()
    for dst, src, n in (
        (small, large, None),
        (small, large, 65),
        (large, small, 65),
        (small, gone, 1),
        (gone, small, 1),
        (small, small, 0),
    ):
        with pytest.raises(ValueError, match="copy of"):
            m.copy(dst, src, n)
    assert board.faults.count == 0


@pytest.mark.parametrize("version", [(5, 0), (7, 0)])
def test_async_copies_are_aligned_and_never_host_to_host(port, version: tuple):
    board.toolkit = version
    m, stream = port.memory, acl.rt.create_stream()[0]
    pool = DevicePool(m, 4096)
    piece, other, host = pool.alloc(100), pool.alloc(100), m.alloc("host", 100)
    # what the runtime does with it
    assert acl.rt.memcpy_async(piece.ptr + 32, 68, other.ptr, 68, 3, stream) == 107008
    assert acl.rt.memcpy_async(piece.ptr, 68, other.ptr + 32, 68, 3, stream) == 107008
    late = acl.rt.memcpy_async(host.ptr, 100, host.ptr, 100, 0, stream)
    assert (late, acl.rt.synchronize_stream(stream)) == (
        (0, 507899) if version < (7, 0) else (207000, 0)
    )
    # what the port lets through
    board.faults.clear()
    for dst, src in (
        (Buffer("device", piece.ptr + 32, 64), other),
        (other, Buffer("device", piece.ptr + 32, 64)),
        (host, host),
    ):
        with pytest.raises(ValueError, match="copy_async"):
            m.copy_async(dst, src, stream, 64)
    assert board.faults.count == 0
    m.write(piece, bytes(range(100)))
    m.copy_async(other, piece, stream)
    m.copy_async(host, other, stream)
    assert m.read(other) == bytes(100)  # only queued
    assert acl.rt.synchronize_stream(stream) == 0
    assert m.read(other) == m.read(host) == bytes(range(100))


def test_on_the_board_itself_host_memory_is_device_memory_and_not_aligned():
    board.reset(on_device=True)
    port = ascend.Port()
    buf = port.memory.alloc("host", 100)
    assert buf.ptr % 64 and board.live("host") == 160
    pool = DevicePool(port.memory, block_bytes((100, 100), ASCEND_RT), "host")
    pieces = [pool.alloc(100), pool.alloc(100)]
    assert all(p.ptr % 64 == 0 for p in pieces)
    port.memory.write(pieces[0], bytes(range(100)))
    port.memory.copy(pieces[1], pieces[0])
    assert port.memory.read(pieces[1]) == bytes(range(100))


# --- a block that is cut up ---


@pytest.mark.parametrize(
    ("kind", "rule"), [("device", ASCEND_RT), ("dvpp", ASCEND_DVPP), ("host", ASCEND_RT)]
)
def test_pieces_keep_the_rule_and_cost_no_call(port, kind: str, rule: Any):
    pool = DevicePool(port.memory, 1 << 18, kind)
    before = board.live()
    board.faults.clear()
    rng, live = random.Random(3), []
    for _ in range(400):
        if live and rng.random() < 0.5:
            pool.free(live.pop(rng.randrange(len(live))))
        else:
            try:
                live.append(pool.alloc(rng.randint(1, 9000)))
            except NoRoom:
                pool.free(live.pop())
        pool.arena.check()
        ends = sorted((p.ptr, p.ptr + piece_bytes(p.nbytes, rule)) for p in live)
        assert all(a[1] <= b[0] for a, b in zip(ends, ends[1:]))
        assert all(start % rule[2] == 0 for start, _ in ends)
        assert all(board.block_at(p.ptr, p.nbytes) for p in live)
    assert board.faults.count == 0 and board.live() == before
    with pytest.raises(PoolError, match="pieces of the pool are out"):
        pool.close()
    for p in live:
        pool.free(p)
    pool.close()
    pool.close()
    assert not board.blocks


def test_the_pieces_of_the_manual(port):
    assert block_bytes((1, 33, 64, 1000), ASCEND_RT) == 1376
    pool = DevicePool(port.memory, 1376)
    pieces = [pool.alloc(n) for n in (1000, 64, 33, 1)]
    assert [p.ptr % 64 for p in pieces] == [0] * 4 and pool.arena.largest == 0


def test_pieces_go_back_to_their_pool_only(port):
    pool, other = DevicePool(port.memory, 4096), DevicePool(port.memory, 4096)
    piece = pool.alloc(100)
    for wrong in (
        lambda: other.free(piece),
        lambda: port.memory.free(piece),
        lambda: pool.free(Buffer("device", piece.ptr, 100)),
    ):
        with pytest.raises(PoolError):
            wrong()
    pool.free(piece)
    with pytest.raises(PoolError, match="free already"):
        pool.free(piece)


def test_a_pool_that_cannot_be_had_leaves_nothing(port):
    board.faults.clear()
    board.faults.fail(1, 207001)
    with pytest.raises(NoRoom):
        DevicePool(port.memory, 4096)
    board.faults.clear()
    board.faults.fail(1, 207001)
    with pytest.raises(NoRoom):
        Pictures(port.memory, 64, 64, "yuv420sp", rule=VPC_310)
    assert not board.blocks


# --- pictures ---


PICTURES = (
    (JPEGD_310, 1920, 1080, "yuv420sp", 3133440, (3133440, 6267008, 9400576, 12534144)),
    (VPC_310, 300, 301, "yuv420sp", 137712, None),
    (VPC_310, 300, 301, "rgb888", 275424, None),
    (VPC_310, 300, 301, "argb8888", 367232, None),
    (VPC_310, 300, 301, "yuv422packed", 183616, None),
    (VPC_310, 1920, 1080, "yuv420sp", 3110400, None),
    (VPC_310, 224, 224, "yuv420sp", 75264, None),
    (VPC_310, 300, 301, "yuv400", 137712, None),
    (VPC_310P, 300, 301, "yuv400", 91808, None),
    (JPEGE, 1920, 1080, "yuv420sp", 3133440, None),
    (PNGD, 100, 100, "rgb888", 384 * 112, None),
)


@pytest.mark.parametrize("case", PICTURES, ids=lambda c: f"{c[1]}x{c[2]} {c[3]}")
def test_pictures_lie_as_the_unit_wants_them(port, case):
    rule, w, h, format, nbytes, pools = case
    for count in (1, 2, 3, 4):
        frames = Pictures(port.memory, w, h, format, rule=rule, count=count)
        block = next(iter(board.blocks.values()))
        out = [frames.acquire() for _ in range(count)]
        assert {p.nbytes for p in out} == {nbytes} and len({p.ptr for p in out}) == count
        assert all(p.ptr % 128 == 0 and board.block_at(p.ptr, p.nbytes) is block for p in out)
        starts = sorted(p.ptr for p in out)
        assert all(
            b - a
            >= max(nbytes + 8 if rule is JPEGD_310 else nbytes, piece_bytes(nbytes, ASCEND_DVPP))
            for a, b in zip(starts, starts[1:])
        )
        if pools:
            assert block.asked == pools[count - 1]
        with pytest.raises(PoolEmpty):
            frames.acquire()
        with pytest.raises(PoolError):
            frames.close()
        for p in out:
            frames.release(p)
        frames.close()
        frames.close()
        assert not board.blocks
    with pytest.raises(ValueError, match="1 or more"):
        Pictures(port.memory, w, h, format, rule=rule, count=0)


def test_small_pictures_are_dear_one_by_one_and_cheap_in_a_pool(port):
    singles = [port.new_image(224, 224) for _ in range(8)]
    assert board.live("dvpp") == 8 * 2 * MIB and (singles[0].width(), singles[0].height()) == (
        224,
        224,
    )
    for p in singles:
        port.memory.free(p)
    frames = Pictures(port.memory, 224, 224, "yuv420sp", rule=port.rules["vpc"], count=8)
    assert board.live("dvpp") == 2 * MIB and frames.strides == (224, 224)


def test_image_pool_and_copy_into_work_on_this_port(port):
    set_port(port)
    try:
        pool = ImagePool(64, 64, "yuv420sp", 2)
        src = port.new_image(64, 64)
        port.memory.write(src, bytes([7]) * src.nbytes)
        img = pool.take(src)
        assert port.memory.read(img) == bytes([7]) * (64 * 64 * 3 // 2)
        pool.release(img)
    finally:
        set_port(None)


@pytest.mark.parametrize(
    ("soc", "yuv400"),
    [
        ("Ascend310", 137712),
        ("Ascend310P3", 91808),
        ("Ascend310B4", 91808),
        ("Ascend910A", 137712),
        ("new", 137712),
    ],
)
def test_the_rules_follow_the_generation(monkeypatch, soc: str, yuv400: int):
    board.reset()
    monkeypatch.setattr(acl, "get_soc_name", lambda: soc)
    assert ascend.Port().new_image(300, 301, "yuv400").nbytes == yuv400


# --- closed pools, wrong reads, numbers ---


def test_a_closed_pool_hands_nothing_out(port):
    pool = DevicePool(port.memory, 1 << 20)
    frames = Pictures(port.memory, 64, 64, "yuv420sp", rule=VPC_310)
    pool.close()
    frames.close()
    with pytest.raises(PoolError, match=r"alloc\(1000\): this pool is closed"):
        pool.alloc(1000)
    with pytest.raises(PoolError, match="these pictures are closed"):
        frames.acquire()
    pool.close()
    frames.close()
    assert not board.blocks


@pytest.mark.parametrize("kind", ["host", "device"])
def test_reading_stays_inside_and_ends_with_the_buffer(port, kind: str):
    buf = port.memory.alloc(kind, 64)
    port.memory.write(buf, bytes(range(64)))
    assert port.memory.read(buf, 3) == bytes(range(3)) and len(port.memory.read(buf)) == 64
    for n in (65, 4096, 0, -1):
        with pytest.raises(ValueError, match=f"read of {n} bytes from a buffer of 64"):
            port.memory.read(buf, n)
    port.memory.free(buf)
    with pytest.raises(ValueError, match="64, freed"):
        port.memory.read(buf)


def test_no_room_names_what_was_asked_and_what_is_free(port):
    free = port.room("ddr")
    with pytest.raises(NoRoom) as e:
        port.memory.alloc("dvpp", 1 << 40)
    assert (e.value.need, e.value.free) == (1 << 40, free) and str(free) in str(e.value)
