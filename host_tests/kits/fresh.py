# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the library and the stand-ins remember between tests, and the one place that makes it
forget."""

from __future__ import annotations

import gc
import sys

_BOARDS = ("k210_board", "ascend_board", "maixcam_board")


def start() -> None:
    """No port, no manager, boards that have just been switched on: of those modules that are in
    memory."""
    found = sys.modules.get
    if core := found("maixmem"):
        core.set_port(None)
    if models := found("maixmem_models"):
        models.ModelManager._last = None
    for board in filter(None, map(found, _BOARDS)):
        vars(board.faults).pop("point", None)  # of a test that stopped half way
        board.faults.clear()
        board.reset()


def quick_collections() -> None:
    """The library and the stand-ins collect often: from now on only what is made from now on is
    looked at, not pytest and all the tests."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    """As a plugin: pytest -p fresh."""
    quick_collections()
