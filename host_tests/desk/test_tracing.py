# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Marks that say which line begins: what they cannot tell of a loop."""

from __future__ import annotations

from maixmem_cli.runs import standin_record, tracing
from maixmem_cli.text import syntax

_TREE = syntax.tree("""\
pos = []
while True:
    for b in img.find_blobs(T):
        for n in b:
            pos.append(n)
        if b:
            pos.append(b)
        else:
            print(b)
    for k in pos: print(k)
""")


def test_a_body_ends_with_its_last_statement_or_one_of_its_own_bodies() -> None:
    assert list(tracing.goes_through(_TREE)) == [(4, [5]), (3, [7, 9])]


def test_what_a_for_statement_goes_through_is_not_what_it_keeps() -> None:
    """In each of twelve rounds the list of 64 bytes is taken before line 7, which keeps 64, and
    freed behind it."""
    kept = standin_record._without_loops({3: 768, 7: 64}, _TREE)
    assert kept == {7: 832}
    assert standin_record._without_loops({2: 32, 9: 500}, _TREE) == {2: 32, 9: 500}


_TREE_OF_CALLS = syntax.tree("""\
def on_frame(img):
    names.extend([str(i) for i in range(img.width())])
while True:
    on_frame(sensor.snapshot())
    kept.append(on_frame(sensor.snapshot()))
""")


def test_what_a_calls_arguments_took_is_not_kept_by_its_line() -> None:
    """In each of twelve rounds the picture of 128 bytes is taken before line 2, which keeps 24,
    and freed behind it."""
    kept = {2: -1248, 4: 1536, 5: 1536}
    assert standin_record._in_function(4, kept, _TREE_OF_CALLS) == 2
    assert standin_record._in_function(5, kept, _TREE_OF_CALLS) == 5, "it keeps what it was given"
    assert standin_record._in_function(4, {2: 24, 4: 1536}, _TREE_OF_CALLS) == 4
    assert standin_record._in_function(4, {2: -1600, 4: 1536}, _TREE_OF_CALLS) == 4
