# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models for several resolutions, on the stand-in; host_tests/real has the same on the vendor's
runtimes."""

from __future__ import annotations

import maixmem_rknn
import pytest
from maixmem import KModelError, NoRoom
from rknn_raw import Raw, rknn_model, small

LARGE = [[[1, 8, 8, 3], 0]], [[[1, 64], 0]]
LITTLE = [[[1, 4, 4, 3], 0]], [[[1, 16], 0]]
PAIRS = [
    ([[[1, n, n, 3], 0], [[1, m, m, 4], 0]], [[[1, n * n], 0], [[1, m * m], 0]])
    for n, m in ((8, 40), (40, 8), (4, 4))
]


def several(name="net", shapes=(LARGE, LITTLE), **more):
    """A model whose first shapes are the first of `shapes`."""
    return small(name, inputs=shapes[0][0], outputs=shapes[0][1], shapes=list(shapes), **more)


def state(model):
    return [(t.shape, t.nbytes, t.type, id(t._mem)) for t in model.inputs + model.outputs]


def test_shapes_can_be_set(boards):
    raw, p = boards()
    data = several()
    m = p.load(data)
    assert m.shapes() == [[(1, 8, 8, 3), (1, 4, 4, 3)]]
    live = raw.npu.live
    for (inputs, outputs), n in ((LITTLE, 48), (LARGE, 192), (LITTLE, 48)):
        m.set_shapes(inputs[0][0])
        assert (m.inputs[0].shape, m.inputs[0].type) == (tuple(inputs[0][0]), "uint8")
        (found,) = m.run(b"x" * n)
        assert len(found) == outputs[0][0][1]
        assert raw.npu.live == live  # one page each, whatever the shape
    with pytest.raises(
        ValueError, match=r"cannot be \(1, 5, 5, 3\); it was converted for \(1, 8, 8, 3\), "
    ):
        m.set_shapes((1, 5, 5, 3))
    with m:
        view = m.inputs[0].view()[1:]
        with pytest.raises(ValueError, match="still in use"):
            m.set_shapes((1, 8, 8, 3))
    del view
    p.unload(m)
    assert (raw.npu.live, p.used) == (0, 0)


def test_a_model_of_one_shape_says_so(boards):
    p = boards()[1]
    m = p.load(small("a"))
    assert m.shapes() == [[]]
    with pytest.raises(ValueError, match=r"converted for \(1, 4, 4, 4\) only"):
        m.set_shapes((1, 8, 8, 4))


def test_shapes_that_do_not_go_together_are_refused(boards):
    p = boards()[1]
    m = p.load(several(shapes=PAIRS))
    sets = list(zip(*m.shapes()))
    assert sets == [((1, n, n, 3), (1, k, k, 4)) for n, k in ((8, 40), (40, 8), (4, 4))]
    with pytest.raises(
        ValueError, match=r"do not go together; it was converted for \(1, 8, 8, 3\)"
    ):
        m.set_shapes(sets[0][0], sets[1][1])
    for shapes in sets:
        m.set_shapes(*shapes)
        assert tuple(t.shape for t in m.inputs) == shapes


def test_a_change_without_room_leaves_the_model_as_it_was(boards):
    """At every memory that it asks for; one of the shapes takes more than the first did."""
    raw, p = boards()
    m = p.load(several(shapes=PAIRS))
    sets = list(zip(*m.shapes()))
    before, live = state(m), raw.npu.live
    block = raw.npu.block
    for k in range(1, len(before) + 1):
        left = [k - 1]

        def short(kind, nbytes, left=left):
            left[0] -= 1
            return block(kind, nbytes) if left[0] >= 0 else None

        raw.npu.block = short
        with pytest.raises(NoRoom):
            m.set_shapes(*sets[1])
        raw.npu.block = block
        assert (state(m), raw.npu.live) == (before, live)
        assert len(m.run(bytes(192), bytes(6400))) == 2
    m.set_shapes(*sets[1])
    p.unload(m)
    assert (raw.npu.live, p.used) == (0, 0)


def test_what_several_shapes_take_is_never_more_than_it_says(boards):
    raw, p = boards()
    data = rknn_model.measured("shapes")
    for how in ({}, {"shared": False}, {"dup": True}):
        cost = p.inspect(data, **how)
        raw.npu.peak = raw.npu.live
        m = p.load(data, **how)
        twins = [p.dup(m)] if how.get("dup") else []
        assert raw.npu.live <= p.used
        if not twins:
            assert raw.npu.peak <= cost.peak["npu"]
        for shapes in list(zip(*m.shapes())) * 2:
            for model in [m] + twins:
                model.set_shapes(*shapes)
            assert raw.npu.live <= p.used
        for model in twins + [m]:
            p.unload(model)
        assert (raw.npu.live, p.used) == (0, 0)


@pytest.mark.parametrize("version", ["1.5.2", "1.6.0"])
def test_a_runtime_that_lists_shapes_otherwise_is_told_them_so(desk, version):
    """1.5.2 does, of pictures that were given as uint8: by every model on the same weights."""
    p = Raw(version=version).plug()
    m = p.load(rknn_model.measured("shapes"), dup=True)
    sides = (128, 96, 64)
    for n in sides + sides[::-1]:
        m.set_shapes((1, n, n, 3))
        assert m.shapes() == [[(1, k, k, 3) for k in sides]]
    listed = p.lib.ranges(m.ctx, 0)[1][0]
    assert listed == ((1, 3, 128, 128) if version == "1.5.2" else (1, 128, 128, 3))
    twin = p.dup(m)
    for n in sides:
        twin.set_shapes((1, n, n, 3))
        assert (twin.inputs[0].shape, m.inputs[0].shape) == ((1, n, n, 3), (1, 128, 128, 3))


def test_weights_of_several_shapes_are_not_shared(boards):
    raw, p = boards()
    first = p.load(several(), shared=False)
    with pytest.raises(
        KModelError, match=r"shares no weights of such models. Next: Model.set_shapes"
    ):
        p.load(several(), master=first)
    p.unload(first)
    assert raw.npu.live == 0


def test_an_older_runtime_refuses_by_name(desk):
    """Without a call to choose one the load would end the process."""
    raw = Raw(version="1.5.0")
    p = raw.plug()
    with pytest.raises(
        KModelError, match=r"has no rknn_set_input_shapes: update librknnrt to 1.5.2"
    ):
        p.load(several(version=2))
    assert raw.npu.live == 0


def test_a_file_says_whether_it_has_several():
    assert maixmem_rknn.read_file(several()).several is True
    assert maixmem_rknn.read_file(small("a")).several is False
    similar = small("'dynamic_shapes': {}")  # words in every newer file
    assert maixmem_rknn.read_file(similar).several is False
    assert maixmem_rknn.read_file(b"CYPTRKNN" + bytes(100)).several is None


def test_of_a_file_that_does_not_say_the_runtime_is_asked(boards, monkeypatch):
    """An encrypted one."""
    from maixmem_rknn import loading

    read = loading.read_file

    def silent(data):
        found = read(data)
        found.several = None
        return found

    monkeypatch.setattr(loading, "read_file", silent)
    p = boards()[1]
    m = p.load(several())
    m.set_shapes((1, 4, 4, 3))
    assert m.inputs[0].shape == (1, 4, 4, 3)
    assert p.load(small("a")).shapes() == [[]]
