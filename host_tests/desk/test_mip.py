# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`mpremote mip install --target /flash`: from a clone, from a built folder, over HTTP, from an
index."""

from __future__ import annotations

import functools
import http.server
import sys
import threading
from pathlib import Path

import paths
import pytest
from commands import mpremote
from fakeboard import FakeBoard
from maixmem_cli.commands import build
from maixmem_cli.library import modules

pytestmark = pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    build.build(out, index=True)
    return out


@pytest.fixture(scope="module")
def served(tmp_path_factory, built: Path):
    """A web server with the clone below /clone and what was built below /dist."""
    top = tmp_path_factory.mktemp("www")
    (top / "clone").symlink_to(paths.ROOT)
    (top / "dist").symlink_to(built)
    handler = functools.partial(_Quiet, directory=str(top))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    ("kind", "what", "suffix"),
    [
        ("maix", ["./package.json"], ".py"),
        ("maix", ["{built}/mpy6/package.json"], ".mpy"),
        ("maix", ["{served}/dist/mpy6/"], ".mpy"),
        (
            "modern",
            ["--index", "{served}/dist/index", "maixmem"],
            ".mpy",
        ),  # mip asks the board for its bytecode
    ],
    ids=["clone", "built", "http", "index"],
)
def test_mip(
    tmp_path: Path, built: Path, served: str, *, kind: str, what: list[str], suffix: str
) -> None:
    with FakeBoard(tmp_path / kind, kind) as board:
        target, folder = ("/flash", board.root) if kind == "maix" else ("/lib", board.root / "lib")
        wanted = [w.format(built=built, served=served) for w in what]
        mpremote(board.port, "mip", "install", "--target", target, *wanted)
        assert {p.name for p in folder.iterdir()} == {m + suffix for m in modules.K210}
        for module in modules.K210:
            same = (
                built / "mpy6" / f"{module}.mpy"
                if suffix == ".mpy"
                else paths.LIB / f"{module}.py"
            )
            assert (folder / (module + suffix)).read_bytes() == same.read_bytes()
        said = mpremote(board.port, "exec", "import maixmem; maixmem.report()")
        assert ("on k210" if kind == "maix" else "on generic") in said
