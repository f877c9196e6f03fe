# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""MaixCAM2's axmodels, which learn what they take, and images of both boards."""

from __future__ import annotations

from pathlib import Path

import pytest
from maixcam_kit import MIB, board, err, image, nn, pair, port, writer
from maixmem import NoRoom
from maixmem_models import ModelManager


@pytest.fixture(autouse=True)
def fresh_board() -> None:
    board.reset()


@pytest.fixture
def files(tmp_path: Path):
    return writer(tmp_path)


# --- axmodels ---


@pytest.fixture
def axmodel(tmp_path: Path):
    board.reset("maixcam2")
    path = tmp_path / "m.axmodel"
    path.write_bytes(bytes(4096 * 5))
    board.axmodels["m.axmodel"] = (4096 * 7, 8192)
    return str(path)


def test_an_axmodel_is_an_estimate_that_learns(axmodel: str):
    p = port()
    cost = p.inspect(axmodel)
    assert (cost.need["cmm"], cost.peak["heap"], cost.certainty) == (
        4096 * 5,
        4096 * 5,
        "estimate",
    )
    model = p.load(axmodel)
    assert model.taken == board.cmm.live() == 4096 * 7 + 8192
    p.unload(model)
    assert p.inspect(axmodel).need == {"cmm": 4096 * 7 + 8192}
    assert p.inspect(axmodel, dual_buff=True).need == {"cmm": 4096 * 5}  # not measured yet
    again = port(learned=dict(p.learned))
    assert again.inspect(axmodel).need["cmm"] == 4096 * 7 + 8192


def test_axmodels_share_nothing(axmodel: str):
    nets = [nn.NN(axmodel), nn.NN(axmodel)]
    assert board.cmm.live() == 2 * (4096 * 7 + 8192)
    del nets


def test_the_file_of_an_axmodel_must_fit_into_the_heap_too(axmodel: str):
    board.heap.boot = board.heap.total - 4096
    with pytest.raises(NoRoom) as e:
        port().load(axmodel)
    assert (e.value.region, e.value.free) == ("heap", 4096)


def test_a_mud_of_two_axmodels_costs_what_the_larger_does(axmodel: str, tmp_path: Path):
    (tmp_path / "v.axmodel").write_bytes(bytes(9 * 4096))
    mud = tmp_path / "m.mud"
    mud.write_text("[basic]\ntype = axmodel\nmodel_npu = m.axmodel\nmodel_vnpu = v.axmodel\n")
    p = port()
    assert p.inspect(str(mud)).need == {"cmm": 9 * 4096}
    p.unload(p.load(str(mud)))
    assert p.learned == {}  # nobody tells which of the two it was
    (tmp_path / "v.axmodel").unlink()
    model = p.load(str(mud))
    assert model.cost.source == axmodel and model.taken == board.cmm.live()
    p.unload(model)
    assert p.inspect(axmodel).need["cmm"] == 4096 * 7 + 8192 == p.inspect(str(mud)).need["cmm"]
    Path(axmodel).unlink()
    with pytest.raises(FileNotFoundError):
        p.load(str(mud))


@pytest.mark.parametrize("other", [-16 * MIB, 44 * MIB])
def test_what_others_take_or_free_while_a_model_loads_is_not_learned_for_good(
    axmodel: str, monkeypatch, other: int
):
    """A camera that opens, or pools that go, between the two looks at the free bytes."""
    board.reset("maixcam2", cmm=64 * MIB, cmm_used=16 * MIB)
    board.axmodels["m.axmodel"] = (4096 * 7, 8192)
    real = nn.NN

    def meanwhile(model="", dual_buff=False):
        net = real(model, dual_buff)
        board.cmm.boot += other
        return net

    monkeypatch.setattr(nn, "NN", meanwhile)
    p = port()
    model = p.load(axmodel)
    assert p.learned == {}  # one look may be wrong: unload() is the second
    monkeypatch.undo()
    p.unload(model)
    assert set(p.learned.values()) == ({4096 * 7 + 8192} if other > 0 else set())
    for _ in range(2):
        again = port(learned=p.learned)
        again.unload(again.load(axmodel))
    assert set(p.learned.values()) == {4096 * 7 + 8192}


def test_the_manager_goes_by_what_the_port_learned_meanwhile(tmp_path: Path):
    board.reset("maixcam2", cmm=20 * MIB, cmm_used=0)
    m = ModelManager(port(), keep=2, margin=0)
    for name, size in (("x", 12), ("y", 9)):
        path = tmp_path / (name + ".axmodel")
        path.write_bytes(bytes(4 * MIB))
        board.axmodels[path.name] = (size * MIB, 0)
        m.add(name, str(path))
    m.use("x")
    m.release("x")
    m.use("y")
    m.use("x")
    assert [x.name for x in m.models.values() if x.ready] == ["x"]
    m.release_all()


def test_the_manager_evicts_where_the_carve_out_cannot_be_read(files):
    board.reset(debugfs_open=False, cmm=13192)
    m = ModelManager(port(), margin=0)
    for name in ("a", "b"):
        m.add(name, files(name + ".cvimodel", 9000))
        m.use(name)
    assert [x.name for x in m.models.values() if x.ready] == ["b"] and board.cmm.live() == 9300
    m.release_all()


def test_activations_are_counted_once_in_what_is_gone(files):
    m = ModelManager(port())
    for path in pair(files):
        m.add(path, path)
        m.use(path)
    assert m.status(out=str)["unaccounted"] == {"cmm": 0}
    board.cmm.boot += 100_000
    assert m.status(out=str)["unaccounted"] == {"cmm": 100_000}
    m.release_all()


@pytest.mark.parametrize(
    ("board_mib", "cmm"), [(512, 256), (2048, 1792), (2048, 1024), (1024, 512), (4096, 3072)]
)
def test_settings_that_the_board_accepts_are_no_finding(board_mib: int, cmm: int):
    """MemTotal, and so hw_total, lacks what the kernel keeps; only 1 and 4 GiB are rounded up."""
    board.reset(
        "maixcam2",
        heap=(board_mib - cmm - 50) * MIB,
        heap_used=MIB,
        cmm=cmm * MIB,
        cmm_used=0,
        boot_configs=f"maix_memory_cmm={cmm}\n",
    )
    assert board.cmm_setting_accepted(cmm, board_mib) == (True, True)
    assert port().warnings() == []


def test_the_file_to_open_is_named():
    for chip, name in (
        ("maixcam", "/sys/kernel/debug"),
        ("maixcam2", "/proc/ax_proc/mem_cmm_info"),
    ):
        board.reset(chip, debugfs_open=False)
        assert [text for text in port().warnings() if name in text]


# --- images ---


def test_pixels_are_in_the_heap_with_one_page_more(files):
    img = image.Image(320, 240)
    assert board.heap.live() == 320 * 240 * 3 + 4096 and board.cmm.live() == 0
    del img
    sizes = {"rgb888": 24, "rgba8888": 32, "rgb565": 16, "yvu420sp": 12, "gray": 8}
    for name, bits in sizes.items():
        img = port().new_image(64, 32, name)
        assert board.heap.live() == 64 * 32 * bits // 8 + 4096
        del img
    board.heap.boot = board.heap.total
    with pytest.raises(RuntimeError):
        image.Image(8, 8)
    with pytest.raises(NoRoom, match="needs 4288 bytes, Linux has 0"):
        port().new_image(8, 8)


def test_a_copy_takes_no_memory():
    p = port()
    src, dst = (
        image.from_bytes(4, 2, image.FMT_RGB888, bytes(range(24)), copy=False),
        p.new_image(4, 2),
    )
    before = board.heap.live()
    p.copy_into(dst, src)
    assert dst.to_bytes() == bytes(range(24)) and board.heap.live() == before == 24 + 4096


def test_only_what_draw_image_copies_as_it_is_can_be_copied_into():
    p = port()
    for name in ("gray", "rgb888", "bgr888"):
        dst, src = p.new_image(4, 2, name), p.new_image(4, 2, name)
        src._data[:] = bytes(range(len(src._data)))
        p.copy_into(dst, src)
        assert dst.to_bytes() == src.to_bytes()
    for name in ("rgba8888", "bgra8888", "rgb565", "yvu420sp"):
        dst, src = p.new_image(4, 2, name), p.new_image(4, 2, name)
        with pytest.raises(ValueError, match=r"copy_into: .* Next: src\.copy\(\)"):
            p.copy_into(dst, src)
        if "a8" in name:
            dst._data[:] = b"\x09" * 32
            src._data[:] = b"\x01\x02\x03\x00" * 4 + b"\xff\xff\xff\xff" * 4
            dst.draw_image(0, 0, src)
            assert dst.to_bytes() == b"\x09" * 16 + b"\xff" * 16  # alpha 0 is left out
        else:
            with pytest.raises(err.Exception, match="image format not support"):
                dst.draw_image(0, 0, src)
    with pytest.raises(ValueError, match="of one size"):
        p.copy_into(p.new_image(4, 2), p.new_image(2, 4))


@pytest.mark.parametrize("name", ["bayer6", "bayer8", "bayer10", "bayer12"])
def test_a_format_without_a_name_of_its_own_in_maix_is_refused(name: str):
    with pytest.raises(ValueError, match=f"maix.image has no FMT_{name.upper()}"):
        port().new_image(64, 32, name)
