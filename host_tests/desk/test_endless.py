# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A loop over range() that goes on."""

from __future__ import annotations

import pytest
from maixmem_cli.profiler.endless import endless, lengths, of_rounds, over, without_end


@pytest.mark.parametrize(
    "loop, rounds, further",
    [
        ("for n in range(60):", 59, "for n in range(1000000):"),
        ("for n in range(60):", 55, "for n in range(1000000):"),
        ("for n in range(5, 65):  # ä", 60, "for n in range(5, 1000005):  # ä"),
        ("for 数 in range(120, 0, -2):", 59, "for 数 in range(120, -1999880, -2):"),
        ("for n in range(60):", 30, None),
        ("for n in range(60):", 61, "for n in range(1000000):"),
        ("for n in range(60):", 62, None),
        ("for n in range(many):", 60, None),
        ("for n in range(1.5):", 60, None),
        ("for n in names:", 60, None),
        ("while True:", 60, None),
        ("for n in range(60)", 60, None),
    ],
)
def test_the_loop_of_so_many_rounds_goes_on(loop: str, rounds: int, further: str | None) -> None:
    lines = "for i in range(3):\n    pass\n{}\n    pass\n"
    expected = None if further is None else lines.format(further)
    assert endless(lines.format(loop), rounds) == expected


def test_it_has_as_many_rounds_as_wanted() -> None:
    lines = "for n in range(9, 29):\n    kept.append(n)\n"
    assert endless(lines, 20, 50) == "for n in range(9, 59):\n    kept.append(n)\n"


def test_of_two_such_loops_none_is_chosen() -> None:
    assert endless("for a in range(60):\n  pass\nfor b in range(60):\n  pass\n", 60) is None


def test_a_loop_of_so_many_rounds_is_over() -> None:
    source = "for i in range(60):\n    pass\nfor n in range(70):\n    pass\n"
    assert over(source, 60, 1) and over(source, 58, 2) and over(source, 70, 4)
    assert not over(source, 60, 4) and not over(source, 30, 2)
    assert not over("for i in range(", 60, 1)
    assert (of_rounds(source, 60), of_rounds(source, 69), of_rounds(source, 30)) == ([1], [3], [])


def test_the_rounds_of_each_loop_over_range() -> None:
    source = "for i in range(60):\n    for k in range(9, 3, -2):\n        pass\n"
    assert lengths(source) == {60, 3} and lengths("for n in names:\n    f()\n") == set()


# what MicroPython 1.11 makes of a loop's end, before the jump's two bytes, and of one for ever
@pytest.mark.parametrize(
    "bytecode, for_ever",
    [
        ("81 e5 30 a8 d7 36", "7f d8 36"),  # n < 40
        ("81 e5 30 14 3c d7 36", "7f d8 36"),  # n < 60
        ("81 e5 30 14 82 2c d7 36", "ff 7f d8 36"),  # n < 300
        ("81 e5 30 14 81 9c 20 d7 36", "ff ff 7f d8 36"),  # n < 20000
        ("30 14 3c d7 36 81 e5 30 a8 d7 36", "7f d8 36"),
        ("81 e6 30 7f d8 36", None),  # n > -1
        ("81 e5 57 0a d7 36", None),  # n < a value that was computed
        ("30 a8 d7 36 42", None),
        ("d7 36 35", None),
        ("", None),
    ],
)
def test_the_condition_of_a_loop_becomes_one_for_ever(bytecode: str, for_ever: str | None) -> None:
    expected = None if for_ever is None else bytes.fromhex(for_ever)
    assert without_end(bytes.fromhex(bytecode)) == expected
