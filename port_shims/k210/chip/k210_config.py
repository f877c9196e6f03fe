# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""/flash/config.json: what the firmware reads of it, once, when asked and there."""

import json

import k210_files as files

NAME = "/flash/config.json"
_kept = [None]


def forget():
    """The board starts: nothing was read."""
    _kept[0] = None


def known():
    """Whether it was read: then nobody looks into the file again."""
    return _kept[0] is not None


def get_value(key, default):
    """A value of the file, or the default; what is no JSON is said, what is no dict has
    nothing."""
    if not known():
        if files.source(NAME) is None:
            return default
        _kept[0] = {}
        try:
            found = json.loads(files.read(NAME, 0, files.size(NAME)))
        except ValueError as e:
            print("ValueError:", e)
            return default
        if isinstance(found, dict):
            _kept[0] = found
    return _kept[0].get(key, default)


def of_display():
    """What it says of the display: a dict."""
    found = get_value("lcd", None)
    return found if isinstance(found, dict) else {}
