# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""An image that each round of a loop makes comes from a pool instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst
import libcst.matchers as m

from maixmem_cli.plan.script_tree import Script, parsed, with_head
from maixmem_cli.runs.change import Edit, values_of

_FRAMES = {"QVGA": "320, 240", "QQVGA": "160, 120", "VGA": "640, 480"}


def pools(s: Script) -> Iterator[Edit]:
    """One pool of one image for each that is created, or copied from the whole frame."""
    inside = s.rounds()
    for i, node in enumerate(inside):
        made = _made(s, node)
        if made is None:
            continue
        target, size, taken = made
        call = f"{target} = pool.{taken}\n"
        new = node.with_changes(body=parsed(call).body)
        rows = [*inside[:i], new, *inside[i + 1 :], parsed(f"pool.release({target})\n")]
        begin = parsed(f"pool = ImagePool({size}, count=1)\n")
        source = with_head(
            Script(s.with_loop(rows, [begin])), "from maixmem_pool import ImagePool\n"
        )
        yield Edit("pool", values_of(names=target), source)


def _made(s: Script, node: cst.CSTNode) -> tuple[str, str, str] | None:
    """(name, size, how the pool gives it) of a line that keeps a new image under a name."""
    one = m.SimpleStatementLine([m.Assign([m.AssignTarget(m.Name())], m.Call())])
    if not m.matches(node, one):
        return None
    assign: Any = node.body[0]  # type: ignore[attr-defined]
    call, target = assign.value, assign.targets[0].target.value
    if s.calls(call) == ["image.Image"]:
        sizes = [a.value for a in call.args if a.keyword and a.keyword.value == "size"]
        if len(call.args) == 1 and sizes and isinstance(sizes[0], cst.Tuple):
            return target, ", ".join(s.code(e.value) for e in sizes[0].elements), "acquire()"
    frame = [size for name, size in _FRAMES.items() if f"sensor.{name})" in s.tree.code]
    if s.code(call.func).endswith(".copy") and not call.args and frame:
        return target, frame[0], f"take({s.code(call.func)[: -len('.copy')]})"
    return None
