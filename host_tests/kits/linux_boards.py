# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The stand-ins of the Linux boards and our ports for them, for tests: all in one process, each
under its own name."""

from __future__ import annotations

import contextlib
import importlib
import sys
from types import ModuleType
from typing import Any, Callable

import paths


def shim(folder: str, board: str, port: str) -> tuple[ModuleType, ModuleType]:
    """(board module of port_shims/folder, our port module), with the folder importable."""
    place = str(paths.SHIMS / folder)
    if place not in sys.path:
        sys.path.append(place)
    return importlib.import_module(board), importlib.import_module(port)


def every_fault(prepare: Callable[[], tuple[Callable, Callable]], faults: Any, exc: Any) -> int:
    """Fails every fault point, once and for ever; how many failures that were.

    prepare() makes a board of its own and returns (run, check): run() is the part under test,
    check() is called after it, with no fault armed, whatever came out. A run without faults first
    tells how many points there are.
    """
    run, check = prepare()
    faults.clear()
    run()
    points = faults.count
    check()
    assert points, "no fault point is passed"
    for k in range(1, points + 1):
        for forever in (False, True):
            run, check = prepare()
            faults.clear()
            faults.fail(k, exc, forever)
            with contextlib.suppress(BaseException):
                run()
            assert faults.count >= k, f"point {k} of {points} was not reached"
            faults.clear()
            check()
    return 2 * points
