# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The tab of the heap: the board in the page, and a real one by Web Serial: another board in the
page plays `navigator.serial`. The browser's own dialogue needs a person: untested."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from browser_page import PATIENCE, drop, finish, learned, opened, wait_state

pytestmark = pytest.mark.parametrize("browser", ["chromium"], indirect=True)
_CHOOSER = """
Object.defineProperty(Navigator.prototype, 'serial', { configurable: true, get: () => ({
    requestPort: async () => {
        if (!window.port) throw new DOMException('No port was chosen', 'NotFoundError');
        return window.port;
    },
}) });
"""
_NO_SERIAL = "delete Navigator.prototype.serial;"
#: a port as the specification of Web Serial has it; pull() is a cable that goes
_PORT = """async (letters) => {
    const { worker } = await import('./page/workers.js');
    const { bootImage } = await import('./page/power.js');
    const board = worker('../board/worker.js');
    const lost = () => new DOMException('The device has been lost.', 'NetworkError');
    window.port = {
        heard: '',
        getInfo: () => ({ usbVendorId: 0x1a86, usbProductId: 0x7523 }),
        async open({ baudRate }) {
            if (this.pulled) throw lost();
            this.baudRate = baudRate;
            this.readable = new ReadableStream({ start: (to) => { this.to = to; } });
            this.writable = new WritableStream({ write: (bytes) => {
                if (this.pulled) throw lost();
                board.postMessage({ kind: 'type', bytes });
            } });
        },
        async setSignals() {},
        async close() { this.to = null; },
        pull() { this.pulled = true; this.to.error(lost()); },
    };
    board.onmessage = ({ data }) => {
        if (data.kind !== 'said') return;
        window.port.heard += new TextDecoder().decode(data.data);
        if (!window.port.pulled) window.port.to?.enqueue(data.data);
    };
    const image = Uint8Array.from(atob(letters), (c) => c.charCodeAt(0));
    board.postMessage({ kind: 'start', number: 1, flash: await bootImage(image) });
}"""
_STORE = "store = {'lines': [bytearray(500) for i in range(12)]}"
_LEAK = "store['lines'] += [bytearray(300) for i in range(20)]"


def played(page: Any, firmware: Path) -> None:
    """A board at its prompt, which the browser's dialogue finds."""
    page.evaluate(_PORT, base64.b64encode(firmware.read_bytes()).decode())
    page.wait_for_function("() => window.port.heard.includes('>>> ')", timeout=PATIENCE)


def press(page: Any, button: str) -> str:
    """What the command of a button says, without the line that shows the command."""
    page.eval_on_selector("#heap-said", "e => delete e.dataset.state")
    page.click(f"#{button}")
    return finish(page, "heap-said").partition("\n")[2]


def typed(page: Any, line: str) -> None:
    """At the prompt of the board on USB."""
    page.click("#usb-console")
    page.keyboard.type(f"{line}; print(6 * 7, {len(line)})\r")
    page.wait_for_function(
        "text => document.getElementById('usb-console').text().includes(text)",
        arg=f"42 {len(line)}",
        timeout=PATIENCE,
    )


def shot(page: Any, name: str) -> None:
    """Pictures to look at, into the folder that $MAIXMEM_PICTURES names; no width scrolls."""
    folder = os.environ.get("MAIXMEM_PICTURES")
    for width in (1100, 400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if folder:
            page.eval_on_selector(
                "#heap-report", "e => e.scrollIntoView()"
            )  # else it is not drawn
            page.wait_for_timeout(1000)
            page.screenshot(path=f"{folder}/{name}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_the_board_in_the_page(page: Any, firmware: Path) -> None:
    """Snapshot, difference, path; then its own console again."""
    drop(page, firmware)
    wait_state(page, "prompt")
    learned(page)
    page.click("#console")
    page.keyboard.type(f"{_STORE}\r")
    page.click("#tab-heap")
    text = press(page, "heap-go")
    assert "main.store['lines'][*]" in text and "system heap 0x80" in text
    assert "heap_free() = " in text and "bytearray" in text
    report = page.frame_locator("#heap-report")
    assert report.locator("svg").count() == 4  # by owner, by type, by address, the system heap
    page.click("#tab-board")
    page.click("#console")
    page.keyboard.type(f"{_LEAK}\r")
    page.click("#tab-heap")
    press(page, "heap-go")
    assert page.input_value("#heap-before") == "1.heap"
    told = press(page, "heap-diff")
    (grew,) = [
        line for line in told.splitlines() if line.startswith("grew    main.store['lines'][*]")
    ]
    assert "+20" in grew
    page.fill("#heap-path", "store['lines'][3]")
    assert "main.store['lines'][3] at 0x" in press(page, "heap-why")
    shot(page, "heap-page")


def test_a_board_on_usb(context: Any, site: str, firmware: Path) -> None:
    """Connect, console, snapshot, difference, the library put on it."""
    context.add_init_script(_CHOOSER)
    page = opened(context, site)
    page.click("#tab-heap")
    assert page.is_disabled("#heap-go") and not page.is_visible("#heap-serial")
    page.click("#heap-connect")  # nothing chosen: nothing said
    assert page.is_hidden("#heap-told")
    played(page, firmware)
    page.click("#heap-connect")
    page.wait_for_selector("#heap-state[data-board=usb]")
    assert page.text_content("#heap-state") == "USB 1a86:7523"
    assert page.evaluate("window.port.baudRate") == 115200
    typed(page, _STORE)
    assert "main.store['lines'][*]" in press(page, "heap-go")
    typed(page, _LEAK)
    press(page, "heap-go")
    assert "main.store['lines'][*]" in press(page, "heap-diff")
    shot(page, "heap-usb")
    told = press(page, "heap-deploy")
    assert "bytecode 4 to /flash" in told and "imported all: " in told, told
    typed(page, "import maixmem; maixmem.report()")
    assert "on k210" in page.evaluate("document.getElementById('usb-console').text()")
    page.click("#heap-leave")
    assert page.is_disabled("#heap-go") and page.is_visible("#heap-connect")


def test_the_cable_is_pulled_in_the_middle(context: Any, site: str, firmware: Path) -> None:
    """One clear error; the snapshots from before stay."""
    context.add_init_script(_CHOOSER)
    page = opened(context, site)
    page.click("#tab-heap")
    played(page, firmware)
    page.click("#heap-connect")
    page.wait_for_selector("#heap-state[data-board=usb]")
    typed(page, _STORE)
    press(page, "heap-go")
    page.eval_on_selector("#heap-said", "e => delete e.dataset.state")
    page.click("#heap-go")
    page.wait_for_function(
        "() => /: [5-9] KiB|: \\d\\d KiB/.test(document.getElementById('heap-state').textContent)",
        timeout=PATIENCE,
    )
    page.evaluate("window.port.pull()")
    told = finish(page, "heap-said")
    assert "page:: the connection broke: The device has been lost." in told and "Next: " in told
    assert "cable was pulled" in page.text_content("#heap-told")
    assert page.is_disabled("#heap-go") and page.is_visible("#heap-connect")
    page.fill("#heap-path", "store")
    assert "main.store at 0x" in press(page, "heap-why")


@pytest.mark.quick
def test_without_web_serial_the_page_says_so(context: Any, site: str) -> None:
    context.add_init_script(_NO_SERIAL)
    page = opened(context, site)
    page.click("#tab-heap")
    assert "Chrome and Edge" in page.text_content("#heap-serial")
    assert page.is_visible("#heap-serial") and not page.is_visible("#heap-connect")
    assert page.is_disabled("#heap-go")
    shot(page, "heap-none")
