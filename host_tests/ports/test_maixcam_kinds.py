# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The classes of maix.nn: what each takes is asked of it, and all that it loads is charged."""

from __future__ import annotations

from pathlib import Path

import pytest
from cvimodel_build import cvimodel, program
from linux_boards import shim
from maixmem import KModelError, NoRoom

board, maixcam = shim("maixcam", "maixcam_board", "maixmem_maixcam.port")

from maix import nn  # noqa: E402
from maixmem_maixcam.images import camera_bytes  # noqa: E402
from maixmem_maixcam.kinds import kind_of  # noqa: E402

IO = 30_000
FIXED = 50_000


@pytest.fixture(autouse=True)
def power_on():
    board.reset()


def model(folder: Path, name: str, shared: int) -> str:
    """A .cvimodel of FIXED bytes, shared activations, and IO bytes of input."""
    path = folder / f"{name}.cvimodel"
    io = [("in", "UINT8", (1, 3, 100, 100))]
    path.write_bytes(cvimodel([("weight", FIXED)], [program(shared=shared, inputs=io)]))
    return str(path)


def mud(folder: Path, name: str, extra: str = "") -> str:
    path = folder / f"{name}.mud"
    path.write_text(f"[basic]\ntype = cvimodel\nmodel = {name}.cvimodel\n[extra]\n{extra}\n")
    return str(path)


def test_arguments_and_buffers_are_the_class_own():
    rows = {name: kind_of(nn, name) for name in ("NN", "YOLOv8", "PP_OCR", "FaceRecognizer")}
    assert [k.parameters for k in rows.values()] == [
        ("model", "dual_buff"),
        ("model", "dual_buff"),
        ("model",),
        ("detect_model", "feature_model", "dual_buff"),
    ]
    assert [k.sets(None) for k in rows.values()] == [1, 2, 1, 2]
    assert rows["NN"].sets(True) == 2 and rows["YOLOv8"].sets(False) == 1


@pytest.mark.parametrize(
    ("kind", "how", "text"),
    [
        ("PP_OCR", {"dual_buff": True}, "nn.PP_OCR takes no dual_buff. Next: it takes model"),
        ("YOLOv8", {"labels": "a"}, "nn.YOLOv8 takes no labels"),
        (
            "FaceRecognizer",
            {},
            "nn.FaceRecognizer takes 2 models (detect_model, feature_model), 1 given",
        ),
        ("MUD", {}, "maix.nn has no class MUD that loads a model. Next: one of Classifier, FaceR"),
        ("Nothing", {}, "maix.nn has no class Nothing"),
    ],
)
def test_what_a_class_does_not_take_is_refused_by_name(tmp_path, kind, how, text):
    path = model(tmp_path, "a", 1000)
    with pytest.raises(ValueError) as e:
        maixcam.Port().load(path, kind=kind, **how)
    assert text in str(e.value) and board.cmm.live() == 0


def test_two_models_are_charged_and_share_their_activations(tmp_path):
    paths = [model(tmp_path, "faces", 200_000), model(tmp_path, "features", 150_000)]
    p = maixcam.Port()
    cost = p.inspect(paths, kind="FaceRecognizer")
    # its constructor gives the second model one set of buffers only, whatever dual_buff says
    assert (cost.need["cmm"], cost.certainty) == (2 * FIXED + 3 * IO + 200_000, "exact")
    assert [row[1:] for row in cost.files] == [
        ("cmm", FIXED + 2 * IO + 200_000),
        ("cmm", FIXED + IO + 150_000),
    ]
    loaded = p.load(paths, kind="FaceRecognizer")
    assert board.cmm.live() == cost.need["cmm"] and loaded.recognize(None) == []
    p.unload(loaded)
    assert board.cmm.live() == 0


def test_models_that_a_mud_names_besides_are_charged(tmp_path):
    model(tmp_path, "find", 200_000)
    model(tmp_path, "read", 100_000)
    path = mud(tmp_path, "find", "rec_model = read.cvimodel\nlabels = labels.txt")
    p = maixcam.Port()
    cost = p.inspect(path, kind="PP_OCR")
    assert (cost.need["cmm"], cost.certainty) == (2 * (FIXED + IO) + 200_000, "exact")
    loaded = p.load(path, kind="PP_OCR")
    assert board.cmm.live() == cost.need["cmm"]
    p.unload(loaded)
    assert board.cmm.live() == 0


def test_only_memory_is_no_room(tmp_path):
    path = model(tmp_path, "a", 1000)
    board.reset(
        "linux"
    )  # as the wheel for desks: the carve-out is unknown, and nothing can be loaded
    with pytest.raises(KModelError, match="Not implemented"):
        maixcam.Port().load(path)
    board.reset(debugfs_open=False, cmm=5000)
    with pytest.raises(NoRoom, match=r"how many are free cannot be read.*No memory"):
        maixcam.Port().load(path)


def test_what_the_system_keeps_is_a_region_and_the_carve_out_has_an_advice():
    board.reset("maixcam2", heap=2060726272, cmm=2147483648)
    p = maixcam.Port()
    rows = {r.name: r.total for r in p.regions()}
    assert (
        rows["kernel"] == 4294967296 - 2060726272 - 2147483648
    )  # 83 MiB, the vendor's page says about 80
    assert "maixmem cmm --set" in p.advise(NoRoom("", "cmm", 1, 0))
    board.reset()
    assert "device tree" in maixcam.Port().advise(NoRoom("", "cmm", 1, 0))
    assert p.advise(NoRoom("", "heap", 1, 0)) is None


def test_camera_frames():
    assert camera_bytes(2560, 1440, 8) == 44_236_800  # "44 MB" on a board
    assert camera_bytes(640, 480) == 3 * 460_800
    assert camera_bytes(640, 480, format="rgb888") == 3 * (460_800 + 921_600)
    of_the_sensor = camera_bytes(2560, 1440, 3, "rgb888", frame=(320, 240))
    assert of_the_sensor == 3 * (5_529_600 + 230_400)
    with pytest.raises(ValueError):
        camera_bytes(0, 480)
