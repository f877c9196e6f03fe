# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""README and docs/: every block of code runs, every sample of output is what comes out."""

from __future__ import annotations

import shutil
from pathlib import Path

import manual
import paths
import pytest
from commands import invoke
from readme_blocks import Block, blocks, shows


def _named(found: list[tuple[Path, Block]]) -> list:
    return [pytest.param(b, id=f"{page.stem}:{b.line}") for page, b in found]


_PYTHON = [(page, b) for page, b in manual.blocks_of("python") if not b.file]
_K210 = [(p, b) for p, b in _PYTHON if b.platform == "k210"]
_LINUX = [(p, b) for p, b in _PYTHON if b.platform in manual.LINUX]


@pytest.mark.parametrize("block", _named(_K210))
def test_k210_block(block: Block, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status = manual.run_on_k210(block, tmp_path)
    output = capfd.readouterr().out
    assert status == (manual.HANGS if block.hangs else 0), output
    assert output or block.hangs, "it prints nothing: nobody could see that it works"
    for sample in block.samples:
        assert shows(output, sample), f"{sample}\nis not in\n{output}"


@pytest.mark.parametrize("block", _named(_LINUX))
def test_linux_block(block: Block, tmp_path: Path) -> None:
    done = manual.run_on_linux(block, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
    for sample in block.samples:
        assert shows(done.stdout, sample), f"{sample}\nis not in\n{done.stdout}"


_TESTS = sorted({p for p, b in _PYTHON if b.platform == "pytest"})
_UNIX = [(p, b) for p, b in _PYTHON if b.platform in manual.UNIX]


@pytest.mark.parametrize("page", _TESTS, ids=lambda p: p.stem)
def test_tests_of_a_page(page: Path, tmp_path: Path) -> None:
    found = [b for b in blocks(page) if b.platform == "pytest"]
    done = manual.run_pytest(found, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" PASSED") == "".join(b.text for b in found).count("def test_")


@pytest.mark.skipif(
    paths.micropython() is None, reason="no MicroPython unix port here: blocks of the manual"
)
@pytest.mark.parametrize("block", _named(_UNIX))
def test_unix_block(block: Block, tmp_path: Path) -> None:
    done = manual.run_on_unix(block, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


_WITH_COMMANDS = [
    page
    for page in manual.PAGES
    if page not in manual.WALKS and any(b.language == "sh" for b in blocks(page))
]


@pytest.mark.parametrize("page", _WITH_COMMANDS, ids=lambda p: p.stem)
def test_commands_of_a_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    """In the order of the page, in one folder, as a reader would; a toml block is the project.toml
    there."""
    manual.fill(tmp_path)
    shutil.copytree(paths.EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    capfd.readouterr()
    for block in blocks(page):
        if block.language == "toml":
            Path("project.toml").write_text(block.text, encoding="utf-8")
        if block.language != "sh":
            continue
        output = ""
        for line in block.lines:
            output += manual.run_line(line, invoke, tmp_path) + capfd.readouterr().out
        needs_image = any("maixpy.bin --flash" in line for line in block.lines)
        for sample in block.samples if manual.firmware_image() or not needs_image else ():
            assert shows(output, sample), f"{page.name}: {sample}\nis not in\n{output}"
    if not manual.firmware_image() and "--camera" in page.read_text(encoding="utf-8"):
        pytest.skip(
            f"{page.name}: profile and sim on a firmware image: MAIXMEM_FIRMWARE names none"
        )


def test_every_block_has_a_way_to_run() -> None:
    known = {"k210", "pytest", *manual.UNIX, *manual.LINUX}
    for page, block in _PYTHON:
        assert block.platform in known, f"{page.name}:{block.line}: on {block.platform}"
    for page in manual.PAGES:
        for block in blocks(page):
            known = ("python", "sh", "toml", "text")  # text is what something printed elsewhere
            assert block.language in known, f"{page.name}:{block.line}"
