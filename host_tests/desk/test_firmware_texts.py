# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The error texts of the firmware images: each has an answer, and it is its own."""

from __future__ import annotations

from pathlib import Path

import firmware_texts
import pytest
from emulated import each_image, needs_cc, only_thorough
from maixmem_cli.errors import table

_MOST = 0.8  # of the texts have a row
_CAME = 0.95  # of the lines bring the text out; a smaller build lacks some functions


def test_most_texts_have_a_row_and_each_row_is_found_by_its_texts() -> None:
    texts = table.firmware_texts()
    known = {row.id for row in table.rows()}
    assert len(texts) > 700
    assert [t for t in texts if t.row not in known | {"fine", "unknown"}] == []
    have = [t for t in texts if t.row in known]
    assert len(have) >= _MOST * len(texts), (len(have), len(texts))
    for t in have:
        said = "99".join(t.pieces)
        assert [row.id for row in table.find(said, "k210")] == [t.row], t


def test_texts_that_an_image_was_made_to_say_are_many() -> None:
    assert sum(bool(t.provoked) for t in table.firmware_texts()) >= 200


@pytest.mark.parametrize(
    ("text", "said", "is_said"),
    [
        ("took %d bytes", "took 12 bytes", True),
        ("took %6d bytes", "took     12 bytes", True),
        ("took %-6d bytes", "took -12    bytes", True),
        ("took %+d bytes", "took +12 bytes", True),
        ("took %06lu bytes", "took 000012 bytes", True),
        ("took %6d bytes", "took all my bytes", False),
        ("took %d bytes", "took  bytes", False),
        ("at %p.", "at 0x80123abc.", True),
        ("at %p.", "at (nil).", True),
        ("at %p.", "at home.", False),
        ("code %#X", "code 0X2F", True),
        ("%s: code 0x%02x", "KPU: code 0x0f", True),
    ],
)
def test_a_number_is_what_printf_writes(text: str, said: str, is_said: bool) -> None:
    assert table.Text(text, "", "", "").says(said) is is_said


@each_image
def test_an_image_says_nothing_that_is_not_listed(image: Path) -> None:
    data = firmware_texts.text_of(image)
    texts = firmware_texts.listed(data)
    assert firmware_texts.unlisted(data) == []
    have = [t for t in texts if t.row != "unknown"]
    assert len(texts) > 400 and len(have) >= _MOST * len(texts), (len(have), len(texts))
    names = {name for t in table.firmware_texts() for name in t.images.split(",")}
    if image.stem in names:
        assert [t for t in texts if image.stem not in t.images.split(",")] == []


@needs_cc
@only_thorough
@each_image
def test_an_image_says_the_texts_of_the_list(image: Path) -> None:
    each = [(t.says(said), t.text) for t, _, said in firmware_texts.provoked(image)]
    missing = [text for came, text in each if not came]
    assert len(each) > 100 and len(missing) <= (1 - _CAME) * len(each), missing
