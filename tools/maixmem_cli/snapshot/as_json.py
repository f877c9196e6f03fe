# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot and a difference as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maixmem_cli.snapshot.diff import Change
from maixmem_cli.snapshot.owners import Owner
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
        "system": [{"address": a, "bytes": n, "used": bool(used)} for a, n, used in taken.chunks],
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


def difference(changes: Sequence[Change], before: View, after: View) -> dict[str, Any]:
    """`changes`: what grew most first."""
    return {
        "version": VERSION,
        "used": [before.used, after.used],
        "free": [before.free, after.free],
        "largest": [before.largest, after.largest],
        "changes": [
            {
                "change": c.what,
                "path": c.path,
                "objects": list(c.objects),
                "bytes": list(c.nbytes),
                "types": list(c.types),
            }
            for c in changes
        ],
    }
