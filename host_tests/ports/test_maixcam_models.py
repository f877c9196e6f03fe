# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models on MaixCAM: the stand-in keeps the real rules, and the port does not break them."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from maixcam_kit import (
    BIG_FIRST,
    MIB,
    SMALL_FIRST,
    SMALL_NEED,
    SMALL_SHARED,
    board,
    err,
    maixcam,
    nn,
    pair,
    port,
    writer,
)
from maixmem import KModelError, NoRoom
from maixmem_models import ModelManager


@pytest.fixture(autouse=True)
def fresh_board() -> None:
    board.reset()


@pytest.fixture
def files(tmp_path: Path):
    return writer(tmp_path)


# --- models: the stand-in ---


def test_there_is_no_unload_and_no_second_load(files):
    path = files("a.cvimodel", 1000)
    net = nn.NN(path)
    assert not hasattr(net, "unload")
    assert net.load(path) == err.Err.ERR_NOT_PERMIT and board.cmm.live() == 1300
    assert nn.NN().load(path) == err.Err.ERR_NONE


def test_memory_goes_with_the_last_reference_only(files):
    net = nn.NN(files("a.cvimodel", 1000))
    also = [net]
    del net
    assert board.cmm.live() == 1300
    also.clear()
    assert board.cmm.live() == 0


def test_wrappers_take_two_sets_of_buffers_unless_told_otherwise(files):
    path = files("a.cvimodel", 1000)
    for make, io in ((nn.NN, 300), (nn.YOLOv5, 600), (nn.YOLO11, 600), (nn.Classifier, 600)):
        net = make(path)
        assert board.cmm.live() == 1000 + io
        del net
    net = nn.YOLOv8(path, dual_buff=False)
    assert board.cmm.live() == 1300
    del net
    net = nn.NN(path, True)
    assert board.cmm.live() == 1600 and net.loaded()


def test_no_room_is_an_exception_of_the_constructor_and_leaves_nothing(files):
    board.reset(cmm=5000)
    with pytest.raises(RuntimeError):
        nn.NN(files("a.cvimodel", 6000))
    gc.collect()
    assert board.cmm.live() == 0
    assert nn.NN().load(files("a.cvimodel", 6000)) == err.Err.ERR_NO_MEM


def test_the_order_of_loading_shows_on_maixcam(files):
    big, small = pair(files)
    for first, second, live in ((big, small, BIG_FIRST), (small, big, SMALL_FIRST)):
        board.reset()
        nets = [nn.NN(first), nn.NN(second)]
        assert board.cmm.live() == live
        del nets
        assert board.cmm.live() == 0 and not board.shared


def test_a_model_for_another_chip_or_board_is_refused(files):
    with pytest.raises(RuntimeError):
        nn.NN(files("a.cvimodel", 1000, chip="cv183x"))
    with pytest.raises(RuntimeError):
        nn.NN("/nowhere/a.cvimodel")
    path = files("b.cvimodel", 1000)
    for chip in ("maixcam2", "linux"):
        board.reset(chip)
        with pytest.raises(RuntimeError):
            nn.NN(path)
    assert board.cmm.live() == 0


def test_the_runtime_dies_of_a_file_that_the_port_refuses(files):
    path = files("a.cvimodel", 1000)
    data = bytearray(Path(path).read_bytes())
    data[48:52] = b"\xff\xff\xff\x00"
    Path(path).write_bytes(data)
    with pytest.raises(board.DeviceCrash):
        nn.NN(path)
    with pytest.raises(KModelError):
        port().load(path)


# --- models: the port ---


def test_the_cost_is_what_loading_takes(files):
    for kind in ("NN", "YOLOv5", "Classifier"):
        for dual in (None, False, True):
            p = port()
            cost = p.inspect(files("a.cvimodel", 4096, 777), kind=kind, dual_buff=dual)
            model = p.load(cost.source, kind=kind, dual_buff=dual)
            assert cost.need == cost.peak == {"cmm": model.taken} == {"cmm": board.cmm.live()}
            assert cost.certainty == "exact" and cost.refuse is None
            p.unload(model)
            assert board.cmm.live() == 0


def test_the_port_loads_the_largest_activations_first(files):
    big, small = pair(files)
    p = port()
    assert p.order([small, big]) == [big, small]
    models = [p.load(path) for path in p.order([small, big])]
    assert board.cmm.live() == BIG_FIRST
    assert [m.taken for m in models] == [
        SMALL_FIRST - SMALL_NEED,
        BIG_FIRST - SMALL_FIRST + SMALL_NEED,
    ]
    for m in models:
        p.unload(m)
    assert board.cmm.live() == 0


def test_activations_that_are_there_are_not_counted_twice(files):
    """The second model fits only because its activations share the first one's block."""
    big, small = pair(files)
    board.reset(cmm=BIG_FIRST)
    p = port()
    models = [p.load(big), p.load(small)]
    assert p.room("cmm") == 0
    for m in models:
        p.unload(m)
    board.reset(cmm=BIG_FIRST)
    p = port()
    first = p.load(small)
    with pytest.raises(NoRoom) as e:
        p.load(big)
    assert e.value.region == "cmm" and e.value.need - e.value.free == SMALL_SHARED
    assert board.cmm.live() == first.taken == SMALL_NEED


def test_the_manager_counts_on_the_shared_activations(files):
    """Both stay in exactly the measured bytes; the other way round the first has to go."""
    big, small = pair(files)
    for order, resident in (((big, small), [big, small]), ((small, big), [big])):
        board.reset(cmm=BIG_FIRST)
        m = ModelManager(port(), margin=0)
        for path in order:
            m.add(path, path)
            m.use(path)
        assert sorted(x.name for x in m.models.values() if x.ready) == sorted(resident)
        m.release_all()
        assert board.cmm.live() == 0


def test_a_block_that_goes_is_not_counted_on(files):
    p = port()
    big, small = (p.load(path) for path in pair(files))
    cost = p.inspect(small.source)
    board.cmm.total = (
        board.cmm.used() + 1_200_000
    )  # room for the weights of one more, not for activations
    assert p.check_fit(cost) is None
    board.cmm.total -= 200_000
    assert p.check_fit(cost).need == SMALL_NEED - SMALL_SHARED
    short = p.check_fit(p.inspect(big.source), 0, [small])
    assert (
        short.need == SMALL_FIRST - SMALL_NEED - 3 * MIB and short.free == 1_000_000 + SMALL_NEED
    )
    assert p.check_fit(p.inspect(big.source), 0, [big, small]) is None


def test_what_this_port_does_not_have(files):
    with pytest.raises(NotImplementedError, match="this platform cannot"):
        port().read_flash(0, 16)
    assert port().room("npu") == 0
    model = port().load(files("a.cvimodel", 1000))
    assert not hasattr(model, "_private") and not hasattr(model, "unload")


def test_no_configs_to_read_is_no_warning():
    board.reset("maixcam2")

    def closed(path):
        if path == "/boot/configs":
            raise OSError(13, "Permission denied")
        return board.read_text(path)

    assert maixcam.Port(closed).warnings() == []


def test_no_room_is_said_before_the_runtime_is_asked(files):
    board.reset(cmm=5000, cmm_used=1000)
    p = port()
    board.faults.clear()
    with pytest.raises(NoRoom) as e:
        p.load(files("a.cvimodel", 6000))
    assert (e.value.region, e.value.need, e.value.free) == ("cmm", 6300, 4000)
    assert "6300" in str(e.value) and "4000" in str(e.value) and "Next:" in str(e.value)
    assert not [name for name in board.faults.names if "cmm alloc" in name]


def test_where_the_carve_out_cannot_be_read_the_runtime_decides(files):
    board.reset(debugfs_open=False, cmm=5000)
    p = port()
    with pytest.raises(NoRoom, match=r"needs 6300 bytes of cmm.*cannot be read.*No memory") as e:
        p.load(files("a.cvimodel", 6000))
    assert (e.value.region, e.value.need, e.value.free) == ("cmm", 6300, None)
    assert board.cmm.live() == 0
    model = p.load(files("b.cvimodel", 4000))
    assert model.taken is None
    p.unload(model)
    assert board.cmm.live() == 0


def test_who_keeps_the_model_does_not_keep_its_memory(files):
    p = port()
    model = p.load(files("a.cvimodel", 1000))
    kept = [model, model.cost]
    assert (
        model.loaded()
        and model.inputs_info()[0].shape == (1, 3, 10, 10)
        and model.forward({}) == {}
    )
    p.unload(model)
    assert board.cmm.live() == 0 and kept
    with pytest.raises(RuntimeError, match="was unloaded"):
        model.forward({})
    p.unload(model)


def test_a_stray_reference_is_seen_and_the_model_goes_on_working(files):
    p = port()
    model = p.load(files("a.cvimodel", 6000, 1000))
    stray = [model._net]
    for _ in range(2):
        with pytest.raises(
            RuntimeError,
            match=r"a\.cvimodel: not freed, something else refers to its maix\.nn object",
        ):
            p.unload(model)
        assert board.cmm.live() == 7300 and model.loaded() and p._shared.blocks == [[1000, 1]]
    stray.clear()
    p.unload(model)
    assert board.cmm.live() == 0 and p._shared.blocks == []


def test_a_model_in_a_cycle_goes_too(files):
    p = port()
    model = p.load(files("a.cvimodel", 1000))
    cycle = {"net": model._net}
    cycle["self"] = cycle
    del cycle
    p.unload(model)
    assert board.cmm.live() == 0


@pytest.mark.parametrize(
    ("more", "text"),
    [({"chip": "cv183x"}, "built for cv183x"), ({"version": (1, 0)}, "built for cv183x")],
)
def test_a_model_that_can_never_run_is_refused_before_anything_is_touched(
    files, more: dict, text: str
):
    p = port()
    path = files("a.cvimodel", 1000, **more)
    assert text in p.inspect(path).refuse
    board.faults.clear()
    with pytest.raises(KModelError, match=text):
        p.load(path)
    assert board.faults.count == 0
    board.reset("maixcam2")
    assert "maixcam2 runs .axmodel" in port().inspect(files("b.cvimodel", 1000)).refuse


def test_a_short_file_is_refused(files):
    path = files("a.cvimodel", 1000)
    Path(path).write_bytes(Path(path).read_bytes()[:-1])
    assert "of the" in port().inspect(path).refuse


def test_a_mud_is_followed(files, tmp_path: Path):
    files("a.cvimodel", 1000)
    mud = tmp_path / "a.mud"
    mud.write_text(
        "[basic]\ntype = cvimodel\nmodel = a.cvimodel\n\n[extra]\nmodel_type = yolov5\nmean = 0, "
        "0, 0\n"
    )
    p = port()
    assert p.inspect(str(mud)).source == str(tmp_path / "a.cvimodel") and p.inspect(
        str(mud)
    ).need == {"cmm": 1300}
    model = p.load(str(mud))
    assert model.extra_info()["model_type"] == "yolov5"
    for text in (
        "",
        "[basic]\n",
        "[basic]\ntype=cvimodel\n",
        "[basic]\ntype=axmodel\n",
        "no section\n",
    ):
        mud.write_text(text)
        with pytest.raises(KModelError, match=r"a\.mud"):
            p.inspect(str(mud))
    with pytest.raises(KModelError, match="not a"):
        p.inspect("model.onnx")
