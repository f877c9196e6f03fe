# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The first use of a glossary's term on each page of the manual is a link to the glossary.

python host_tests/kits/glossary.py        adds the links that are missing
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
#: what a reader from another field may not know; the rest of the glossary is common
TERMS = (
    *("GC heap", "system heap", "kmodel", "evict", "stand-in", "call stack", "arena"),
    *("core dump", "CMM", "ION", "CMA", "MMZ", "IOMMU", "PSRAM"),
    *("headroom", "retained bytes", "high-water mark"),
)
#: where a word is no prose: blocks, code, headings, tables, links, comments, what is generated
_NO_PROSE = re.compile(
    r"```.*?```|<!-- contract.*?<!-- end -->|<!--.*?-->|`[^`\n]*`|^[#|][^\n]*$|^ {4}[^\n]*$"
    r"|!?\[[^\]]*\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)


def pages() -> list[Path]:
    """README and the manual, but for the glossary and what is generated from the errors."""
    manual = sorted((ROOT / "docs").glob("*.md"))
    return [ROOT / "README.md", *(p for p in manual if p.stem not in ("glossary", "errors"))]


def unlinked(page: Path, text: str) -> list[tuple[int, int]]:
    """Where the first use of a term on a page is, as (start, end), if it is no link."""
    prose = _NO_PROSE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    found = []
    for term in TERMS:
        use = re.search(rf"(?<![\w.-]){term}(?:s|ed|ing)?(?![\w.-]\w)", prose)
        linked = re.search(rf"\[{term}\w*\]\({_target(page)}\)", text)
        if use and (not linked or use.start() < linked.start()):
            found.append(use.span())
    return sorted(found)


def _target(page: Path) -> str:
    return "glossary.md" if page.parent == GLOSSARY.parent else "docs/glossary.md"


def linked(page: Path, text: str) -> str:
    """The page with those links."""
    for start, end in reversed(unlinked(page, text)):
        text = f"{text[:start]}[{text[start:end]}]({_target(page)}){text[end:]}"
    return text


if __name__ == "__main__":
    for path in pages():
        path.write_text(linked(path, path.read_text(encoding="utf-8")), encoding="utf-8")
