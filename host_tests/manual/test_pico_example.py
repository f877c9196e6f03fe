# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The example for a Pico: the same frames on MicroPython, CircuitPython and a desk, in a flat
heap."""

from __future__ import annotations

import re

import interpreters
import paths
import pytest

RUN = [i for i in interpreters.ALL if i.name in ("cpython", "unix", "newest", "circuitpython")]


@pytest.mark.parametrize("runtime", RUN, ids=lambda i: i.name)
def test_frames_leave_the_heap_as_it_is(runtime) -> None:
    if runtime.missing:
        pytest.skip(runtime.missing)
    done = runtime.run(paths.EXAMPLES / "pico_display.py")
    frames = re.findall(r"^frame (\d): 10 stripes(?:, (\d+) bytes free)?$", done.stdout, re.M)
    assert done.returncode == 0 and [n for n, _ in frames] == ["0", "1", "2"], done.stdout
    assert frames[1][1] == frames[2][1]
