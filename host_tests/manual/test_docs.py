# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The manual holds together: links lead somewhere, the site builds without a warning, every public
name is explained."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import glossary
import paths
import pytest
from manual import DOCS, IN_CHINESE, PAGES

MODULES = sorted([*paths.LIB.glob("*.py"), *paths.LIB.glob("*/*.py")])
_BESIDE = [paths.ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
_LINKING = [*PAGES, *IN_CHINESE.values(), *_BESIDE, paths.EXAMPLES / "README.md"]


def public(nodes: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """The functions, classes and methods that users can name."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_":
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body)


def explained(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> bool:
    """True with a docstring, or with a comment in the line above."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return bool(ast.get_docstring(node)) or lines[first - 2].lstrip().startswith("#")


@pytest.mark.parametrize("module", MODULES, ids=lambda p: p.stem)
def test_every_public_name_is_explained(module: Path) -> None:
    source = module.read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert ast.get_docstring(tree), "the module itself has no docstring"
    silent = {n.name for n in public(tree.body) if not explained(n, source.splitlines())}
    assert not silent, f"{module.name}: no docstring and no comment: {', '.join(sorted(silent))}"


# --- links ---


def anchors(page: Path) -> set[str]:
    """What `#...` can name in a page: its headings, as GitHub and mkdocs spell them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    kept = (re.sub(r"[^\w\- ]", "", head.lower()) for head in heads)
    return {head.strip().replace(" ", "-") for head in kept}


@pytest.mark.parametrize("page", _LINKING, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("https://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if target == DOCS / "api" / "index.html":
            continue  # made with the site
        assert target.exists(), f"{page.name}: {link} is not there"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}: no such heading"


def test_pages_of_the_site_link_only_into_the_site() -> None:
    for page in DOCS.glob("*.md"):
        outside = re.findall(r"\]\((\.\./[^)]+)\)", page.read_text(encoding="utf-8"))
        assert not outside, f"{page.name}: {outside} would not be in the site"


@pytest.mark.parametrize("page", glossary.pages(), ids=lambda p: p.stem)
def test_the_first_use_of_a_term_leads_to_the_glossary(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [text[start:end] for start, end in glossary.unlinked(page, text)]
    assert not missing, f"{page.name}: {missing}. Next: python host_tests/kits/glossary.py"


def test_a_term_that_is_no_link_is_found() -> None:
    page, text = paths.ROOT / "README.md", "# Arena\n`evict` it: evicted, a GC heap.\n"
    linked = glossary.linked(page, text)
    assert linked == (
        "# Arena\n`evict` it: [evicted](docs/glossary.md), a [GC heap](docs/glossary.md).\n"
    )
    assert glossary.unlinked(page, linked) == []


# --- the site ---

_WITH_THE_PAGE = "board/index.html"  # dev.py docs puts the page for browsers there


def dead_links(site: Path) -> list[str]:
    """Each link into the site that leads to no file, or to no place in it."""
    text = {
        file.resolve(): re.sub(r"<script.*?</script>", "", file.read_text("utf-8"), flags=re.S)
        for file in site.rglob("*.html")
        if file.name != "404.html"  # for a server's top folder: its links begin with /
    }
    names = {file: set(re.findall(r'\bid="([^"]+)"', found)) for file, found in text.items()}
    dead = []
    for file, found in text.items():
        for link in map(unescape, re.findall(r'(?:href|src)="([^"]+)"', found)):
            if re.match(r"\w+:", link) or link == _WITH_THE_PAGE:
                continue
            name, _, anchor = map(unquote, link.partition("#"))
            target = (file.parent / name).resolve() if name else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (anchor and anchor not in names.get(target, {anchor})):
                dead.append(f"{file.name}: {link}")
    return dead


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    site = {f.relative_to(tmp_path).as_posix() for f in tmp_path.rglob("*.html")}
    assert {f"{page.stem}.html" for page in DOCS.glob("*.md")} <= site
    assert {f"api/{p.stem}.html" for p in paths.LIB.glob("*.py")} <= site
    pools = (tmp_path / "api" / "maixmem_pool.html").read_text(encoding="utf-8")
    for text in (
        "class</span>",
        "high_water",
        "Equal buffers that are allocated once",
        "The pool owns them all",  # the contract above the class
    ):
        assert text in pools, text
    assert dead_links(tmp_path) == []
    for file in tmp_path.rglob("*.html"):
        fetched = re.findall(
            r'<(?:script|img)[^>]* src="(https?:[^"]+)"', file.read_text(encoding="utf-8")
        )
        assert not fetched, f"{file.name} wants the network: {fetched}"
