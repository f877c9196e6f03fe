# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models of Linux boards, by the library's own readers: what they say, and what a load takes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from maixmem_maixcam.costs import cost_of
from maixmem_maixcam.cvimodel import read_cvimodel
from maixmem_report import kib
from maixmem_rknn.container import read_file


# `need` and `peak` are bytes of each region, as Port.inspect() has them; empty where only the
# board's runtime can tell.
@dataclass
class Other:
    """One such model."""

    kind: str  #: "rknn", "cvimodel", "axmodel"
    nbytes: int
    facts: list[str]
    need: dict[str, int] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)
    certainty: str = "unknown"
    refuse: str | None = None  #: why no board of ours takes it

    def to_json(self) -> dict[str, Any]:
        """Its part of --json."""
        return asdict(self)

    def sentence(self) -> str:
        """What a load of it takes."""
        if not self.need:
            return "what it takes only the runtime knows: Port.inspect() on the board"
        taken = ", ".join(f"{kib(n)} of {region}" for region, n in self.need.items())
        peak = ", ".join(f"{kib(n)} of {region}" for region, n in self.peak.items())
        return f"takes {taken}; while it loads {peak} ({self.certainty})"


def read_other(path: str) -> Other | None:
    """The model of another board in a file, None where it is none. KModelError: damaged."""
    kind = Path(path).suffix.lower()[1:]
    with open(path, "rb") as f:
        head = f.read(8)
    if head[:4] == b"RKNN" or head == b"CYPTRKNN":
        return _rknn(path)
    if head == b"CviModel":
        return _cvimodel(path) if kind == "cvimodel" else None
    return _of_cost(path, "maixcam2", "axmodel", []) if kind == "axmodel" else None


def _rknn(path: str) -> Other:
    file = read_file(Path(path).read_bytes())
    facts = [f"container {file.version & 0xFF}"]
    facts += [f"made by RKNN-Toolkit {file.toolkit}"] if file.toolkit else []
    facts += ["for " + " or ".join(file.targets)] if file.targets else []
    facts += ["encrypted"] if file.encrypted else []
    facts += ["converted for several shapes"] if file.several else []
    return Other("rknn", file.nbytes, facts, refuse=file.refuse(None))


def _cvimodel(path: str) -> Other:
    model = read_cvimodel(path)
    facts = [f"for {model.chip}", f"working memory {kib(model.shared)}, shared by all models"]
    facts.append(f"inputs and outputs {kib(model.io)}, twice with dual_buff")
    return _of_cost(path, "maixcam", "cvimodel", facts)


def _of_cost(path: str, board: str, kind: str, facts: list[str]) -> Other:
    cost = cost_of(path, board, True, 1, {})
    found = Other(kind, Path(path).stat().st_size, facts, cost.need, cost.peak, cost.certainty)
    found.refuse = cost.refuse
    return found
