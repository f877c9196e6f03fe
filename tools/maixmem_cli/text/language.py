# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The language of what a command says: that of --lang, else the locale's; English where unsure."""

from __future__ import annotations

import os
from collections.abc import Mapping

ENGLISH, CHINESE = "en", "zh"
LANGUAGES = (ENGLISH, CHINESE)
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts, as in POSIX


def chosen(given: str | None = None, environment: Mapping[str, str] = os.environ) -> str:
    """One of LANGUAGES."""
    if given in LANGUAGES:
        return given
    locale = next((environment[name] for name in _LOCALE if environment.get(name)), "")
    return CHINESE if locale.lower().split(".")[0].split("_")[0] == CHINESE else ENGLISH
