# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The report as a table with bars and as a dict: what maixmem.report() loads when it is called."""

from maixmem import __version__, kib, port, wrap

_BAR = 16
_KEYS = ("name", "total", "used", "free", "largest", "exact")


def report(out=print):
    """See maixmem.report()."""
    p = port()
    rows = p.regions()
    warnings = p.warnings()
    out("maixmem {} on {}".format(__version__, p.name))
    out("region  use                      used       free    largest")
    bound = False
    for r in rows:
        out(_row(r))
        bound = bound or not r.exact
    if bound:
        out("+ at least, - at most: what the platform can say")
    for text in warnings:
        for line in wrap("! " + text):
            out(line)
    return {
        "version": __version__,
        "port": p.name,
        "regions": [{key: getattr(r, key) for key in _KEYS} for r in rows],
        "warnings": warnings,
    }


def _row(r):
    low, high = ("", "") if r.exact else ("+", "-")
    used, free, largest = _cell(r.used, high), _cell(r.free, low), _cell(r.largest, low)
    return "{:<7} {} {:>10} {:>10} {:>10}".format(
        r.name, bar(r.used, r.total), used, free, largest
    )


def _cell(n, mark):
    return "?" if n is None else kib(n) + mark


def bar(used, total, width=_BAR):
    """A bar of `width` characters in brackets; question marks when a number is not known."""
    if used is None or not total:
        return "[" + "?" * width + "]"
    full = min(width, (used * width + total - 1) // total)
    return "[" + "#" * full + "." * (width - full) + "]"
