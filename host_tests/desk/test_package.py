# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the package index shows of the project: links that lead into its repository."""

from __future__ import annotations

import re
import subprocess
import sys

import paths


def _of_setup(option: str) -> str:
    command = [sys.executable, "setup.py", "-q", option]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, check=True)
    return done.stdout.decode()


def _address() -> str:
    project = (paths.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.search('^Repository = "(.+)"$', project, re.MULTILINE)[1]


def test_every_link_of_the_readme_leads_somewhere_on_the_index() -> None:
    shown = _of_setup("--long-description")
    source = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    here = re.findall(r"\]\((?!https:)([^)\s]+)\)", source)
    there = re.findall(rf"\]\({re.escape(_address())}/(?:blob|raw)/HEAD/([^)\s]+)\)", shown)
    assert len(here) > 40 and there == here
    assert re.findall(r"\]\((?!https:)[^)]*\)", shown) == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", shown)
    assert pictures and all(f"{_address()}/raw/HEAD/docs/pictures/" in p for p in pictures)


def test_the_address_is_in_one_place() -> None:
    """Who publishes changes pyproject.toml; elsewhere the placeholder is explained."""
    for page in ("README.md", "README_ZH.md", "docs/install.md"):
        text = (paths.ROOT / page).read_text(encoding="utf-8")
        named = set(re.findall(r"github(?:\.com/|:)([\w-]+)/maixmem", text))
        assert named == {"OWNER"} and "`OWNER`" in text, page
