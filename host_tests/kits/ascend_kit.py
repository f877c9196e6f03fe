# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the tests of Ascend share: the stand-in, the port, and a board with three models."""

from __future__ import annotations

from linux_boards import shim

board, ascend = shim("ascend", "ascend_board", "maixmem_ascend")

import acl  # noqa: E402  the shim's folder is importable only now; for the tests

MIB = 1 << 20


def start() -> None:
    """A board after power-on with a.om, b.om and c.om."""
    board.reset()
    board.add_model("a.om", work=1 * MIB, weight=2 * MIB)
    board.add_model("b.om", work=3 * MIB, weight=1 * MIB)
    board.add_model("c.om", work=2 * MIB, weight=500)


def taken(n: int) -> int:
    """Bytes that a request of n takes while huge pages last: the rule of the manual."""
    n = (n + 31) // 32 * 32 + 32
    return (n + 2 * MIB - 1) // (2 * MIB) * 2 * MIB if n > MIB else n
