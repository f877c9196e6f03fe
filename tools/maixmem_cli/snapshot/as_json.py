# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot and a difference as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maixmem_cli.snapshot import diff
from maixmem_cli.snapshot.graph import Graph
from maixmem_cli.snapshot.owners import Owner
from maixmem_cli.snapshot.paths import Way
from maixmem_cli.snapshot.text import MOMENTS
from maixmem_cli.snapshot.view import View

VERSION = 1  #: of the fields below


def snapshot(view: View) -> dict[str, Any]:
    """`gc`: the heap's numbers in bytes; `types`; `owners`: one tree for each kind of root, every
    byte in use at one place of it; `system`: chunks of a K210's system heap."""
    taken = view.taken
    return {
        "version": VERSION,
        "board": {
            "platform": taken.platform,
            "interpreter": taken.interpreter,
            "version": list(taken.version),
            "word": taken.board["word"],
        },
        "gc": {
            "total": view.total,
            "used": view.used,
            "snapshot": view.own,
            "free": view.free,
            "largest": view.largest,
            "fragments": view.fragments,
            "garbage": view.garbage,
            "areas": [{"address": a.pool, "bytes": a.end - a.pool} for a in taken.areas],
        },
        "program": "idle" if taken.idle else "running",
        "types": [{"type": t.name, "objects": t.objects, "bytes": t.nbytes} for t in view.types],
        "owners": [_owner(o) for o in view.owners],
        "system": [{"address": a, "bytes": n, "used": used == 1} for a, n, used in taken.chunks],
    }


def _owner(owner: Owner) -> dict[str, Any]:
    return {
        "path": owner.path,
        "kind": owner.kind,
        "objects": owner.objects,
        "bytes": owner.nbytes,
        "retained": owner.retained,
        "types": dict(owner.types),
        "holds": [_owner(o) for o in owner.sorted()],
    }


def way(found: Way, graph: Graph) -> dict[str, Any]:
    """Why an object is in use: the steps that lead to it, and all that refers to it."""
    return {
        "version": VERSION,
        "path": found.name,
        "address": found.address,
        "type": graph.type_of(found.address),
        "bytes": graph.sizes[found.address],
        "retained": graph.retained(found.address),
        "steps": found.steps,
        "referred_to_by": found.others,
    }


def difference(views: Sequence[View]) -> dict[str, Any]:
    """`changes`: what grew most first; `growing`: what grew each time, of three or more."""
    before, after = views[0], views[-1]
    return {
        "version": VERSION,
        "used": [v.used for v in views],
        "free": [v.free for v in views],
        "largest": [v.largest for v in views],
        "changes": [
            {
                "change": c.what,
                "path": c.path,
                "objects": list(c.objects),
                "bytes": list(c.nbytes),
                "types": list(c.types),
            }
            for c in diff.changes(before, after)
        ],
        "growing": [
            {"path": g.path, "objects": list(g.objects), "bytes": list(g.nbytes)}
            for g in (diff.growing(views) if len(views) > MOMENTS else [])
        ],
    }
