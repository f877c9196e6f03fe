# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The page for everybody: languages, keys, narrow screens, no network, broken and huge files, two
tabs; how much is loaded first."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import threading
from pathlib import Path
from typing import Any

import paths
import pytest
from browser_page import PATIENCE, drop, opened, told, wait_state
from maixmem_cli.emulator import pictures
from maixmem_cli.flash import image
from maixmem_cli.kmodel import example

WEB = paths.ROOT / "dist" / "web"
_FIRST = 200 << 10  # bytes of the first load, compressed, without Python


@pytest.mark.quick
@pytest.mark.parametrize("browser", ["chromium"], indirect=True)  # Firefox tells of no worker's
def test_first_load(context: Any, site: str) -> None:
    fetched: set[str] = set()
    context.on("request", lambda r: fetched.add(r.url.partition("?")[0]))
    page = opened(context, site)
    page.wait_for_timeout(1500)
    ours = {url.removeprefix(site) for url in fetched if url.startswith(site)}  # no blob
    files = {name or "index.html" for name in ours}
    sizes = {f: len(gzip.compress((WEB / f).read_bytes())) for f in files}
    print(f"\nfirst load: {sum(sizes.values())} bytes compressed in {len(sizes)} files")
    assert sum(sizes.values()) <= _FIRST
    assert not any(f.startswith(("pyodide", "wheels")) for f in files)


def test_chinese(page: Any) -> None:
    page.select_option("#language", "zh")
    page.wait_for_function("() => document.documentElement.lang === 'zh-CN'")
    assert page.text_content("#run") == "运行"
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.text_content("#run") == "运行"


@pytest.mark.quick
def test_every_control_has_a_name(page: Any) -> None:
    unnamed = page.evaluate("""() => [...document.querySelectorAll(
        'button, input, select, textarea, [role=img], iframe, progress')].filter((e) => !(
        e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length || e.title))
        .map((e) => e.outerHTML.slice(0, 90))""")
    # the two maps get theirs when there is something in them; xterm's own box has one
    assert [u for u in unnamed if "-heap" not in u] == []


@pytest.mark.quick
def test_tabs_by_keyboard(page: Any) -> None:
    page.focus("#tab-board")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#heap") and not page.is_visible("#board")
    page.keyboard.press("End")
    assert page.is_visible("#explain")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#board")


def test_tab_indents_and_escape_leaves_the_editor(page: Any) -> None:
    page.fill("#code", "")
    page.focus("#code")
    page.keyboard.press("Tab")
    assert page.input_value("#code") == "    "
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "code"


def test_four_hundred_pixels_need_no_sideways_scrolling(page: Any, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    (tmp_path / "a_model_with_a_long_name_as_they_come.kmodel").write_bytes(example.data())
    drop(page, *tmp_path.iterdir())
    page.wait_for_selector("input.place", timeout=PATIENCE)
    for tab in ("board", "profile", "plan", "models", "explain"):
        page.click(f"#tab-{tab}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, tab


@pytest.mark.quick
def test_without_a_network(context: Any, site: str) -> None:
    page = opened(context, site)
    page.wait_for_function(
        "() => document.getElementById('offline').textContent", timeout=PATIENCE
    )
    context.set_offline(True)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.is_visible("#code")
    context.set_offline(False)


_PROBE = """fetch('{}', {{ mode: 'no-cors' }}).then(
    () => postMessage('came'), () => postMessage('not'));"""
_HEAR = """async (ours) => {
    const { worker } = await import('./page/workers.js');
    const made = ours ? worker('../probe.js') : new Worker('probe.js', { type: 'module' });
    return new Promise((done) => { made.onmessage = (e) => done(e.data); });
}"""


@pytest.mark.quick
def test_workers_reach_nobody_else(browser: Any, site: str) -> None:
    """On the first visit, from a server that sends no policy."""
    asked: list[str] = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    probe = WEB / "probe.js"
    context = browser.new_context(service_workers="block")
    with http.server.HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        probe.write_text(_PROBE.format(f"http://127.0.0.1:{other.server_address[1]}/x"))
        page = opened(context, site)
        try:
            assert page.evaluate(_HEAR, False) == "came" and asked == ["/x"]
            assert page.evaluate(_HEAR, True) == "not" and asked == ["/x"]
        finally:
            probe.unlink()
            context.close()
            other.shutdown()


def test_a_draft_outlives_the_tab_and_a_second_tab_has_its_own(context: Any, site: str) -> None:
    first = opened(context, site)
    first.fill("#code", "print('first')")
    second = opened(context, site)
    assert second.input_value("#code") == "print('first')"
    second.fill("#code", "print('second')")
    first.reload()
    first.wait_for_selector("body[data-ready]")
    assert first.input_value("#code") == "print('first')"
    first.close()
    second.close()
    assert opened(context, site).input_value("#code") == "print('second')"


def test_a_link_carries_the_script(context: Any, site: str) -> None:
    page = opened(context, site)
    page.fill("#code", "print('träger')  # 中文\n")
    page.click("#link")
    page.wait_for_function("() => location.hash.startsWith('#script=')")
    fresh = context.browser.new_context()
    assert opened(fresh, page.url).input_value("#code") == "print('träger')  # 中文\n"
    fresh.close()


def test_broken_files_get_a_sentence_and_the_draft_stays(page: Any, tmp_path: Path) -> None:
    page.fill("#code", "print('kept')")
    (tmp_path / "empty.bin").write_bytes(b"")
    drop(page, tmp_path / "empty.bin")
    page.wait_for_selector(".finding")
    assert "empty.bin is empty" in page.text_content("#findings")
    (tmp_path / "ones.bin").write_bytes(b"\xff" * 500_000)
    drop(page, tmp_path / "ones.bin")
    wait_state(page, "failed")
    assert "Next:" in page.text_content("#told")
    page.click("#list button")  # away with it
    (tmp_path / "broken.kmodel").write_bytes(b"\3\0\0\0" + b"\xee" * 3000)
    drop(page, tmp_path / "broken.kmodel")
    page.wait_for_selector(".finding", timeout=PATIENCE)
    assert "broken.kmodel" in page.text_content("#findings")
    assert page.input_value("#code") == "print('kept')"


def test_a_hundred_megabytes_are_refused(page: Any, tmp_path: Path) -> None:
    with (tmp_path / "huge.bin").open("wb") as f:
        f.truncate(100_000_000)
    drop(page, tmp_path / "huge.bin")
    page.wait_for_selector(".finding", timeout=PATIENCE)
    assert "huge.bin has 100 MB" in page.text_content("#findings")
    assert page.evaluate("document.querySelectorAll('#list tbody tr').length") == 0


@pytest.mark.quick
def test_without_a_firmware_run_says_what_to_do(page: Any) -> None:
    assert page.is_disabled("#run")
    page.focus("#code")
    page.keyboard.press("Control+Enter")
    assert "Next: drop the .bin" in told(page, "firmware")


def test_the_page_makes_flash_and_film_as_the_command_does(page: Any, tmp_path: Path) -> None:
    """Two rules that the page has in JavaScript, for a prompt before Python is there."""
    code = b"raw REPL; CTRL-B" + bytes(range(256)) * 40
    (tmp_path / "firmware.bin").write_bytes(code)
    made = page.evaluate(
        """async (code) => {
        const { bootImage } = await import('./page/power.js');
        const { pattern } = await import('./board/camera.js');
        const hash = async (b) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', b))];
        return [await hash(await bootImage(new Uint8Array(code))), await hash(pattern())];
    }""",
        list(code),
    )
    wanted = bytes(image.build(tmp_path / "firmware.bin"))[: len(code) + 37]
    assert bytes(made[0]) == hashlib.sha256(wanted).digest()
    assert bytes(made[1]) == hashlib.sha256(pictures.film(pictures.PATTERN)).digest()
