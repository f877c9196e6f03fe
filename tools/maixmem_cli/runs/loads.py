# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which file a load was of: what each file that lies on the board asks malloc for is known to the
byte from its header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import maixmem_kmodel
from maixmem_k210_chip import TRANSIENT
from maixmem_k210_load import file_buffer

from maixmem_cli.record.record import Model

_STREAMED = ("stream_single", "stream_dual")
_NEAR = 16384  # bytes that the library asks for beyond a load's peak: pages, its margin


@dataclass(frozen=True)
class Candidate:
    """A file that lies on the board, and the mallocs of one way to load it."""

    model: Model
    sizes: tuple[tuple[int, int], ...]
    peak: int  #: bytes that must be free

    def fits(self, asked: list[int]) -> int:
        """How much of a load that requested these bytes in turn is this one's: 0, where what it
        keeps was not requested."""
        lasting = [n for n, kind in self.sizes if not kind & TRANSIENT][1:2]
        if any(n not in asked for n in lasting):
            return 0
        return sum((Counter(n for n, _ in self.sizes) & Counter(asked)).values())


def candidates(flash: dict[int, Path], card: dict[str, Path]) -> list[Candidate]:
    """Each file of flash and card that is a model, in each way that it can be loaded."""
    found: list[Candidate] = []
    for address, file in flash.items():
        for method in ("load_addr", *_STREAMED):
            found += _candidate(file, method, address=address)
    for path, file in card.items():
        if ".kmodel" in path or ".smodel" in path:
            found += _candidate(file, "load_path", path=path)
    return found


def _candidate(file: Path, method: str, **where: Any) -> list[Candidate]:
    try:
        info = maixmem_kmodel.read_info(str(file))
    except (ValueError, OSError):  # no model: nothing loads it
        return []
    buffer = file_buffer(where["path"]) if "path" in where else 0
    sizes = info.allocations(method, buffer)
    model = Model(str(file), file.stat().st_size, method=method, **where)
    return [Candidate(model, tuple(sizes), info.peak(method) or 0)] if sizes else []


def nearest(
    known: Iterable[Candidate], wanted: int, rank: Callable[[Candidate], int]
) -> Candidate | None:
    """The load that wants so many bytes; of those that want the same the one of higher rank."""
    near = [c for c in known if 0 <= wanted - c.peak <= _NEAR]
    return min(near, key=lambda c: (wanted - c.peak, -rank(c)), default=None)
