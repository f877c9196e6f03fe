# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which chunks go with a net, where another net has chunks of the same sizes."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

import k210_board  # the part looks for malloc's lists when it comes
import maixmem_k210_fit
import pytest

_RAM = 0x80000000
_NET = 0x800D41A0
# Two streamed models on v0.6.2_84 minimum, (address, bytes, in use), as the board had them. The
# net's object points to its chunk of 32 bytes, which leads nowhere; that of 208 to the others.
_OLDER = [(0x801A4E50, 32), (0x801A4E70, 208), (0x801A4F40, 4368), (0x80220860, 1184528)]
_NEWER = [(0x80341B70, 32), (0x80341B90, 208), (0x80341C60, 4368), (0x80380180, 1184528)]
_POINTERS = {
    _NET + 8: 0x80341B80,
    0x80341B90 + 64: 0x80341C70,
    0x80341B90 + 104: 0x80380190,
    0x801A4E70 + 64: 0x801A4F50,
    0x801A4E70 + 104: 0x80220870,
}


def test_a_nets_own_chunks_go_not_those_of_its_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maixmem_k210_fit, "id", lambda net: _NET, raising=False)
    words = defaultdict(int, {(at - _RAM) >> 2: value for at, value in _POINTERS.items()})
    used = [(at, n, True) for at, n in _OLDER + _NEWER]
    cost = SimpleNamespace(chunks=[n for _, n in _NEWER])
    mine, sure = maixmem_k210_fit._of_net(words, used, object(), cost)
    assert [c[:2] for c in mine] == _NEWER and sure
    assert [c[:2] for c in used] == _OLDER


def test_chunks_of_a_model_known_by_its_length_alone_are_not_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Random programs on v5.1.2, seed 32021: its working memory stayed in the forecast."""
    monkeypatch.setattr(maixmem_k210_fit, "id", lambda net: _NET, raising=False)
    monkeypatch.setattr(
        maixmem_k210_fit, "chunks", lambda heap: [(at, n, True) for at, n in _NEWER]
    )
    words = defaultdict(int, {(at - _RAM) >> 2: value for at, value in _POINTERS.items()})
    cost = SimpleNamespace(chunks=[n for _, n in _NEWER], certainty="exact")
    heap = SimpleNamespace(look=lambda into: 0, words=words)
    port = SimpleNamespace(heap=heap, costs={1: cost}, key_of=lambda handle: 1)
    assert maixmem_k210_fit.nets_chunks(port, [object()]) == (_NEWER, True)
    cost.certainty = "bound"
    assert maixmem_k210_fit.nets_chunks(port, [object()]) == (_NEWER, False)
