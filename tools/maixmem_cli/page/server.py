# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Hands the page out to the browsers of this machine, and to no other machine: from a folder, or
from the archive that a package has."""

from __future__ import annotations

import contextlib
import http.server
import posixpath
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any, Union
from urllib.parse import unquote, urlsplit

PORT = 8210  # the same each time: a browser keeps drafts, and Python, by address
Files = Union[Path, zipfile.Path]
_PLAIN = "application/octet-stream"
#: not from the system, whose registry may say otherwise
_TYPES = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".py": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
}


def files(page: Path) -> Files:
    """What is in a folder or an archive."""
    return page if page.is_dir() else zipfile.Path(page)


def write(page: Path, to: Path) -> int:
    """The page as a folder; its bytes. OSError."""
    if page.is_dir():
        shutil.copytree(page, to, dirs_exist_ok=True)
    else:
        with zipfile.ZipFile(page) as archive:
            archive.extractall(to)
    return sum(p.stat().st_size for p in to.rglob("*") if p.is_file())


class Handler(http.server.BaseHTTPRequestHandler):
    """Files, and nothing on the terminal."""

    server: Server

    def do_GET(self) -> None:
        found = self._found()
        if found is None:
            self.send_error(404)
            return
        data = found.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", _TYPES.get(Path(found.name).suffix, _PLAIN))
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET

    def _found(self) -> Files | None:
        path = unquote(urlsplit(self.path).path)
        inside = posixpath.normpath(f"/{path}").strip("/")  # no .. is left
        if "\\" in inside or ":" in inside or "\0" in inside:
            return None
        if path.endswith("/"):
            inside = posixpath.join(inside, "index.html")
        with contextlib.suppress(OSError):  # a name that the system refuses
            found = self.server.files.joinpath(inside)
            return found if found.is_file() else None
        return None

    def log_message(self, format: str, *args: object) -> None: ...


class Server(http.server.ThreadingHTTPServer):
    """A page at an address of this machine."""

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # there two servers would share the port

    def __init__(self, files: Files, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.files = files

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A tab that was closed before it had all is no news."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.server_port}/"


def serve(files: Files, port: int | None = None) -> Server:
    """A server for files; without a port on PORT, or where that is taken on a free one.
    OSError."""
    try:
        return Server(files, PORT if port is None else port)
    except OSError:
        if port is not None:
            raise
        return Server(files, 0)
