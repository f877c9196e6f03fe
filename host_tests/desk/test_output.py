# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What commands print: on narrow and wide terminals, in any encoding, and when a word is
misspelt."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import kmodel_build
import paths
import pytest
from commands import invoke, maixmem
from maixmem_cli.cli import COMMANDS

_NAME = "人脸检测.kmodel"
#: fit's -o is a project, kfpkg's a package; selftest names its JSON, top's series is --csv
_OWN_FILES = ("fit", "kfpkg", "selftest", "top")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A model with a Chinese name and two projects: one fits, one does not."""
    place = tmp_path_factory.mktemp("output")
    layers = [("conv", n) for n in (128, 256, 64)] + [("dequantize",)]
    (place / _NAME).write_bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())
    entry = f'[[model]]\nfile = "{_NAME}"\naddress = 0x300000\n'
    (place / "good.toml").write_text(f'firmware = "full"\n{entry}', encoding="utf-8")
    pool = '[[pool]]\nname = "池"\nsize = "QVGA"\ncount = 9\n'
    (place / "bad.toml").write_text(f'firmware = "lvgl"\n{entry}{pool}', encoding="utf-8")
    return place


def commands(folder: Path) -> dict[str, tuple[str, ...]]:
    return {
        "kmodel": ("kmodel", str(folder / _NAME), "--layers"),
        "flash": ("flash", f"{folder / _NAME}@0x100000", "--suggest"),
        "fit": ("fit", str(folder / "good.toml")),
        "no fit": ("fit", str(folder / "bad.toml")),
    }


def run(arguments: tuple[str, ...], **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "maixmem_cli", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=paths.TOOLS, env=env, capture_output=True, check=False)


def numbers(text: str) -> list[str]:
    """Every size and address, in any order: what a table must not lose."""
    return sorted(set(re.findall(r"\d+\.\d [KM]iB|0x[0-9a-f]+", text)))


@pytest.mark.parametrize("name", ["kmodel", "flash", "fit", "no fit"])
def test_a_narrow_terminal_loses_no_number(folder: Path, name: str) -> None:
    arguments = commands(folder)[name]
    wide, narrow = (
        run(arguments, COLUMNS=n, PYTHONIOENCODING="utf-8").stdout.decode() for n in ("200", "40")
    )
    assert numbers(wide) == numbers(narrow)
    assert "…" not in narrow
    long = [line for line in narrow.splitlines() if len(line) > 40 and " " in line.strip()]
    assert [line for line in long if "@" not in line and "/" not in line] == []
    assert max(map(len, wide.splitlines())) <= 200


@pytest.mark.parametrize("name", ["kmodel", "flash", "fit", "no fit"])
@pytest.mark.parametrize("encoding", ["ascii", "gbk", "latin-1", "utf-8"])
def test_any_encoding(folder: Path, name: str, encoding: str) -> None:
    done = run(commands(folder)[name], PYTHONIOENCODING=encoding, TERM="dumb")
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    text = done.stdout.decode(encoding)
    assert "\x1b" not in text
    assert ("人脸" in text) == (encoding in ("gbk", "utf-8")) or name in ("fit", "no fit")
    assert numbers(text) == numbers(run(commands(folder)[name]).stdout.decode())


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_errors_in_any_encoding(folder: Path, encoding: str) -> None:
    done = run(("kmodel", str(folder / "没有.kmodel")), PYTHONIOENCODING=encoding)
    assert done.returncode == 2 and b"Traceback" not in done.stderr


def test_names_keep_their_letters(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.kfpkg"
    maixmem("kfpkg", f"{folder / _NAME}@0x300000", "-o", str(path))
    assert _NAME in maixmem("flash", str(path))


@pytest.mark.parametrize(
    ("word", "meant"), [("flassh", "flash"), ("kmodle", "kmodel"), ("doktor", "doctor")]
)
def test_a_misspelt_command_is_recognised(word: str, meant: str) -> None:
    done = invoke(word)
    assert done.exit_code == 2
    assert f"no command {word!r}. Next: maixmem {meant}" in done.stderr


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: None, "check its name"),
        (lambda p: p.mkdir(), "not a folder"),
    ],
)
def test_a_file_error_says_what_is_wrong_with_the_file(tmp_path: Path, make, says: str) -> None:
    path = tmp_path / "x.kmodel"
    make(path)
    done = invoke("kmodel", str(path))
    assert done.exit_code == 2 and says in done.stderr and "address" not in done.stderr


@pytest.mark.parametrize("legend", ["use: #", "used before", "stays", "free"])
def test_marks_are_explained(folder: Path, legend: str) -> None:
    assert legend in maixmem("fit", str(folder / "good.toml"))


def test_the_strip_is_explained(folder: Path) -> None:
    out = maixmem("flash", f"{folder / _NAME}@0x100000", status=1)
    assert "F firmware, M model, S filesystem, ! two owners, . free or not known" in out


# --- -o FILE ---


def test_what_is_printed_goes_to_a_file_with_any_status(tmp_path: Path) -> None:
    file = tmp_path / "r\xe9sultat.json"
    shown = maixmem("explain", "--json", "ENOMEM")
    assert maixmem("explain", "--json", "ENOMEM", "-o", str(file)) == ""
    assert file.read_bytes() == shown.encode()
    assert json.loads(shown)["answers"]
    assert maixmem("explain", "zzz", "-o", str(file), status=1) == ""
    assert "not known" in file.read_text(encoding="utf-8")


def test_wrong_use_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_text("kept")
    done = invoke("kmodel", str(tmp_path / "none.kmodel"), "--json", "-o", str(file))
    assert done.exit_code == 2 and "none.kmodel" in done.stdout + done.stderr
    assert file.read_text() == "kept"
    done = invoke("explain", "ENOMEM", "-o", str(tmp_path / "no" / "such.json"))
    assert done.exit_code == 2 and "-o" in done.stderr


@pytest.mark.parametrize("name", [n for n in COMMANDS if n not in _OWN_FILES])
def test_every_command_that_prints_json_writes_it_to_a_file(name: str) -> None:
    """Redirected by PowerShell 5 it would be UTF-16."""
    text = maixmem(name, "--help")
    assert ("-o FILE" in text) == ("--json" in text), name


def test_a_reader_that_has_enough_hears_no_error(folder: Path) -> None:
    """`maixmem fit project.toml | head -1`: what comes after that goes nowhere."""
    command = [sys.executable, "-m", "maixmem_cli", "fit", str(folder / "good.toml")]
    with subprocess.Popen(
        command, cwd=paths.TOOLS, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
