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

import installed
import paths
import pytest
from commands import mpremote
from fakeboard import FakeBoard
from maixmem_cli.library import build, packages

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


# the VM of all these boards takes bytecode 6; those of 2019 do not name theirs to mip
@pytest.mark.parametrize(
    ("kind", "package", "what", "suffix"),
    [
        ("maix", "k210", ["./package.json"], ".py"),
        ("maix", "k210", ["{built}/mpy6/k210.json"], ".mpy"),
        ("maix", "k210", ["{served}/dist/mpy6/k210.json"], ".mpy"),
        ("canmv", "canmv", ["{served}/clone/lib/canmv.json"], ".py"),
        ("canmv", "canmv", ["--index", "{served}/dist/index", "maixmem-canmv"], ".py"),
        ("openmv", "openmv", ["{served}/clone/lib/openmv.json"], ".py"),
        ("k230", "k230", ["--index", "{served}/dist/index", "maixmem-k230"], ".mpy"),
        ("modern", "micropython", ["{served}/clone/lib/micropython.json"], ".py"),
        ("modern", "micropython", ["{served}/dist/mpy6/"], ".mpy"),
        # mip asks the board for its bytecode
        ("modern", "micropython", ["--index", "{served}/dist/index", "maixmem"], ".mpy"),
    ],
    ids="clone built http canmv canmv_index openmv k230 clone_modern built_modern index".split(),
)
def test_mip(
    tmp_path: Path,
    built: Path,
    served: str,
    *,
    kind: str,
    package: str,
    what: list[str],
    suffix: str,
) -> None:
    with FakeBoard(tmp_path / kind, kind, installed.models(tmp_path)) as board:
        target, folder = board.home, board.files
        wanted = [w.format(built=built, served=served) for w in what]
        mpremote(board.port, "mip", "install", "--target", target, *wanted)
        modules = packages.of_package(package)
        assert {p.name for p in folder.iterdir()} == {m + suffix for m in modules}
        sources = built / "mpy6" if suffix == ".mpy" else paths.LIB
        for module in modules:
            name = module + suffix
            assert (folder / name).read_bytes() == (sources / name).read_bytes()
        installed.check(mpremote(board.port, "exec", installed.USES), packages.PACKAGES[package])
        if not board.modern:
            installed.check_models(mpremote(board.port, "exec", installed.MODELS))
