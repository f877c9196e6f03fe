# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""math as the firmware has it, which looks for no infinity and no NaN: log() alone raises."""

import math

_INFINITE = ("exp", "expm1", "cosh", "sinh", "gamma", "lgamma")
_ENDS = {"log2": (0, -math.inf), "log10": (0, -math.inf), "atanh": (1, math.inf)}
_WHOLE = ("ceil", "floor", "trunc")  # of what is no number: 0


def _raises_nothing(name):
    does = getattr(math, name)
    end, there = _ENDS.get(name, (None, None))
    otherwise = math.inf if name in _INFINITE else 0 if name in _WHOLE else math.nan

    def of_numbers(*args):
        try:
            return does(*args)
        except (ValueError, OverflowError):
            return there if args[0] == end else otherwise

    return of_numbers


for _name in (
    "sqrt log2 log10 acos asin acosh atanh pow fmod exp expm1 cosh sinh gamma lgamma"
    " ceil floor trunc"
).split():
    globals()[_name] = _raises_nothing(_name)
