# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What loading a model takes on MaixCAM and MaixCAM2, from its files."""

from __future__ import annotations

import os

from maixmem import Cost, KModelError
from maixmem_text import tell

from maixmem_maixcam.cvimodel import CviModel, mud_models, mud_more, read_cvimodel
from maixmem_maixcam.kinds import Source

_TPU = "cv181x"
_KINDS = {"maixcam": ".cvimodel", "maixcam2": ".axmodel"}


# What Cost has, and for the books: `shared` bytes of activations, which models have in common, and
# `key` by which the measured bytes of an .axmodel are learned (None: nothing to learn).
class ModelCost(Cost):
    """The bytes of one load."""

    shared = 0
    key: str | None = None


def cost_of(
    source: Source, board: str, known: bool, sets: int, learned: dict[str, int]
) -> ModelCost:
    """The ModelCost of one path or several, with `sets` sets of input and output buffers each.

    `known`: that `board` is what this is, so that files of the other are refused. A .cvimodel's
    cost is read from the file and exact; an .axmodel has none to read: an estimate, from the
    file's size or a measured load and unload (`learned`). A .mud that names further models is
    charged for them, and an estimate: which of them are loaded its class decides.
    """
    total = None
    for path in [source] if isinstance(source, str) else source:
        for one in [_one(path, board, known, sets, learned), *_more(path, board, sets, learned)]:
            total = one if total is None else _sum(total, one)
    if total is None:
        raise ValueError(tell("no model given.\na path, or one for each model of the class"))
    return total


def _one(source: str, board: str, known: bool, sets: int, learned: dict[str, int]) -> ModelCost:
    paths = mud_models(source) if source.endswith(".mud") else [source]
    kind = os.path.splitext(paths[0])[1]
    if kind not in _KINDS.values():
        text = "{}: not a .cvimodel, .axmodel or .mud.\ngive one of these"
        raise KModelError(tell(text, paths[0]))
    refuse = None
    if known and kind != _KINDS[board]:
        text = "{}: {} runs {} files.\nconvert the model for it"
        refuse = tell(text, paths[0], board, _KINDS[board])
    if kind == ".axmodel":
        return _axmodel(paths, sets, refuse, learned)
    return _cvimodel(paths[0], sets, refuse)


def _more(source: str, board: str, sets: int, learned: dict[str, int]) -> list[ModelCost]:
    if not source.endswith(".mud"):
        return []
    found = [_one(path, board, False, sets, learned) for path in mud_more(source)]
    for cost in found:
        cost.certainty = "estimate"
    return found


def _cvimodel(path: str, sets: int, refuse: str | None) -> ModelCost:
    model = read_cvimodel(path)
    need = model.need(sets > 1)
    cost = ModelCost({"cmm": need}, {"cmm": need + model.transient})
    cost.certainty = "exact" if model.exact else "estimate"
    cost.refuse = refuse or _refuse(model)
    cost.source = path
    cost.shared = model.shared
    return cost


def _axmodel(
    paths: list[str], sets: int, refuse: str | None, learned: dict[str, int]
) -> ModelCost:
    rows = []
    for path in paths:
        size = os.stat(path).st_size
        key = f"{os.path.basename(path)}:{size}:{sets}"
        rows.append((learned.get(key, size), size, path, key))
    need, size, path, key = max(rows)
    # The runtime reads the whole file into the Linux heap before it makes the model from it.
    cost = ModelCost({"cmm": need}, {"cmm": need, "heap": size})
    cost.certainty = "estimate"
    cost.refuse = refuse
    cost.source = path
    cost.key = key if len(rows) == 1 else None  # of two files nobody tells which was loaded
    return cost


# Two models of one object. What they share is counted once, what is unpacked or read is gone when
# the next is.
def _sum(a: ModelCost, b: ModelCost) -> ModelCost:
    both = min(a.shared, b.shared)
    need = {"cmm": a.need["cmm"] + b.need["cmm"] - both}
    peak = {"cmm": max(a.peak["cmm"], a.need["cmm"] + b.peak["cmm"] - both)}
    heap = max(a.peak.get("heap", 0), b.peak.get("heap", 0))
    if heap:
        peak["heap"] = heap
    cost = ModelCost(need, peak)
    cost.certainty = "exact" if a.certainty == b.certainty == "exact" else "estimate"
    cost.refuse = a.refuse or b.refuse
    cost.source = a.source
    cost.shared = max(a.shared, b.shared)
    return cost


def _refuse(model: CviModel) -> str | None:
    if model.chip != _TPU:
        text = "the model is built for {}, this board runs {}.\nconvert it for {2}"
        return tell(text, model.chip, _TPU, _TPU)
    if model.nbytes > model.have:
        text = "the file has {} bytes of the {} that its sections name.\ncopy it again"
        return tell(text, model.have, model.nbytes)
    return None
