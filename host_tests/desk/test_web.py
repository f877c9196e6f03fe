# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The page of tools/web, without a browser: its texts, its policy, and who makes its board."""

from __future__ import annotations

import json
import re
from typing import Any

import paths
import pytest
import web_recorded
from maixmem_cli.emulator import board, cores
from maixmem_cli.text.language import LANGUAGES

WEB = paths.TOOLS / "web"
SCRIPTS = sorted(WEB.rglob("*.js"))
COLUMNS = 110


def texts(language: str) -> dict[str, str]:
    return json.loads((WEB / "texts" / f"{language}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_no_line_is_wider_than_an_editor(path: Any) -> None:
    assert max(map(len, path.read_text(encoding="utf-8").splitlines())) <= COLUMNS


def test_every_text_is_there_in_both_languages_and_used() -> None:
    english, chinese = texts("en"), texts("zh")
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", chinese[key])), key
        assert (
            re.search("[\u4e00-\u9fff]", chinese[key])
            or key in ("ctrlC", "language")
            or (text == chinese[key] and text.endswith(".py"))
        ), f"{key}: not Chinese"
    used = "".join(p.read_text(encoding="utf-8") for p in [*SCRIPTS, WEB / "index.html"])
    used += (WEB / "scripts.json").read_text()
    for key in english:
        name = key.split("_")[0] + "_$" if "_" in key else key.removesuffix("Now")
        assert name in used, f"{key}: nobody says it"
    asked = re.findall(r'data-(?:text|label|name)="(\w+)"', used) + re.findall(
        r"say\('(\w+)'", used
    )
    assert not set(asked) - english.keys()


def test_no_script_stands_in_the_page_and_none_comes_from_elsewhere() -> None:
    text = (WEB / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script[^>]*>([^<]*)</script>", text) == [""]
    assert not re.search(r"\son\w+=|javascript:", text)
    assert "script-src 'self' 'wasm-unsafe-eval'" in text and "connect-src 'self';" in text
    for path in [*SCRIPTS, *WEB.glob("*.css")]:
        assert "http" not in path.read_text(encoding="utf-8").replace("http.server", ""), path


def test_the_page_calls_the_board_as_its_c_is() -> None:
    """Which numbers have 64 bits, what a state and an event hold: board.h and board.py against
    board/k210.js."""
    code = (paths.TOOLS / "k210board" / "board.h").read_text()
    script = (WEB / "board" / "k210.js").read_text()
    wide = {}
    for name, given in re.findall(r"^API\((\w+)\)[^(]*\(([^)]*)\)", code, re.M):
        places = [i for i, p in enumerate(given.split(",")) if "u64 " in p]
        wide |= {name: places} if places else {}
    shown = re.findall(r"(k_\w+): \[([^\]]*)\]", script.partition("const WIDE")[2])
    assert {name: [int(n) for n in places.split(",")] for name, places in shown} == wide
    state = "".join(re.findall(r"'([^']*)'", script.partition("const STATE")[2].partition(";")[0]))
    assert state.split() == board._STATE
    assert f"EVENT_BYTES = {board.EVENT.size}" in script


def test_a_page_brings_the_board_of_its_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    made = object()
    monkeypatch.setattr(cores, "given", lambda: made)
    monkeypatch.setattr(cores.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cores.compiler, "compiler", lambda: None)
    assert cores.new() is made and cores.missing() is None


@pytest.mark.skipif(paths.micropython() is None, reason="no MicroPython unix port here: no run")
def test_the_example_of_the_page_hangs_and_its_change_runs() -> None:
    """Both runs are on the stand-in, as where the page is built."""
    [data] = web_recorded.files().values()
    told = json.loads(data)
    assert told["hangs"]["status"] == 3 and told["runs"]["status"] == 0
    assert told["hangs"]["script"] != told["runs"]["script"]
    assert told["answer"].keys() == set(LANGUAGES)
    assert any(step["kind"] == "refused" for step in told["hangs"]["steps"])
    assert not any(step["kind"] == "refused" for step in told["runs"]["steps"])
