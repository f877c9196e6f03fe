# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The search for the smallest GC heap that would do, over runs that are made up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from maixmem_cli.emulator.session import DONE, RAISED, Options, Outcome
from maixmem_cli.profiler import smallest


@pytest.mark.parametrize("needs", [1, 1024, 1025, 77_777, 200_000, 524_288])
@pytest.mark.parametrize("most", [524_288, 524_300])
def test_the_smallest_that_works_is_found(
    monkeypatch: pytest.MonkeyPatch, needs: int, most: int
) -> None:
    tried: list[int] = []

    class Session:
        """A script that needs so many bytes."""

        def __init__(self, firmware: object, script: object, options: Options) -> None:
            self.heap = options.gc_heap or 0
            tried.append(self.heap)
            self.board = SimpleNamespace(ram=b"")
            self.finder = SimpleNamespace(gc=lambda ram: SimpleNamespace(total=self.heap - 600))

        def __enter__(self) -> Session:
            if self.heap < 9000:
                raise OSError("no prompt")
            return self

        def __exit__(self, *ignored: object) -> None: ...

        def run(self, on_text: object) -> Outcome:
            error = f'File "x", line {self.heap}\nMemoryError: {self.heap}'
            return Outcome(DONE) if self.heap >= needs else Outcome(RAISED, error)

    monkeypatch.setattr(smallest, "Session", Session)
    first = SimpleNamespace(options=Options(), firmware=None, script=None)
    found = smallest.smallest(first, Outcome(DONE), most, 1.0)  # type: ignore[arg-type]
    wanted = -(-max(needs, 9000) // smallest.STEP) * smallest.STEP
    assert found and (found.heap, found.pool) == (wanted, wanted - 600)
    assert found.heap - smallest.STEP in tried and found.runs == len(tried) <= 12
    assert smallest.smallest(first, Outcome(RAISED, "else"), most, 1.0) is None  # type: ignore[arg-type]
