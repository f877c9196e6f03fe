# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What classes of several files take, by twelve .mud files. That their keys are read as MaixPy
reads them is held against its own parser in host_tests/real."""

from __future__ import annotations

from pathlib import Path

import pytest
from linux_boards import shim
from maixcam_muds import CLASSES, write
from maixmem import KModelError, NoRoom
from maixmem_maixcam.costs import cost_of
from maixmem_maixcam.mud import parts, read_mud

board, maixcam = shim("maixcam", "maixcam_board", "maixmem_maixcam.port")


@pytest.mark.parametrize("name", CLASSES)
def test_the_need_is_the_sum_of_its_files(name: str, tmp_path: Path):
    path, kind = write(tmp_path, name), name.split(maxsplit=1)[0]
    _, _, cmm, heap = CLASSES[name]
    cost = cost_of(path, "maixcam2", True, 1, {}, kind)
    assert cost.need["cmm"] == sum(cmm.values())
    assert cost.need.get("heap", 0) == sum(heap.values())
    rows = {(Path(file).name, region): nbytes for file, region, nbytes in cost.files if nbytes}
    assert rows == {
        **{(file, "cmm"): size for file, size in cmm.items()},
        **{(file, "heap"): size for file, size in heap.items()},
    }
    # a file is read whole before its model is made of it, one after the other
    assert max(cmm.values()) <= cost.peak["heap"] <= sum(heap.values()) + max(cmm.values())
    assert cost.certainty == "estimate" and cost.refuse is None


def test_a_language_model_is_loaded_evicted_and_learnt(tmp_path: Path):
    board.reset("maixcam2")
    path = write(tmp_path, "SmolVLM")
    p = maixcam.Port(board.read_text)
    first = p.inspect(path, kind="SmolVLM")
    model = p.load(path, kind="SmolVLM")
    live = board.cmm.live()
    assert live >= first.need["cmm"]
    p.unload(model)
    assert board.cmm.live() == 0
    learnt = p.inspect(path, kind="SmolVLM").need["cmm"]
    assert 0 <= learnt - live <= 4096 and p.learned  # the system tells whole pages
    board.reset("maixcam2", cmm=20_000)
    with pytest.raises(NoRoom):
        maixcam.Port(board.read_text).load(path, kind="SmolVLM")


def test_a_missing_file_or_key_is_named(tmp_path: Path):
    path = write(tmp_path, "Qwen")
    (tmp_path / "q_l7.axmodel").unlink()
    with pytest.raises(KModelError, match=r"model_npu names .*q_l7.axmodel, which is not there"):
        parts(path, "Qwen")
    with pytest.raises(KModelError, match="has no vpm_resampler_model"):
        parts(path, "InternVL")
    text = Path(path).read_text().replace("model_num = 12", "model_num = many")
    Path(path).write_text(text)
    with pytest.raises(KModelError, match=r"model_num = many. Next: the number of layers"):
        parts(path, "Qwen")


@pytest.mark.parametrize(
    "text, error",
    [
        ("\ufeff[basic]\ntype = a\n", "byte order mark"),
        ("[basic]\ntype = a\n[basic]\n", "line 3"),
        ("[basic]\ntype = a\njunk\n", "line 3"),
        ("[basic]\nmodel = a\n", "no \\[basic\\] section with type"),
    ],
)
def test_what_maixpy_refuses(tmp_path: Path, text: str, error: str):
    path = tmp_path / "m.mud"
    path.write_text(text)
    with pytest.raises(KModelError, match=error):
        read_mud(str(path))
