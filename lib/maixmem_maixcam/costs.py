# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What loading a model takes on MaixCAM and MaixCAM2, from its files."""

from __future__ import annotations

import os

from maixmem import Cost, KModelError
from maixmem_text import tell

from maixmem_maixcam import mud
from maixmem_maixcam.cvimodel import CviModel, read_cvimodel
from maixmem_maixcam.kinds import Source

_TPU = "cv181x"
_KINDS = {"maixcam": ".cvimodel", "maixcam2": ".axmodel"}


# What Cost has, and for the books: `shared` bytes of activations, which models have in common, and
# `key` by which the measured bytes of an .axmodel are learned (None: nothing to learn), `files`
# what each file takes: (path, region, bytes).
class ModelCost(Cost):
    """The bytes of one load."""

    shared = 0
    key: str | None = None
    files: list[tuple[str, str, int]] = []


def cost_of(
    source: Source, board: str, known: bool, sets: int, learned: dict[str, int], kind: str = "NN"
) -> ModelCost:
    """The ModelCost of one path or several that maix.nn.`kind` loads, with `sets` sets of input
    and output buffers each.

    `known`: that `board` is what this is, so that files of the other are refused. A .cvimodel's
    cost is read from the file and exact; an .axmodel has none to read: an estimate, from the
    file's size or a measured load and unload (`learned`). What a .mud names besides is charged as
    its class loads it; of a class that was not read all models of it are, as an estimate.
    """
    total = None
    for number, path in enumerate([source] if isinstance(source, str) else source):
        here = 1 if kind == "FaceRecognizer" and number else sets  # features: never two
        for one in _of(path, board, known, here, learned, kind):
            total = one if total is None else _sum(total, one)
    if total is None:
        raise ValueError(tell("no model given.\na path, or one for each model of the class"))
    return total


def _of(
    path: str, board: str, known: bool, sets: int, learned: dict[str, int], kind: str
) -> list[ModelCost]:
    if not path.endswith(".mud"):
        return [_model([path], board, known, sets, learned)]
    found = mud.read_mud(path)
    if mud.is_layered(found, kind):
        return [_layers(path, mud.parts(path, kind), board, known, learned)]
    costs = [_model(mud.basic_models(path, found), board, known, sets, learned)]
    if mud.is_known(kind):
        for part in mud.parts(path, kind)[1:]:
            own = sets if part.dual else 1
            costs.append(
                _model([part.path], board, False, own, learned)
                if part.region == "cmm"
                else _table(part)
            )
        return costs
    for more in mud.others(path):
        costs.append(_model([more], board, False, sets, learned))
        costs[-1].certainty = "estimate"
    return costs


# A language model: what its files have, and for each layer the runtime makes inputs and outputs
# (the caches of keys and values) that no file tells: learned by the first load and unload.
def _layers(
    path: str, parts: list[mud.Part], board: str, known: bool, learned: dict[str, int]
) -> ModelCost:
    total = _table(parts[-1])
    for part in parts[:-1]:
        total = _sum(total, _model([part.path], board, known, 1, {}))
    total.source = path
    total.certainty = "estimate"
    total.key = f"{os.path.basename(path)}:{total.need['cmm']}"
    taken = learned.get(total.key, total.need["cmm"])
    total.need["cmm"] = total.peak["cmm"] = taken
    return total


# A table in memory of the process: as large as its file, or mapped, and then only pages in use.
def _table(part: mud.Part) -> ModelCost:
    size = os.stat(part.path).st_size if part.stays else 0
    cost = ModelCost({"cmm": 0, "heap": size}, {"cmm": 0, "heap": size})
    cost.certainty = "estimate"
    cost.source = part.path
    cost.files = [(part.path, "heap", size)]
    return cost


def _model(
    paths: list[str], board: str, known: bool, sets: int, learned: dict[str, int]
) -> ModelCost:
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


def _cvimodel(path: str, sets: int, refuse: str | None) -> ModelCost:
    model = read_cvimodel(path)
    need = model.need(sets > 1)
    cost = ModelCost({"cmm": need}, {"cmm": need + model.transient})
    cost.certainty = "exact" if model.exact else "estimate"
    cost.refuse = refuse or _refuse(model)
    cost.source = path
    cost.shared = model.shared
    cost.files = [(path, "cmm", need)]
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
    cost.files = [(path, "cmm", need)]
    return cost


# Two models of one object, loaded in this order. What they share is counted once, what is unpacked
# or read is gone when the next is.
def _sum(a: ModelCost, b: ModelCost) -> ModelCost:
    both = min(a.shared, b.shared)
    need = {"cmm": a.need["cmm"] + b.need["cmm"] - both}
    peak = {"cmm": max(a.peak["cmm"], a.need["cmm"] + b.peak["cmm"] - both)}
    stays = a.need.get("heap", 0)
    heap = max(a.peak.get("heap", 0), stays + b.peak.get("heap", 0))
    if heap:
        peak["heap"] = heap
    stays += b.need.get("heap", 0)
    if stays:
        need["heap"] = stays
    cost = ModelCost(need, peak)
    cost.certainty = "exact" if a.certainty == b.certainty == "exact" else "estimate"
    cost.refuse = a.refuse or b.refuse
    cost.source = a.source
    cost.shared = max(a.shared, b.shared)
    cost.files = a.files + b.files
    return cost


def _refuse(model: CviModel) -> str | None:
    if model.chip != _TPU:
        text = "the model is built for {}, this board runs {}.\nconvert it for {2}"
        return tell(text, model.chip, _TPU, _TPU)
    if model.nbytes > model.have:
        text = "the file has {} bytes of the {} that its sections name.\ncopy it again"
        return tell(text, model.have, model.nbytes)
    return None
