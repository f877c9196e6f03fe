# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""README.md and README_ZH.md as texts: equal in both languages, and true in what stands beside the
code."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import kmodel_build
import manual
import paths
import pytest
from maixmem_cli.cli import COMMANDS
from maixmem_cli.commands import sim as cmd_sim
from maixmem_cli.errors import table
from maixmem_cli.errors.made import shown
from maixmem_cli.firmware.builds import FIRMWARES
from manual import CHINESE, DOCS, IN_CHINESE, README
from readme_blocks import blocks

_SCREEN = 40  # lines
COLUMNS = 120  # of a source line, for who reads it in a terminal


def _columns(line: str) -> int:
    """Columns on a terminal: letters of Chinese take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def _table(page: Path, header: str) -> list[list[str]]:
    """The cells of the rows of every table whose header begins so."""
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = []
    for start in (i + 2 for i, line in enumerate(lines) if line.startswith(f"| {header} |")):
        for line in lines[start:]:
            if not line.startswith("|"):
                break
            rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    assert rows, f"{page.name} has no table {header!r}"
    return rows


@pytest.mark.parametrize("readme", [README, CHINESE], ids=lambda p: p.stem)
def test_a_readme_fits_a_terminal(readme: Path) -> None:
    lines = readme.read_text(encoding="utf-8").splitlines()
    wide = [
        f"{n}: {_columns(line)}" for n, line in enumerate(lines, 1) if _columns(line) > COLUMNS
    ]
    assert not wide, wide


def _page_name(page: Path) -> str:
    return page.stem


@pytest.mark.parametrize("english, chinese", IN_CHINESE.items(), ids=_page_name)
def test_chinese_has_the_same_code(english: Path, chinese: Path) -> None:
    def code(page: Path) -> list:
        return [(b.language, b.platform, b.hangs, b.file, b.text, b.samples) for b in blocks(page)]

    assert code(chinese) == code(english)


@pytest.mark.parametrize("english, chinese", IN_CHINESE.items(), ids=_page_name)
def test_chinese_has_the_same_headings_tables_links_and_commands(
    english: Path, chinese: Path
) -> None:
    def parts(page: Path) -> list:
        text = page.read_text(encoding="utf-8")
        heads = [line.split(" ")[0] for line in text.splitlines() if re.match(r"#+ ", line)]
        rows = [
            f"{row.count(' | ')} {sorted(re.findall('[0-9]+', row))}"
            for row in text.splitlines()
            if row.startswith("|")
        ]
        found = (link.replace("_zh.md", ".md") for link in re.findall(r"\]\(([^)]+)\)", text))
        links = set(found) - {README.name, CHINESE.name}
        prose = re.sub(r"```.*?```", "", text, flags=re.S)
        return [heads, rows, links, set(re.findall(r"`([^`\n]+)`", prose))]

    for there, here in zip(parts(chinese), parts(english)):
        assert there == here


def test_the_table_of_commands_has_every_command() -> None:
    named = [c for row in _table(README, "`maixmem ...`") for c in re.findall(r"`(\w+)`", row[0])]
    assert sorted(named) == sorted(COMMANDS)


def test_every_error_text_is_one_that_users_meet() -> None:
    library = " ".join(p.read_text(encoding="utf-8") for p in paths.LIB.glob("*.py"))
    rows = _table(DOCS / "errors.md", "text")
    beside = " ".join(word.strip("*") for row in table.rows() for word in row.also)
    own_words = {shown(key) for row in table.rows() if row.cases for key in row.match}
    assert len(rows) > 20
    for row in rows:
        for text in re.findall(r"`([^`]+)`", row[0]):
            if text.endswith("in your own words)"):  # no text: a row's cases are some
                assert text in own_words
                continue
            raised = f"ValueError: {text}"  # of some: raised alone
            found = (
                table.find(said, b, log)
                for b in (None, *table.boards())
                for said in (text, raised)
                for log in (said, f"{said} {beside}")  # of some: with other words of the log
            )
            assert text in library or any(found), f"{text!r} is said by nothing"


def test_explain_knows_every_error_of_the_questions() -> None:
    text = (DOCS / "faq.md").read_text(encoding="utf-8")
    quoted = {
        error
        for question in re.findall(r"^\*\*\d+\. (.*?)\*\*", text, flags=re.M | re.S)
        for error in re.findall(r"`([^`]+)`", question)
        if not error.endswith((".py", "()"))
    }
    assert len(quoted) > 25
    unknown = sorted(error for error in quoted if not table.find(error))
    assert not unknown, unknown


def test_extras_that_the_manual_and_the_command_name_are_there() -> None:
    project = (paths.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pages = [README, DOCS / "install.md", *paths.TOOLS.rglob("*.py")]
    text = "".join(p.read_text(encoding="utf-8") for p in pages)
    named = set(re.findall(r'pip install "(?:\.|maixmem)\[(\w+)\]"', text))
    assert named
    for extra in named:
        assert f"\n{extra} = [" in project, extra
    port = runpy.run_path(str(paths.TOOLS / "dev.py"))["UNIX_PORT"]
    assert port.replace("==", ">=") in project


def test_firmware_builds_are_those_of_the_desk() -> None:
    said = {row[0]: row[1:] for row in _table(DOCS / "k210.md", "K210 firmware v0.6.2_84")}
    for f in FIRMWARES.values():
        kinds = "V3, V4" if f.v4 else "V3"
        assert said[f.name] == [f"0x{f.end:06x}", f"{f.heap:,}", kinds]
    assert set(said) == set(FIRMWARES)


def test_the_least_is_enough(tmp_path: Path) -> None:
    """A report on a K210 with only the files that the manual calls the least."""
    text = (DOCS / "install.md").read_text(encoding="utf-8")
    least = text.split("The least for a report on a K210: ")[1].split(". ")[0]
    for name in re.findall(r"`(\w+\.py)`", least):
        shutil.copy(paths.LIB / name, tmp_path)
    env = {"PYTHONPATH": ":".join(map(str, (tmp_path, *paths.SHIM_PATH)))}
    command = [sys.executable, "-c", "import maixmem; maixmem.report()"]
    done = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("maixmem ") and "on k210" in done.stdout


@pytest.mark.parametrize("readme", [README, CHINESE], ids=lambda p: p.stem)
def test_what_windows_is_told_works_in_powershell(readme: Path) -> None:
    """%NAME% is cmd's alone; a folder below the one that is open works in both."""
    assert "%" not in readme.read_text(encoding="utf-8").replace("100%", "")


# --- what it says of maixmem_auto ---

_ROUNDS = """
sensor.set_windowing((224, 224))
for n in range(2):
    img = sensor.snapshot()
    first = kpu.forward(classes, img)
    second = kpu.forward(faces, img)
    print(len(first[:]), len(second[:]))
"""


def _with_one_line(rounds: str, folder: Path, flash: dict[int, Path]) -> int:
    """Runs the script that hangs, with the line before it and rounds after it."""
    hangs = next(b for b in blocks(README) if b.hangs)
    script = folder / "main.py"
    script.write_text(f"import maixmem_auto\n{hangs.text}{rounds}")
    return cmd_sim.run(script, "full", flash)


def test_with_one_line_before_it_the_script_runs(tmp_path: Path, capfd) -> None:
    assert _with_one_line(_ROUNDS, tmp_path, manual.fill(tmp_path)) == 0
    assert capfd.readouterr().out.count("10 1470") == 2


def test_a_large_result_has_to_be_read_before_the_next_model_runs(tmp_path: Path, capfd) -> None:
    flash = manual.fill(tmp_path)
    half = {"halve": True}
    body = [*[("conv", 8, half)] * 3, ("raw", 2, 1700 << 10), ("conv", 8), ("dequantize",)]
    flash[0x300000].write_bytes(kmodel_build.v3((224, 224, 3), body).to_bytes())
    assert _with_one_line(_ROUNDS, tmp_path, flash) == 1
    shown = capfd.readouterr()
    assert "ModelReleasedError" in shown.out + shown.err
    early = _ROUNDS.replace("second =", "best = max(first[i] for i in range(6272))\n    second =")
    assert _with_one_line(early.replace("len(first[:])", "best"), tmp_path, flash) == 0


# --- the two commands ---

_COMMANDS = ["python3 tools/dev.py demo", "python3 tools/dev.py test"]


def test_the_first_commands_are_these_two() -> None:
    """What a reader runs first; the second is what CI runs."""
    first = next(b for b in blocks(README) if b.language == "sh")
    assert first.lines == _COMMANDS
    assert f"exec {_COMMANDS[1]}\n" in (paths.ROOT / ".ci" / "run").read_text(encoding="utf-8")


def _environment(clone: Path, unix_port: bool) -> None:
    """The clone has this checkout's .venv, or all of it but the MicroPython unix port, which no
    Windows has."""
    programs = Path(sys.executable).parent
    if unix_port:
        (clone / ".venv").symlink_to(programs.parent)
        return
    (clone / ".venv" / programs.name).mkdir(parents=True)
    for file in (*programs.parent.iterdir(), *programs.iterdir()):
        if file not in (programs, programs / "micropython"):
            (clone / ".venv" / file.relative_to(programs.parent)).symlink_to(file)


@pytest.mark.parametrize("unix_port", [True, False])
def test_the_demo_runs_in_a_clone(unix_port: bool, tmp_path: Path) -> None:
    """As README has it, and prints what README says; with the environment of this checkout."""
    if not (paths.ROOT / ".git").exists():
        pytest.skip("NO CLONE: this is no checkout")
    dev = runpy.run_path(str(paths.TOOLS / "dev.py"))
    if not dev["STAMP"].is_file() or dev["STAMP"].read_text() != dev["stamp"]():
        pytest.skip("NO DEMO IN A CLONE: .venv is not that of dev.py, and would be made anew")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", paths.ROOT, clone], check=True)
    _environment(clone, unix_port)
    command = [sys.executable, *_COMMANDS[0].split()[1:]]
    done = subprocess.run(
        command,
        cwd=clone,
        env={**os.environ, "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert unix_port or "this run is on CPython" in done.stdout
    printed = {line.strip() for line in done.stdout.splitlines()}
    (shown,) = next(b for b in blocks(README) if b.language == "sh").samples
    assert printed >= set(shown)


def test_a_test_run_ends_with_what_was_not_checked() -> None:
    """`dev.py test` is pytest with this checkout's conftest.py."""
    skipped = paths.HOST_TESTS / "manual" / "test_front_door.py"
    command = [sys.executable, "-m", "pytest", "-n0", "-k", "with_a_firmware", str(skipped)]
    none = {k: v for k, v in os.environ.items() if not k.startswith("MAIXMEM_")}
    done = subprocess.run(
        command, cwd=paths.ROOT, env=none, capture_output=True, text=True, check=False
    )
    end = done.stdout.rpartition("NOT CHECKED HERE")[2]
    assert done.returncode == 0 and " x " in end, done.stdout + done.stderr
    assert "`NOT CHECKED HERE`" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("readme", [README, CHINESE], ids=_page_name)
def test_the_first_screen_says_what_how_and_where_next(readme: Path) -> None:
    """Forty lines: a picture, the two commands with what they print, a script that hangs and what
    mends it, a page to begin with for each board."""
    screen = "\n".join(readme.read_text(encoding="utf-8").splitlines()[:_SCREEN])
    begin = {page.name for page in DOCS.glob("start_*.md")}
    for part in (
        "docs/pictures/browser.png",
        *_COMMANDS,
        "built_b is loaded",
        "<!-- hangs -->",
        "import maixmem_auto",
        *begin,
    ):
        assert part in screen, part
