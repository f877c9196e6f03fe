# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What load() takes of the C API besides memory: cores, SRAM, flushes, a file that is used where
it is. What came after 1.6.0 runs on the stand-in only."""

from __future__ import annotations

import pytest
from maixmem import KModelError, NoRoom
from maixmem_models import ModelManager
from maixmem_rknn import LockError, MissingCall, RknnError
from maixmem_rknn.api import FROM_DEVICE, TO_DEVICE, TRY_SRAM, UNCACHED, pages
from rknn_raw import Block, Raw, answer, small

DATA = small("a")
IN = bytes(range(64))


@pytest.fixture(name="newest")
def newest_fixture(desk):
    raw = Raw(version="2.3.2")
    return raw, raw.plug()


def context(raw, model):
    (found,) = [c for c in raw.runtime.contexts() if c.number == model.ctx]
    return found


# --- cores ---


def test_a_context_for_each_core_on_one_set_of_weights(boards):
    raw, p = boards()
    first = p.load(DATA, dup=True, cores=0)
    alone = raw.npu.live
    models = [first, p.dup(first, cores=1), p.dup(first, cores=2)]
    assert [context(raw, m).cores for m in models] == [1, 2, 4]
    assert raw.npu.live - alone < 2 * alone  # no weights twice
    assert [m.run(IN) for m in models] == [answer(DATA, IN)] * 3
    for m in reversed(models):
        p.unload(m)
    assert raw.npu.live == 0


@pytest.mark.parametrize("cores, mask", [((0, 1), 3), ([2, 1, 0], 7), (2, 4), (None, None)])
def test_which_cores(boards, cores, mask):
    raw, p = boards()
    assert context(raw, p.load(DATA, cores=cores)).cores == mask


@pytest.mark.parametrize("cores", ["0", -1, True, 16, (0, "1"), 7.0])
def test_cores_are_numbers(boards, cores):
    raw, p = boards()
    with pytest.raises(ValueError, match="give the number of a core"):
        p.load(DATA, cores=cores)
    assert raw.runtime.faults.count == 0


def test_cores_that_the_npu_has_not(boards):
    raw, p = boards()
    for how in ({}, {"dup": True}):
        with pytest.raises(RknnError, match=r"RK3588: one, \(0, 1\), \(0, 1, 2\)") as e:
            p.load(DATA, cores=(1, 2), **how)
        assert e.value.code == -1 and (raw.npu.live, p.models) == (0, [])
    first = p.load(DATA, dup=True)
    before = raw.npu.live
    with pytest.raises(RknnError):
        p.dup(first, cores=5)
    assert raw.npu.live == before


def test_a_manager_hands_cores_on(boards):
    raw, p = boards()
    m = ModelManager(p)
    m.add("a", DATA, cores=2)
    assert context(raw, m.use("a").raw).cores == 4


# --- by version ---


@pytest.mark.parametrize(
    "how, since",
    [({"sram": True}, "1.6.0"), ({"flush": False}, "2.0.0"), ({"zero_copy": True}, "2.2.0")],
)
@pytest.mark.parametrize("version", ["1.5.2", "1.6.0", "2.3.2"])
def test_what_a_runtime_would_take_without_a_word_is_refused(desk, how, since, version):
    p = Raw(version=version).plug()
    if version >= since:
        assert p.load(DATA, **how).run(IN) == answer(DATA, IN)
        return
    with pytest.raises(
        KModelError, match=f"does not know .*= *. Next: librknnrt {since} or newer"
    ):
        p.load(DATA, **how)


def test_the_mini_runtime_has_no_cores(boards):
    p = boards("rv1106")[1]
    assert "does not know cores=" in p.inspect(small("a", targets=("rv1106",)), cores=0).refuse


@pytest.mark.parametrize("how", [{"sram": "all"}, {"flush": "both"}])
def test_wrong_options_name_the_right_ones(boards, how):
    with pytest.raises(ValueError, match="sram is False or True or 'shared'; flush is True or"):
        boards()[1].load(DATA, **how)


@pytest.mark.parametrize("own", [{"dynamic": True}, {"sram": True}])
def test_dup_wants_weights_of_ours(boards, own):
    """The runtime would end the process in the duplicate."""
    raw, p = boards()
    with pytest.raises(ValueError, match="exclude each other"):
        p.load(DATA, dup=True, **own)
    assert raw.npu.live == 0


# --- SRAM ---


@pytest.mark.parametrize("sram, flag", [(True, 0x800), ("shared", 0x1800)])
def test_sram_is_the_runtimes_own_memory(newest, sram, flag):
    raw, p = newest
    model = p.load(DATA, sram=sram)
    assert context(raw, model).flag == flag and model.run(IN) == answer(DATA, IN)
    p.unload(model)
    assert raw.npu.live == 0


def test_memory_by_flags(newest, boards):
    raw, p = newest
    model = p.load(DATA)
    mem = p.create(model.ctx, 5000, TRY_SRAM | UNCACHED)
    assert mem.contents.size == 5000
    p.unload(model)
    assert raw.npu.live == 0
    p = boards()[1]
    with pytest.raises(MissingCall, match="no rknn_create_mem2"):
        p.create(p.load(DATA).ctx, 5000, TRY_SRAM)


# --- flushes ---


@pytest.mark.parametrize("flush", [True, False, "inputs", "outputs"])
def test_copies_are_right_whoever_flushes(newest, flush):
    raw, p = newest
    model = p.load(DATA, flush=flush, dup=True)
    twin = p.dup(model)
    for data in (IN, bytes(64)):
        assert model.run(data) == twin.run(data) == answer(DATA, data)


def test_who_takes_views_flushes(newest):
    p = newest[1]
    model = p.load(DATA, flush=False)
    with model:
        model.inputs[0].view()[:] = IN
        model.execute()
        assert [model.outputs[0].read()] != answer(DATA, IN)  # nobody told the NPU
        model.inputs[0].sync(TO_DEVICE)
        model.execute()
        view = model.outputs[0].view()
        assert [bytes(view)] != answer(DATA, IN)
        model.outputs[0].sync(FROM_DEVICE)
        assert [bytes(view)] == answer(DATA, IN)


# --- the file where it is ---


def test_a_file_that_is_used_where_it_is(newest):
    raw, p = newest
    copied = p.load(DATA)
    much = raw.npu.by_kind()["blob"]
    p.unload(copied)
    model = p.load(DATA, zero_copy=True)
    assert "blob" not in raw.npu.by_kind() and much > 0
    assert p.used >= raw.npu.live >= pages(len(DATA))
    assert model.run(IN) == answer(DATA, IN)
    p.unload(model)
    assert (raw.npu.live, p.used) == (0, 0)


def test_it_goes_with_its_model_when_models_are_switched(newest):
    raw, p = newest
    p.budget = 160_000
    m = ModelManager(p, margin=0)
    for name in "ab":
        m.add(name, small(name), zero_copy=True)
    for name in "abab":
        m.use(name).raw.run(IN)
        assert p.used >= raw.npu.live
    m.release_all()
    assert raw.npu.live == 0


def test_no_room_at_any_step(desk):
    """Boards of every size: a load comes through, or nothing stays."""
    ends = []
    for pages_there in range(60):
        raw = Raw(version="2.3.2", capacity=pages_there * 4096)
        p = raw.plug()
        try:
            p.unload(p.load(DATA, zero_copy=True))
            ends.append(True)
        except NoRoom:
            ends.append(False)
        assert (raw.npu.live, p.used) == (0, 0)
    assert ends == sorted(ends) and ends[-1] and not ends[0]


# --- the end ---


def test_models_in_each_others_memory_end_together(boards):
    """Neither may go before the other; close() takes both, or says whose views are in use."""
    raw, p = boards()
    a, b = p.load(DATA, shared=False), p.load(DATA, shared=False)
    for one, other in ((a, b), (b, a)):
        one.inputs[0].attach(Block.of(p.create(other.ctx, 4096)))
    for model in (a, b):
        with pytest.raises(ValueError, match="works in memory that was made with"):
            p.unload(model)
    with b:
        kept = b.outputs[0].view()[:8]
    with pytest.raises(ValueError, match="still in use"):
        p.close()
    assert a.run(IN) == b.run(IN) == answer(DATA, IN)
    del kept
    p.close()
    assert (raw.npu.live, p.used, p.models) == (0, 0, [])


# --- what users mistake ---


@pytest.mark.parametrize("source", [0x300000, None])
def test_what_is_no_model_is_said(boards, source):
    p = boards()[1]
    for call in (p.load, p.inspect):
        with pytest.raises(TypeError, match=r"give a path, or the bytes of a \.rknn file"):
            call(source)


def test_two_of_one_name_are_told_apart(boards):
    p = boards()[1]
    a, b = p.load(DATA), p.load(DATA)
    with a, pytest.raises(LockError, match="leave its with block before another model from mem"):
        b.run(IN)
