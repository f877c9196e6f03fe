# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The stand-ins of the Linux boards and our ports for them, for tests: all in one process, each under its own name."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Callable

import paths


def shim(folder: str, board: str, port: str) -> tuple[ModuleType, ModuleType]:
    """(board module of port_shims/folder, our port module), with the folder importable."""
    place = str(paths.ROOT / "port_shims" / folder)
    if place not in sys.path:
        sys.path.append(place)
    return importlib.import_module(board), importlib.import_module(port)


def every_fault(scenario: Callable[[Callable[[], None]], Any], faults: Any, exc: Any) -> list[tuple[int, bool, Any]]:
    """Runs scenario() once for each fault point and way of failing: [(point, for ever, what came out)].

    scenario() makes its own board, clears the fault points where the part under test begins, and runs it; it is
    given the arming function to call there. A run without faults first tells how many points there are.
    """
    scenario(faults.clear)
    points = faults.count
    assert points, "the scenario passes no fault point"
    out = []
    for k in range(1, points + 1):
        for forever in (False, True):
            try:
                result = scenario(lambda k=k, forever=forever: (faults.clear(), faults.fail(k, exc, forever)))
            except AssertionError:
                raise
            except BaseException as e:
                result = e.with_traceback(None)
            assert faults.count >= k, f"point {k} of {points} was not reached"
            out.append((k, forever, result))
    return out
