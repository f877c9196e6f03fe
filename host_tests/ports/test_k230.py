# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""CanMV on the K230: what its calls tell, and the media memory asked before MediaManager.init().
The stand-in is as media.py of 2024 and the SDK's manual have it; untested on a board."""

from __future__ import annotations

import gc
import sys
from types import ModuleType, SimpleNamespace

import maixmem
import maixmem_generic
import maixmem_k230
import maixmem_report
import pytest
from maixmem import NoRoom

pytestmark = pytest.mark.usefixtures("plain_python")

TOLD = {"heap": (32 << 20, 5 << 20, 27 << 20), "mmz": (256 << 20, 40 << 20, 216 << 20)}


# As the driver keeps it: pools of blocks in pages, then a piece for the frames' extra data, 204
# bytes a block (SDK's manual: 8294400 * 5 bytes are 40500 KB, beside each pool a piece of 4 KB).
class Media:
    """The media memory, and MediaManager of media.py of 2024 as far as memory is concerned."""

    def __init__(self, total: int) -> None:
        self.total, self.used = total, 0
        zero = {"blk_size": 0, "blk_cnt": 0}
        self._vb_buffer = SimpleNamespace(comm_pool=[SimpleNamespace(**zero) for _ in range(16)])
        self._vb_buffer_index = 0

    def sys_mmz(self) -> tuple[int, int, int]:
        return self.total, self.used, self.total - self.used

    def config(self, blk_size: int, blk_cnt: int) -> None:
        pool = self._vb_buffer.comm_pool[self._vb_buffer_index]
        pool.blk_size, pool.blk_cnt = blk_size, blk_cnt
        self._vb_buffer_index += 1

    def init(self, for_comress: bool = True) -> None:
        if for_comress:
            self.config((1920 * 1080 + 0xFFF) & ~0xFFF, 2)
        for pool in self._vb_buffer.comm_pool[: self._vb_buffer_index]:
            for nbytes in (pool.blk_size * pool.blk_cnt, 204 * pool.blk_cnt):
                pages = (nbytes + 0xFFF) & ~0xFFF
                if pages > self.total - self.used:
                    raise RuntimeError("MediaManager, vb init failed(-1610317812)")
                self.used += pages


@pytest.fixture
def k230(monkeypatch):
    """Puts a board in place, its media memory of so many bytes."""
    monkeypatch.setattr(maixmem_generic, "meminfo", dict)
    monkeypatch.setitem(sys.modules, "Maix", None)
    monkeypatch.setitem(sys.modules, "nncase_runtime", ModuleType("nncase_runtime"))
    maixmem.set_port(None)

    def put(total: int) -> Media:
        media = Media(total)
        monkeypatch.setattr(gc, "sys_mmz", media.sys_mmz, raising=False)
        module = ModuleType("media.media")
        module.MediaManager = media  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "media", ModuleType("media"))
        monkeypatch.setitem(sys.modules, "media.media", module)
        return media

    yield put
    maixmem.set_port(None)


def test_it_is_found_and_says_what_answers(k230, monkeypatch) -> None:
    for name, told in TOLD.items():
        monkeypatch.setattr(gc, f"sys_{name}", lambda told=told: told, raising=False)
    monkeypatch.setattr(gc, "sys_page", lambda: (0, 0, 0), raising=False)  # did not answer
    assert maixmem_report.find_port() == "k230"
    found = maixmem.report(lambda line: None)
    rows = {r["name"]: (r["total"], r["used"], r["free"]) for r in found["regions"]}
    assert found["port"] == "k230" and rows == TOLD
    assert maixmem.port().room("mmz") == TOLD["mmz"][2] and found["warnings"] == []


def test_without_the_driver_of_media_memory(k230, monkeypatch) -> None:
    def absent():
        raise OSError(2)

    monkeypatch.setattr(gc, "sys_heap", lambda: TOLD["heap"], raising=False)
    monkeypatch.setattr(gc, "sys_mmz", absent, raising=False)
    assert [r.name for r in maixmem_k230.Port().regions()] == ["heap"]
    with pytest.raises(NotImplementedError, match=r"Next: update CanMV"):
        maixmem_k230.check_media([(4096, 1)])


CAMERA = [(1920 * 1080 * 3 // 2, 6), (1280 * 720 * 3, 5), (400 * 240 * 2, 3)]


@pytest.mark.parametrize("preview", [True, False])
def test_the_answer_is_that_of_init_at_every_size(k230, preview: bool) -> None:
    """The media memory from too small to large enough, page by page around the need."""
    board = k230(1 << 30)
    for pool in CAMERA:
        board.config(*pool)
    board.init(preview)
    need = board.used
    for total in [0, need // 2, *range(need - 8192, need + 8192, 1024), 2 * need]:
        board = k230(total or 4096)
        for pool in CAMERA:
            board.config(*pool)
        refusal = maixmem_k230.check_media(preview=preview)
        assert repr(refusal) == repr(maixmem_k230.check_media(CAMERA, preview=preview)), (
            "asked for and told"
        )
        if refusal is None:
            board.init(preview)
        else:
            assert isinstance(refusal, NoRoom)
            assert (refusal.region, refusal.need) == ("mmz", need)
            assert f"{need} bytes" in str(refusal) and "smaller frames" in str(refusal)
            with pytest.raises(RuntimeError, match="-1610317812"):
                board.init(preview)


def test_firmware_that_keeps_the_pools_from_python(k230) -> None:
    board = k230(1 << 20)
    del board._vb_buffer
    with pytest.raises(NotImplementedError, match=r"check_media\(\[\("):
        maixmem_k230.check_media()
    assert maixmem_k230.check_media([(4096, 3)], preview=False) is None
