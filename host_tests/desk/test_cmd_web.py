# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem web: what it hands out, to whom, and what it refuses; the page of a package."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import paths
import pytest
from commands import invoke
from maixmem_cli.library import places
from maixmem_cli.page import server

_FILES = {"index.html": b"<p>page</p>", "board/k.wasm": b"\0asm", "main.mjs": b"1"}


@pytest.fixture(params=["folder", "archive"])
def page(request, tmp_path: Path, monkeypatch) -> Path:
    """A page, in a folder whose name has a blank and letters of other languages."""
    folder = tmp_path / "eine Seité 页"
    for name, data in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (tmp_path / "secret").write_bytes(b"not of the page")
    made = folder
    if request.param == "archive":
        made = tmp_path / "site.zip"
        _pack()(folder, made)
    monkeypatch.setattr(places, "page", lambda: made)
    return made


def _pack():
    """pack() of setup.py, which runs setup() when it is imported."""
    text = (paths.ROOT / "setup.py").read_text(encoding="utf-8")
    start, end = text.index("def pack("), text.index("def readme(")
    names: dict = {}
    exec("import zipfile\n" + text[start:end], names)
    return names["pack"]


@pytest.fixture
def port(page: Path) -> Iterator[int]:
    with server.serve(server.files(page), 0) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield serving.server_port
        serving.shutdown()
        thread.join()


def get(port: int, path: str, method: str = "GET") -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.headers["Content-Type"], answer.read()


def test_it_hands_out_the_page(port: int) -> None:
    html = (200, "text/html; charset=utf-8", b"<p>page</p>")
    assert get(port, "/") == get(port, "/index.html?x=1") == html
    assert get(port, "/board/k.wasm") == (200, "application/wasm", b"\0asm")
    assert get(port, "/main.mjs", "HEAD") == (200, "text/javascript", b"")


@pytest.mark.parametrize(
    "path", ["/secret", "/../secret", "/board/../../secret", "/%2e%2e/secret", "/..%5csecret"]
)
def test_it_hands_out_nothing_else(port: int, path: str) -> None:
    assert get(port, path)[0] == 404
    assert get(port, "/board/")[0] == get(port, "/board")[0] == get(port, "/%00")[0] == 404


def test_the_address_is_the_same_each_time_or_a_free_one(monkeypatch) -> None:
    with server.serve(paths.ROOT, 0) as free:
        monkeypatch.setattr(server, "PORT", free.server_port)
    for _ in range(2):
        with server.serve(paths.ROOT) as one, server.serve(paths.ROOT) as two:
            assert one.server_port == server.PORT != two.server_port
            assert one.server_address[0] == two.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_refused(page: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        done = invoke("web", "--no-open", "--port", str(taken))
    assert done.exit_code == 2
    assert f"port {taken}: " in done.stderr and "Next: another --port" in done.stderr


def test_it_writes_a_folder_but_over_nothing(page: Path, tmp_path: Path) -> None:
    out = tmp_path / "neu é" / "site"
    done = invoke("web", "--out", str(out))
    assert done.exit_code == 0, done.stderr
    found = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*.*")}
    assert found == _FILES
    again = invoke("web", "--out", str(out))
    assert again.exit_code == 2 and "not empty. Next: " in again.stderr


def test_a_copy_without_the_page_says_what_brings_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(places, "page", lambda: tmp_path / "none")
    done = invoke("web")
    assert done.exit_code == 2 and "Next: python3 tools/dev.py web" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_it_opens_the_browser_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_bytes(b"page")
    code = (
        "import webbrowser, pathlib\n"
        "import maixmem_cli\n"
        "from maixmem_cli.library import places\n"
        f"places.page = lambda: pathlib.Path({str(tmp_path)!r})\n"
        "webbrowser.open = lambda address: print('opens', address, flush=True)\n"
        "from maixmem_cli.cli import main\n"
        "main(['web'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=paths.TOOLS, stdout=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().split()[0]
        assert process.stdout.readline().split() == ["opens", address]
        port = int(address.rpartition(":")[2].strip("/"))
        assert get(port, "/")[::2] == (200, b"page")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
