# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a script's text shows of what grows."""

from __future__ import annotations

import pytest
from maixmem_cli.profiler.unbounded import keys, makes_larger, numbers, unbounded

_SCRIPT = """\
kept = {first}
{above}
while True:
    x = read()
    {line}
    {more}
"""
_FOR_EVER = ("[]", "pass", "kept.append(x)", "print(len(kept))")
_KEEP = "def keep(x):\n    {}\n"
_CLASS = """\
class Log:
    def __init__(self):
        self.items = []
    def add(self, x):
        {}
"""


def adds(first: str, above: str, line: str, more: str) -> bool:
    source = _SCRIPT.format(first=first, above=above, line=line, more=more)
    lines = source.splitlines()
    marked = [n for n, text in enumerate(lines, 1) if text.endswith("# grows")]
    here = marked or [lines.index(f"    {line}") + 1]
    return unbounded(source, lines.index("while True:") + 1, here)


@pytest.mark.parametrize(
    "first, above, line",
    [
        _FOR_EVER[:3],
        ("bytearray()", "", "kept.extend(bytes(x))"),
        ("''", "", "kept += x"),
        ("''", "", "kept = kept + x"),
        ("[]", _KEEP.format("kept.append(x)  # grows"), "keep(x)"),
        ("''", _KEEP.format("global kept\n    kept += x  # grows"), "keep(x)"),
        ("[]", _KEEP.format("kept.append(x)  # grows\n    return x"), "y = keep(x)"),
        ("[]", _KEEP.format("kept.append(x)  # grows\n    return x"), "y = 50 + keep(x) / 2"),
        ("[]", _KEEP.format("y = x / 3  # grows\n    kept.append((x, y))"), "keep(x)"),
        ("[]", _KEEP.format("y = bytes(x)  # grows\n    kept.append(y)"), "keep(x)"),
        ("None", _CLASS.format("self.items.append(x)  # grows") + "log = Log()", "log.add(x)"),
    ],
)
def test_what_adds_in_each_round_has_no_bound(first: str, above: str, line: str) -> None:
    assert adds(first, above, line, "print(len(kept))")


@pytest.mark.parametrize(
    "more",
    [
        "kept.pop(0)",
        "del kept[:5]",
        "kept = kept[-200:]",
        "kept = []",
        "kept[0] = x",
        "tidy(kept)",
        "other = kept",
        "rows = {'kept': kept}",
        "if x: continue",
        "if x: break",
        "rows = [kept for i in range(3)]",
    ],
)
def test_what_may_be_made_less_has_a_bound_perhaps(more: str) -> None:
    assert adds(*_FOR_EVER)
    assert not adds(*_FOR_EVER[:3], more)


@pytest.mark.parametrize(
    "first, above, line",
    [
        ("[]", "", "if x: kept.append(x)"),
        ("[]", "", "for i in range(3): kept.append(x)"),
        ("[]", "", "kept[x] = x"),
        ("''", "", "kept = (kept + x)[-200:]"),
        ("''", "", "kept = kept[-200:] + x"),
        ("[]", "def f(kept):\n    kept.append(3)", "kept.append(x)"),
        ("[]", "", "bytearray(x)"),
        ("deque((), 24)", "", "kept.append(x)"),
        ("Ring(24)", "", "kept.append(x)"),
        ("[]", _KEEP.format("if x:\n        kept.append(x)  # grows"), "keep(x)"),
        ("[]", _KEEP.format("if x: return\n    kept.append(x)  # grows"), "keep(x)"),
        ("[]", _KEEP.format("kept.append(x)  # grows"), "if x: keep(x)"),
        ("[]", _KEEP.format("kept.append(x)  # grows"), "y = x or keep(x)"),
        ("[]", _KEEP.format("kept.append(x)  # grows\n    keep(x)"), "pass"),
        ("[]", _KEEP.format("kept = []\n    kept.append(x)  # grows"), "keep(x)"),
        ("[]", _KEEP.format("kept.append(x)  # grows"), "y = [keep(x) for x in x]"),
        ("[]", _KEEP.format("kept.append(x)  # grows"), "y = keep(x) if x else 0"),
        ("[]", _KEEP.format("y = x / 3  # grows\n    if y: kept.append(y)"), "keep(x)"),
        ("[]", _KEEP.format("y = seen.setdefault(x, 0)  # grows\n    kept.append(y)"), "keep(x)"),
        ("None", _CLASS.format("self.items.append(x)  # grows"), "log = Log(); log.add(x)"),
        (
            "None",
            _CLASS.format("self.items.append(x)  # grows")
            + "    def clear(self): self.items = []",
            "log.add(x)",
        ),
        (
            "None",
            _CLASS.format("self.items.append(x)  # grows") + _CLASS.replace("Log", "Other"),
            "log.add(x)",
        ),
    ],
)
def test_what_comes_on_a_condition_has_a_bound_perhaps(first: str, above: str, line: str) -> None:
    assert not adds(first, above, line, "pass")


def test_other_loops_end() -> None:
    assert not unbounded("kept = []\nwhile read():\n    kept.append(1)\n", 2, [3])
    assert not unbounded("kept = []\nfor i in range(9):\n    kept.append(1)\n", 2, [3])
    assert unbounded("kept = []\nfor i in range(9):\n    kept.append(1)\n", 2, [3], ever=[2])
    assert not unbounded("for i in range(9):\n    if i: kept.append(1)\n", 1, [2], ever=[1])
    two = "kept = []\nwhile True:\n    kept.append(1)\nwhile True:\n    kept.append(1)\n"
    assert unbounded(two, 4, [5]) and not unbounded(two, 4, [3])
    assert not unbounded("while True:\n    kept.append(", 1, [2])
    assert not unbounded(two, 4, [])


def test_numbers_that_may_be_a_bound() -> None:
    assert numbers(
        "load(0x300000)\nif len(kept) > 200: kept.pop()\nb = True\nx = 0.5\n", 3000
    ) == {
        0,
        200,
    }
    assert numbers("most = 8 * 1024\n", 3000) == {0, 8, 1024, 3000}
    assert numbers("'%d' % 5\nn % 7\n", 3000) == {0, 5, 7}
    assert numbers("x = (", 3000) == {3000}


def test_each_key_of_a_remainder_may_have_its_own_bound() -> None:
    """Of five pins, each with a queue of eight, 40 values are kept."""
    assert keys("of[n % 5].append(n)\nif n % 3: of[0].pop()\n", 3000) == 5
    assert keys("n % 70000\nn % k\nn / 9\n'%s' % 'x'\n", 3000) == 1


@pytest.mark.parametrize(
    "line, larger",
    [
        ("data += bytes(9)", True),
        ("self.text += line", True),
        ("text = text + line", True),
        ("self.text = self.text + line + '\\n'", True),
        ("buf.extend(b)", True),
        ("n += 1", False),
        ("sent += len(log)", False),
        ("n = n + 1", False),
        ("text = other + line", False),
        ("kept.append(a + b)", False),
        ("data -= 9", False),
        ("data +=", False),
    ],
)
def test_what_may_make_one_object_larger(line: str, larger: bool) -> None:
    assert makes_larger(f"for n in range(9):\n    {line}\n") is larger
