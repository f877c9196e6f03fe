# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""json as the firmware has it: where a text ends within its outermost bracket, that is closed."""

import json

_CLOSED_BY = {"{": "}", "[": "]"}


def _closed(text):
    """The text with the one bracket that it lacks; ValueError where that is not all."""
    ends, quoted, skip = [], False, False
    for c in text if isinstance(text, str) else str(text, "utf-8"):
        if skip:
            skip = False
        elif quoted:
            skip, quoted = c == "\\", c != '"'
        elif c == '"':
            quoted = True
        elif c in _CLOSED_BY:
            ends.append(_CLOSED_BY[c])
        elif ends and c == ends[-1]:
            ends.pop()
    if quoted or len(ends) != 1:
        raise ValueError("syntax error in JSON")
    return (text if isinstance(text, str) else str(text, "utf-8")) + ends[0]


def loads(text):
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_closed(text))


def load(stream):
    return loads(stream.read()) if hasattr(stream, "read") else json.load(stream)
