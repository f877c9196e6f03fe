# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Hands a folder out to the browsers of this machine, and to no other machine."""

from __future__ import annotations

import functools
import http.server
import sys
from pathlib import Path
from typing import Any

PORT = 8210  # the same each time: a browser keeps drafts, and Python, by address


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files, and nothing on the terminal."""

    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".css": "text/css",
        ".html": "text/html",
        ".js": "text/javascript",
        ".json": "application/json",
        ".mjs": "text/javascript",
        ".svg": "image/svg+xml",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # there two servers would share the port

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A tab that was closed before it had all is no news."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.server_port}/"


def serve(folder: Path, port: int | None = None) -> Server:
    """A server for a folder; without a port on PORT, or where that is taken on a free one.
    OSError."""
    handler = functools.partial(Handler, directory=str(folder))
    try:
        return Server(("127.0.0.1", PORT if port is None else port), handler)
    except OSError:
        if port is not None:
            raise
        return Server(("127.0.0.1", 0), handler)
