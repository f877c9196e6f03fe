# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Every command takes a text as Windows' shells and editors write it, and no text ends one."""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path

import pytest
import sim_both
from commands import invoke
from maixmem_cli.text import reading, syntax

_SCRIPT = "print('\u00e9')\r\n"
_WAYS = {
    "mark": codecs.BOM_UTF8 + _SCRIPT.encode(),
    "utf-16": _SCRIPT.encode("utf-16"),
    "utf-16-be": codecs.BOM_UTF16_BE + _SCRIPT.encode("utf-16-be"),
    "utf-16 without a mark": _SCRIPT.encode("utf-16-le"),
    "code page": _SCRIPT.encode("cp850"),
}
_PROJECT = 'firmware = "full"\norder = ["models"]\n'


@pytest.fixture(autouse=True)
def _console(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "code_pages", lambda: ["cp850"])


@pytest.mark.parametrize("data", _WAYS.values(), ids=_WAYS)
def test_a_text_in_any_encoding_of_windows(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(data)
    assert reading.text(file) == reading.script(file) == _SCRIPT.replace("\r\n", "\n")
    assert reading.plain(data).decode() == _SCRIPT


def test_plain_texts_and_what_is_none_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reading.decoded(b"x = 1\n") == ("x = 1\n", "utf-8")
    assert reading.decoded(b"") == ("", "utf-8")
    assert reading.plain(b"core dump \xff\x00\x01") != b""
    monkeypatch.setattr(reading, "code_pages", lambda: ["utf-8"])
    assert reading.plain(b"log \xff") == b"log \xff"
    with pytest.raises(UnicodeDecodeError):
        reading.decoded(b"x = '\xff'")


@sim_both.needs_unix_port
@pytest.mark.parametrize("data", _WAYS.values(), ids=_WAYS)
def test_sim_runs_it_and_says_what_a_board_would_not_read(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(data)
    done = invoke("sim", str(file))
    assert (done.exit_code, done.stdout) == (0, "\u00e9\n")
    assert done.stderr.count("MaixPy does not read from a file. Next: save it as UTF-8") == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_fit_and_explain_take_what_a_shell_redirected(encoding: str, tmp_path: Path) -> None:
    toml, log = tmp_path / "p.toml", tmp_path / "log.txt"
    toml.write_bytes(_PROJECT.encode(encoding))
    log.write_bytes("MemoryError: memory allocation failed, allocating 5 bytes\n".encode(encoding))
    assert "not TOML" not in invoke("fit", str(toml)).stderr
    done = invoke("explain", str(log), "--board", "k210")
    assert done.exit_code == 0 and "MemoryError" in done.stdout


_DEEP = {"minus": "-" * 50000 + "1", "parentheses": "(" * 20000 + "1" + ")" * 20000}


@pytest.mark.parametrize("deep", _DEEP.values(), ids=_DEEP)
def test_what_is_nested_deeply_is_a_clear_error(deep: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(f"import sensor\nx = {deep}\n")
    for command, options in (("fit", ()), ("cure", ()), ("sim", ()), ("sim", ("--trace",))):
        if command == "fit" or sim_both.HAS_UNIX_PORT:
            done = invoke(command, str(file), *options)
            said = done.stdout + done.stderr
            # fit: it is not for want of memory that the script does not run
            wanted = (4,) if command == "fit" else (1, 2)
            assert done.exit_code in wanted, (command, said)
            assert "nested" in said or "MemoryError" in said, (command, said)
            assert "Next: " in said or "Do this: " in said, (command, said)


def test_a_tree_that_can_be_walked() -> None:
    chain = "if x == 0: pass\n" + "".join(f"elif x == {i}: pass\n" for i in range(200))
    assert syntax.tree(chain).body
    with pytest.raises(SyntaxError, match="nested too deeply"):
        syntax.tree("\nx = " + "-" * 300 + "1")
    assert syntax.tree("\nx = " + "-" * 300 + "1", 1000).body


@sim_both.needs_unix_port
@pytest.mark.skipif(sys.platform != "linux", reason="names are Unicode on this system")
def test_names_that_are_no_text_end_nothing(tmp_path: Path) -> None:
    """As a Chinese zip leaves them."""
    file = tmp_path / os.fsdecode(b"m\xe9\xb1.py")
    file.write_text("print(5)\n")
    done = invoke("sim", str(file))
    assert (done.exit_code, done.stdout) == (0, "5\n")
    assert invoke("fit", str(file)).exit_code in (0, 1)
