# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Wrong use of every command is one line and status 2, and what is missing is named."""

from __future__ import annotations

import json
import subprocess
import sys

import paths
import pytest
from commands import invoke, maixmem


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["kmodel", "no.kmodel"], "no.kmodel"),
        (["kmodel", "--firmware", "none", __file__], "--firmware"),
        (["flash", "no.kmodel@0x300000"], "no.kmodel"),
        (["flash"], "ITEM"),
        (["fit"], "PROJECT.toml"),
        (["fit", str(paths.ROOT / "LICENSE")], "not TOML"),
        (["top", "--interval", "soon"], "soon"),
        (["top"], "--once"),
        (["deploy", "--wait", "long"], "--wait"),
        (["doctor", "--speed"], "--speed"),
        (["nosuch"], "nosuch"),
    ],
)
def test_wrong_use_is_one_line_and_json_stays_json(arguments: list[str], named: str) -> None:
    if arguments != ["top"]:
        done = invoke(*arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("maixmem: ") and named in line and "Next: " in line
    done = invoke(*arguments, "--json")
    assert (done.exit_code, done.stderr) == (2, "")
    assert named in json.loads(done.stdout)["error"]


@pytest.mark.parametrize("name", ["doctor", "top", "deploy"])
def test_without_pyserial_one_line_says_what_to_install(name: str) -> None:
    code = (
        "import sys; sys.modules['serial'] = None; from maixmem_cli.cli import main; "
        "main(sys.argv[1:])"
    )
    arguments = [name, "--port", "/nowhere/port", *(["--once"] if name == "top" else [])]
    ends = [
        subprocess.run(
            [sys.executable, "-c", code, *arguments, *more],
            cwd=paths.TOOLS,
            capture_output=True,
            text=True,
            check=False,
        )
        for more in ([], ["--json"])
    ]
    assert [done.returncode for done in ends] == [2, 2]
    (line,) = ends[0].stderr.splitlines()
    told = json.loads(ends[1].stdout)["error"]
    assert line == f"maixmem: {told}"
    assert told == "serial is not installed. Next: pip install pyserial"


@pytest.mark.parametrize("name", ["build", "deploy", "doctor", "top", "sim"])
def test_help_has_an_example(name: str) -> None:
    out = " ".join(maixmem(name, "--help").split())
    assert f"Example: maixmem {name}" in out
    assert "Exit status" in out
