# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A flash map as lines of text. A one-time part of maixmem_flash."""

from maixmem_flash import FlashMap
from maixmem_flash_check import conflicts, risks, unaligned, unread_line
from maixmem_report import kib, show


def report(m: FlashMap, out=print) -> bool:
    """See FlashMap.report()."""
    lines = []
    for r in sorted(m.regions, key=lambda r: r.start):
        size = kib(r.end - r.start)
        text = "{:#08x}..{:#08x} {:>10} {}: {}"
        lines.append(text.format(r.start, r.end, size, r.name, r.source))
    bad = conflicts(m)
    lines += ["! {}".format(c) for c in bad] + ["? {}".format(c) for c in risks(m)]
    lines += ["? {}: flashers refuse a start inside a sector".format(r) for r in unaligned(m)]
    if m.unread:
        lines.append(unread_line(m))
    show(lines + m.notes, out)
    return not (bad or m.unread or m.notes or [r for r in m.regions if r.intact is False])
