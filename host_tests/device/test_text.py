# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The sentences of errors: what is wrong, and the steps as data."""

import maixmem_text
from maixmem import message
from maixmem_advice import find
from maixmem_text import like

HEAP = "3m"


def kinds():
    """Errors that carry a Text. CircuitPython 6 prints no OSError with one: the K210's port alone
    raises it."""
    try:
        str(OSError(5, message("release", "a")))
    except TypeError:
        return ValueError, KeyError
    return ValueError, KeyError, OSError


def test_steps_are_data_and_the_text_says_them_once():
    for key in maixmem_text._SENTENCES:
        text = message(key, *range(9))
        steps = getattr(text, "steps", ())
        assert len(steps) == maixmem_text._SENTENCES[key].count("\n")
        assert str(text).count("Next: ") == (1 if steps and key != "cannot_run" else 0), text
        if steps:
            assert str(text).startswith(text.what) and "Next:" not in text.what, text
            for kind in kinds():
                e = kind(5, text) if kind is OSError else kind(text)
                assert key == "load" or find(e)[1][0] == steps[0], (key, find(e))
    told = like(message("release", "a"), "use('b'): said")
    assert str(told) == "use('b'): said" and told.steps == ("take it again with use('a')",)
    assert like("plain", "use('b'): plain") == "use('b'): plain"


def test_a_text_alone_is_not_searched_for_steps():
    meaning, steps = find("net 'a': its model was released. Next: take it again with use('a').")
    assert "maixmem" in meaning and "behind Next:" in steps[0]
